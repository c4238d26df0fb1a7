/// Opens files that matrices read.
final class MatrixFiles {
  private let further: FurtherFiles
  private let mistakes: Mistakes
  private let store: TextStore
  /// The folder of the root, and how it is shown.
  private let root: (folder: Text, shown: () -> String)
  private var opened: [FileNumber: SourceFile] = [:]

  init(
    _ further: FurtherFiles, root: (folder: Text, shown: () -> String), _ mistakes: Mistakes,
    store: TextStore
  ) {
    self.further = further
    self.root = root
    self.mistakes = mistakes
    self.store = store
  }

  /// - Parameter written: A path relative to `folder`.
  func open(_ written: Text, in folder: Text) -> Result<SourceFile, ReadSources.FileFault> {
    let path = PathText.absolute(written, from: folder, store: store)
    do throws(NamedFileFault) {
      let file = try further.read(path.string)
      if let known = opened[file.number] { return .success(known) }
      let shown = PathText.relative(path, to: root.folder)
      let source = mistakes.open(
        displayPath: shown.first == UInt8(ascii: "/") ? shown.string : root.shown() + shown.string,
        bytes: file.bytes)
      opened[file.number] = source
      return .success(source)
    } catch {
      return .failure(
        ReadSources.FileFault(
          text: error.text(limit: FurtherFiles.mostBytes),
          help: error.help(written, path.string)))
    }
  }
}
