internal import OpflowCore

/// The files and names that matrices read, which are inputs of the plan.
final class ReadSources {
  /// Opens a file by its path in a manifest, relative to a folder.
  let file: (_ path: Text, _ folder: Text) -> Result<SourceFile, FileFault>
  private let names: (_ pattern: String, _ folder: String) -> Result<[String], FileNameFault>
  private(set) var globs: [PlanInputs.FoundNames] = []
  /// Owns names.
  private let store: TextStore

  struct FileFault: Error {
    /// The end of an error message.
    var text: String
    var help: String?
  }

  init(
    store: TextStore,
    file: @escaping (Text, Text) -> Result<SourceFile, FileFault>,
    names: @escaping (String, String) -> Result<[String], FileNameFault>
  ) {
    self.store = store
    self.file = file
    self.names = names
  }

  func names(_ pattern: Text, in folder: Text) -> Result<[Text], FileNameFault> {
    let (pattern, folder) = (pattern.string, folder.string)
    return names(pattern, folder).map { names in
      globs.append(
        PlanInputs.FoundNames(
          pattern: pattern, folder: folder, hash: PlanInputs.FoundNames.hash(of: names)))
      return names.map { store.copy($0) }
    }
  }
}
