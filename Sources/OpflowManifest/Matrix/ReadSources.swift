internal import OpflowCore

/// What is read for the matrices of a manifest: a plan is compiled from it too.
final class ReadSources {
  /// The file at a path that is written in a manifest, seen from a folder.
  let file: (_ path: Text, _ folder: Text) -> Result<SourceFile, FileFault>
  private let names: (_ pattern: String, _ folder: String) -> Result<[String], FileNameFault>
  private(set) var globs: [PlanInputs.FoundNames] = []
  /// Holds names.
  private let store: TextStore

  /// Why a file is not read.
  struct FileFault: Error {
    /// As the end of a mistake.
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

  /// The names that a pattern fits.
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
