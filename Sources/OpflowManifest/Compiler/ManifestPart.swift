/// One file of a manifest at one of the places where it is included: what serves its tasks.
struct ManifestPart {
  let file: FileDeclaration
  /// Reads nodes of the file, with the names that it knows.
  let values: ValueReader
  /// Absolute and normal: what paths in it start from.
  let folder: Text
  /// What the ids of its tasks begin with: nothing, or names with a `/` behind each.
  let prefix: Text
  let environment: EnvironmentList
  /// Where it is included; nil for the root.
  let entry: Place?
  /// Its real path; nil for the manifest that a run begins with.
  let path: String?

  var document: YAMLDocument { file.document }
}
