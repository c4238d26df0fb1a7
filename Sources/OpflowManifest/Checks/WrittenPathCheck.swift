internal import OpflowPlan

/// Finds files with two writers, and tasks that write to the manifest or to opflow's files.
struct WrittenPathCheck {
  let diagnostics: Diagnostics
  /// Absolute, or nil if unknown.
  let stateFolder: String?
  /// The manifest's folder; absolute.
  private let folder: ByteView
  private let links: LinkResolver
  private let store = TextStore()
  private var paths = WrittenPaths()

  init(diagnostics: Diagnostics, folder: ByteView, stateFolder: String?, links: LinkResolver) {
    self.diagnostics = diagnostics
    self.folder = folder
    self.stateFolder = stateFolder
    self.links = links
  }

  /// Must be called before any task is recorded.
  mutating func note(_ file: SourceFile, at path: String) {
    guard path.hasPrefix("/") else { return }
    let path = store.copy(path)
    _ = paths.insert(path, WrittenPaths.Writer(kind: .manifest, text: path, place: file.place(0)))
  }

  mutating func note(named path: String) {
    let path = store.copy(path)
    _ = paths.insert(
      path, WrittenPaths.Writer(kind: .named, text: path, place: Place(file: 0, offset: 0)))
  }

  /// Tasks of the run follow all tasks of the manifest.
  mutating func note(_ files: DeclaredFiles) {
    for file in files.outputs {
      let writer = WrittenPaths.Writer(
        kind: file.isDownload ? .download : .output, text: store.copy(file.text),
        place: file.place, task: files.task, nameInRun: files.nameInRun)
      let outcome = insert(writer, at: absolute(file, from: files.folder))
      if let place = file.place {
        report(outcome, of: writer, at: place)
        if files.traits.contains(.cached) {
          expectWithin(file.text, at: place, in: files.folder, "cache", "restores nothing there")
        } else if files.traits.contains(.cleaned) {
          expectWithin(file.text, at: place, in: files.folder, "clean", "removes nothing there")
        }
      } else if case .taken(let first) = outcome, let place = first.place, first.task != nil {
        // A task of the run may have written the manifest that is added, which is allowed.
        reportTwice(first.text, at: place, writer)
      }
    }
  }

  /// `cache` and `clean` have no effect there.
  private func expectWithin(
    _ path: ByteView, at place: Place, in directory: ByteView, _ key: String, _ limit: String
  ) {
    let absolute = PathText.absolute(path, from: directory, store: store)
    let relative = PathText.relative(absolute, to: folder)
    let isFolder = relative.count == 1 && relative.first == UInt8(ascii: ".")
    if relative.first != UInt8(ascii: "/"), !isFolder { return }
    diagnostics.error(
      place,
      isFolder
        ? "`\(path.string)` is the manifest's folder, and `\(key)` needs outputs below it"
        : "`\(path.string)` is outside the manifest's folder, and `\(key)` \(limit)",
      help: "let the task write it below that folder, or remove `\(key)`")
  }

  /// The output is taken, or in the folder of runs.
  private func report(_ outcome: Outcome, of writer: WrittenPaths.Writer, at place: Place) {
    let found: [String]
    switch outcome {
    case .taken(let first): return reportTwice(writer.text, at: place, first)
    case .known: return
    case .new(let own, let destination): found = [own, destination ?? own]
    }
    guard let state = stateFolder else { return }
    let within = links.folder(state) + "/"
    if found.contains(where: { ($0 + "/").hasPrefix(within) }) {
      diagnostics.error(
        place, "`\(writer.text.string)` is in the folder where opflow keeps its runs",
        help: "only opflow writes there; choose another path")
    }
  }

  /// The plan has the normalized target of a download.
  private func absolute(_ file: DeclaredFiles.File, from folder: ByteView) -> ByteView {
    file.isDownload
      ? PathText.absolute(file.text, from: folder, store: store)
      : links.absolute(file.text, from: folder, isPattern: false, store: store)
  }

  private enum Outcome {
    /// `destination` is the target if the path is a link.
    case new(String, destination: String?)
    /// The same task may declare a path twice.
    case known
    case taken(WrittenPaths.Writer)
  }

