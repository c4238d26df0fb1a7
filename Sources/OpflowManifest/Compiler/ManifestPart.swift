/// A file at one place where it is included.
struct ManifestPart {
  let file: FileDeclaration
  /// Reads nodes of the file in its scope.
  let values: ValueReader
  /// The base of relative paths; absolute and normalized.
  let folder: Text
  /// Prepended to task IDs: empty, or names that each end in `/`.
  let prefix: Text
  let environment: EnvironmentList
  /// The place of the item in `include`; nil for the root.
  let entry: Place?
  /// The file's real path; nil for the root of a new run.
  let path: String?

  var document: YAMLDocument { file.document }
}
