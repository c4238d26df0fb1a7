internal import OpflowCore

/// Checks that no two tasks write one file, and none a file that is opflow's.
struct WrittenPathCheck {
  let mistakes: Mistakes
  /// Absolute: where runs are kept; nil where that is not known.
  let stateFolder: String?
  /// The manifest's, absolute.
  private let folder: Text
  private let links: LinkResolver
  /// Holds the paths.
  private let store = TextStore()
  private var paths = WrittenPaths()

  init(
    mistakes: Mistakes, folder: Text, stateFolder: String?,
    readLink: @escaping (String) -> String?
  ) {
    self.mistakes = mistakes
    self.folder = folder
    self.stateFolder = stateFolder
    links = LinkResolver(readLink: readLink)
  }

  /// Notes a file of the manifest, before any task.
  mutating func note(_ file: SourceFile, at path: String) {
    guard path.hasPrefix("/") else { return }
    let path = store.copy(path)
    _ = paths.insert(
      path, WrittenPaths.Writer(kind: .manifest, text: path, place: file.place(0)))
  }

  /// Notes a file that the manifest names.
  mutating func note(named path: String) {
    let path = store.copy(path)
    _ = paths.insert(
      path, WrittenPaths.Writer(kind: .named, text: path, place: Place(file: 0, offset: 0)))
  }

  /// Notes what a task writes.
  ///
  /// - Parameter number: the task's.
  mutating func note(_ task: borrowing TaskValues, _ number: Int, in document: YAMLDocument) {
    for file in task.written {
      note(
        file.path, at: document.place(file.path.node), in: task.settings.directory,
        file.kind == .download ? .download : .output, number)
      if task.flags.contains(.cached) {
        noteCached(file.path, at: document.place(file.path.node), in: task.settings.directory)
      }
    }
  }

  /// What is brought back is written without a look at where links lead, so that it has to be within.
  private func noteCached(_ path: Scalar, at place: Place, in directory: Directory) {
    let absolute = PathText.absolute(path.text, from: directory.path, store: store)
    let relative = PathText.relative(absolute, to: folder)
    let isFolder = relative.count == 1 && relative.first == UInt8(ascii: ".")
    if relative.first != UInt8(ascii: "/"), !isFolder { return }
    mistakes.error(
      place,
      isFolder
        ? "`\(path.text.string)` is the manifest's folder, and `cache` brings no such output back"
        : "`\(path.text.string)` is outside of the manifest's folder, and `cache` brings nothing there",
      help: "let the task leave it below that folder, or take `cache` away")
  }

  private mutating func note(
    _ path: Scalar, at place: Place, in directory: Directory, _ kind: WrittenPaths.Writer.Kind,
    _ task: Int
  ) {
    let absolute = PathText.absolute(path.text, from: directory.path, store: store)
    let writer = WrittenPaths.Writer(
      kind: kind, text: store.copy(path.text), place: place, task: task)
    let slash = absolute.lastIndex(of: UInt8(ascii: "/")) ?? 0
    let folder = links.folder(absolute.part(0..<slash).string)
    let name = absolute.part(min(slash + 1, absolute.count)..<absolute.count).string
    let own = folder == "/" ? "/" + name : folder + "/" + name
    let isSame = own.utf8.count == absolute.count && own.utf8.elementsEqual(absolute)
    let ownText = isSame ? absolute : store.copy(own)
    if let first = paths.insert(ownText, writer) {
      // A task may well say twice what it leaves.
      if first.task != task { reportTwice(path.text, at: place, first) }
      return
    }
    if kind == .download { paths.noteFolder(folder) }
    let destination = links.destination(of: own)
    var linked = writer
    linked.kind = kind == .download ? .linked : kind
    if let destination, destination != own,
      let first = paths.insert(store.copy(destination), linked)
    {
      if first.task != task { reportTwice(path.text, at: place, first) }
      return
    }
    guard let state = stateFolder else { return }
    let within = links.folder(state) + "/"
    if [own, destination ?? own].contains(where: { ($0 + "/").hasPrefix(within) }) {
      mistakes.error(
        place, "`\(path.text.string)` lies in the folder where runs are kept",
        help: "opflow alone writes there; name another place")
    }
  }

  private func reportTwice(_ path: Text, at place: Place, _ first: WrittenPaths.Writer) {
    if first.kind == .manifest || first.kind == .named {
      mistakes.error(
        place,
        first.kind == .manifest
          ? "`\(path.string)` is this manifest" : "`\(path.string)` is a file of this manifest",
        help: "let the task write another file")
      return
    }
    let isAlias = !first.text.isSame(as: path)
    mistakes.add(
      Mistakes.Mistake(
        severity: .error, place: place, message: "`\(path.string)` is written twice",
        help: "two writers of one file destroy each other's work; let one task write it",
        notes: [
          .init(
            place: first.place,
            message: isAlias ? "the first one, as `\(first.text.string)`" : "the first one")
        ]))
  }

  /// Reports what is no place for a download since another download needs it, once all are known.
  func check() {
    paths.forEachPart { part, download in
      if part.kind == .manifest || part.kind == .named {
        mistakes.error(
          download.place,
          "`\(download.text.string)` is collected in what is"
            + (part.kind == .manifest ? " this manifest" : " a file of this manifest"))
        return
      }
      mistakes.add(
        Mistakes.Mistake(
          severity: .error, place: part.place,
          message: "`\(part.text.string)` is what a download keeps its part in",
          help: "two writers of one file destroy each other's work; give it another name",
          notes: [
            .init(place: download.place, message: "the download to `\(download.text.string)`")
          ]))
    }
    paths.forEachFolder { file, download in
      mistakes.add(
        Mistakes.Mistake(
          severity: .error, place: file.place,
          message: "`\(file.text.string)` is a folder to another download",
          help: "a file and a folder cannot have one name",
          notes: [
            .init(place: download.place, message: "the download to `\(download.text.string)`")
          ]))
    }
  }
}