  private mutating func insert(_ writer: WrittenPaths.Writer, at absolute: ByteView) -> Outcome {
    let path = links.unlinked(absolute, isPattern: false, store: store)
    if let first = paths.insert(path, writer) {
      return first.task == writer.task ? .known : .taken(first)
    }
    if writer.kind == .download {
      paths.noteFolder(path.part(0..<(path.lastIndex(of: UInt8(ascii: "/")) ?? 0)).string)
    }
    let own = path.string
    let destination = links.destination(of: own)
    var linked = writer
    linked.kind = writer.kind == .download ? .linked : writer.kind
    if let destination, destination != own,
      let first = paths.insert(store.copy(destination), linked)
    {
      return first.task == writer.task ? .known : .taken(first)
    }
    return .new(own, destination: destination)
  }

  private func reportTwice(_ path: ByteView, at place: Place, _ first: WrittenPaths.Writer) {
    if first.kind == .manifest || first.kind == .named {
      return diagnostics.error(
        place,
        first.kind == .manifest
          ? "`\(path.string)` is this manifest" : "`\(path.string)` is a file of this manifest",
        help: "let the task write another file")
    }
    let isAlias = !first.text.isSame(as: path)
    let alias = isAlias ? ", as `\(first.text.string)`" : ""
    let other =
      first.nameInRun.map { ": task `\($0.string)` of the run also writes it\(alias)" } ?? ""
    diagnostics.add(
      .error, place, "`\(path.string)` is written twice\(other)",
      help: "tasks that write the same file overwrite each other; let one task write it",
      notes: Diagnostics.note(first.place, "first declared here\(alias)"))
  }

  /// Must be called after all tasks are recorded.
  func check() {
    paths.forEachPart { part, download in
      if part.kind == .manifest || part.kind == .named {
        guard let place = download.place else { return }
        return diagnostics.error(
          place,
          "the temporary file of the download to `\(download.text.string)` is"
            + (part.kind == .manifest ? " this manifest" : " a file of this manifest"),
          help: "change `to`")
      }
      report(
        part, download, "`\(part.text.string)` is the temporary file of a download",
        help: "tasks that write the same file overwrite each other; give it another name")
    }
    paths.forEachFolder { file, download in
      report(
        file, download, "`\(file.text.string)` is a file here, but a folder for another download",
        help: "a file and a folder cannot have the same name; rename one of them")
    }
  }

  private func report(
    _ file: WrittenPaths.Writer, _ download: WrittenPaths.Writer, _ message: String, help: String
  ) {
    guard let place = file.place ?? download.place else { return }
    let name = file.nameInRun ?? download.nameInRun
    let other =
      name.map {
        ": task `\($0.string)` of the run "
          + (file.place == nil ? "writes it" : "downloads to `\(download.text.string)`")
      } ?? ""
    let notes = file.place == nil ? nil : download.place
    diagnostics.add(
      .error, place, message + other, help: help,
      notes: Diagnostics.note(notes, "the download to `\(download.text.string)`"))
  }
}

/// Files that tasks write, with links resolved, and files that they must not write.
struct WrittenPaths {
  struct Writer {
    enum Kind {
      case download, output
      /// The target of a symbolic link that a download replaces.
      case linked
      case manifest
      /// Another file of the manifest.
      case named
    }

    var kind: Kind
    var text: ByteView
    /// Nil for a task of the run.
    var place: Place?
    /// Nil if no task writes the file.
    var task: Int?
    var nameInRun: ByteView?
  }

  private var paths = TextTable()
  private var writers: [Writer] = []
  /// Files that may be temporary files of a download.
  private var suspects: [Int] = []
  /// The parent folders of downloads, each with its first download.
  private var folders: [String: Int] = [:]

  /// `path` must outlive the table.
  mutating func insert(_ path: ByteView, _ writer: Writer) -> Writer? {
    let (index, isNew) = paths.insert(path)
    if !isNew { return writers[index] }
    writers.append(writer)
    if DownloadSpec.ownSuffixes.contains(where: { path.hasSuffix($0) }) { suspects.append(index) }
    return nil
  }

  mutating func noteFolder(_ path: String) {
    if folders[path] == nil { folders[path] = writers.count - 1 }
  }

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

  func forEachFolder(_ body: (_ file: Writer, _ download: Writer) -> Void) {
    var told: Set<Int> = []
    for (folder, inside) in folders.sorted(by: { $0.value < $1.value }) {
      var folder = folder[...]
      while !folder.isEmpty {
        var text = String(folder)
        let owner = text.withUTF8 { paths.index(of: ByteView($0)) }
        if let owner, writers[owner].kind == .download, told.insert(owner).inserted {
          body(writers[owner], writers[inside])
        }
        folder = folder[..<(folder.lastIndex(of: "/") ?? folder.startIndex)]
      }
    }
  }
}
