internal import OpflowCore

/// The files that tasks say they write, wherever links lead, and what else none of them may be.
struct WrittenPaths {
  /// Who writes a file.
  struct Writer {
    enum Kind {
      case download, output
      /// What a symbolic link names in whose place a download puts its file.
      case linked
      /// Nobody: it is the manifest.
      case manifest
    }

    var kind: Kind
    /// As the manifest has it.
    var text: Text
    var place: Place
  }

  private var paths = TextTable()
  private var writers: [Writer] = []
  /// Those whose name may be that of another download's part, by number.
  private var suspects: [Int] = []
  /// Folders that downloads make, each with the first that does.
  private var folders: [String: Int] = [:]

  /// Adds a path, which must live as long as this. The one that writes it already, where there is one.
  mutating func insert(_ path: Text, _ writer: Writer) -> Writer? {
    let (index, isNew) = paths.insert(path)
    if !isNew { return writers[index] }
    writers.append(writer)
    if DownloadSpec.ownSuffixes.contains(where: { path.hasSuffix($0) }) { suspects.append(index) }
    return nil
  }

  /// Notes that the last one's folder is `path`.
  mutating func noteFolder(_ path: String) {
    if folders[path] == nil { folders[path] = writers.count - 1 }
  }

  /// Calls `body` for each file that a download uses on its way, with that download.
  func forEachPart(_ body: (_ part: Writer, _ download: Writer) -> Void) {
    for index in suspects {
      let path = paths.texts[index]
      for suffix in DownloadSpec.ownSuffixes where path.hasSuffix(suffix) {
        let target = path.part(0..<(path.count - suffix.utf8CodeUnitCount))
        guard let owner = paths.index(of: target), writers[owner].kind == .download else {
          continue
        }
        body(writers[index], writers[owner])
        break
      }
    }
  }

  /// Calls `body` for each file that is a folder to another download.
  func forEachFolder(_ body: (_ file: Writer, _ download: Writer) -> Void) {
    var told: Set<Int> = []
    for (folder, inside) in folders.sorted(by: { $0.value < $1.value }) {
      var folder = folder[...]
      while !folder.isEmpty {
        var text = String(folder)
        let owner = text.withUTF8 { paths.index(of: Text($0)) }
        if let owner, writers[owner].kind == .download, told.insert(owner).inserted {
          body(writers[owner], writers[inside])
        }
        folder = folder[..<(folder.lastIndex(of: "/") ?? folder.startIndex)]
      }
    }
  }
}

extension ManifestReader {
  /// Notes the manifest itself, before any task is read.
  mutating func noteManifest() {
    guard source.path.hasPrefix("/") else { return }
    let path = scope.store.copy(source.path)
    _ = writtenPaths.insert(
      path, WrittenPaths.Writer(kind: .manifest, text: path, place: document.file.place(0)))
  }

  /// Notes that the task whose turn it is writes `path`, from `directory` on.
  mutating func noteWritten(
    _ path: Scalar, in directory: Directory, _ kind: WrittenPaths.Writer.Kind
  ) {
    let absolute = PathText.absolute(path.text, from: directory.path, store: scope.store)
    let place = document.place(path.node)
    let writer = WrittenPaths.Writer(
      kind: kind, text: scope.store.copy(path.text), place: place)
    let slash = absolute.lastIndex(of: UInt8(ascii: "/")) ?? 0
    let folder = links.folder(absolute.part(0..<slash).string)
    let name = absolute.part(min(slash + 1, absolute.count)..<absolute.count).string
    let own = folder == "/" ? "/" + name : folder + "/" + name
    let isSame = own.utf8.count == absolute.count && own.utf8.elementsEqual(absolute)
    let ownText = isSame ? absolute : scope.store.copy(own)
    if let first = writtenPaths.insert(ownText, writer) {
      reportTwice(path.text, at: place, first)
      return
    }
    if kind == .download { writtenPaths.noteFolder(folder) }
    let destination = links.destination(of: own)
    var linked = writer
    linked.kind = kind == .download ? .linked : kind
    if let destination, destination != own,
      let first = writtenPaths.insert(scope.store.copy(destination), linked)
    {
      reportTwice(path.text, at: place, first)
      return
    }
    guard kind == .download, let state = options.stateFolder else { return }
    let within = links.folder(state) + "/"
    if [own, destination ?? own].contains(where: { ($0 + "/").hasPrefix(within) }) {
      mistakes.error(
        place, "`\(path.text.string)` lies in the folder where runs are kept",
        help: "opflow alone writes there; name another place")
    }
  }

  private func reportTwice(_ path: Text, at place: Place, _ first: WrittenPaths.Writer) {
    if first.kind == .manifest {
      mistakes.error(
        place, "`\(path.string)` is this manifest", help: "let the task write another file")
      return
    }
    let isAlias = !first.text.isSame(as: path)
    mistakes.add(
      Mistakes.Mistake(
        severity: .error, place: place, message: "`\(path.string)` is written twice",
        help: "two writers of one file destroy each other's work; let one task write it",
        notes: [
          (first.place, isAlias ? "the first one, as `\(first.text.string)`" : "the first one")
        ]))
  }

  /// Reports what is no place for a download since another download needs it, once all are known.
  mutating func checkWritten() {
    let mistakes = mistakes
    writtenPaths.forEachPart { part, download in
      if part.kind == .manifest {
        mistakes.error(
          download.place,
          "`\(download.text.string)` is collected in what is this manifest")
        return
      }
      mistakes.add(
        Mistakes.Mistake(
          severity: .error, place: part.place,
          message: "`\(part.text.string)` is what a download keeps its part in",
          help: "two writers of one file destroy each other's work; give it another name",
          notes: [(download.place, "the download to `\(download.text.string)`")]))
    }
    writtenPaths.forEachFolder { file, download in
      mistakes.add(
        Mistakes.Mistake(
          severity: .error, place: file.place,
          message: "`\(file.text.string)` is a folder to another download",
          help: "a file and a folder cannot have one name",
          notes: [(download.place, "the download to `\(download.text.string)`")]))
    }
  }
}
