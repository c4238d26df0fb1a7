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
      /// Nobody: the manifest names it.
      case named
    }

    var kind: Kind
    /// As the manifest has it.
    var text: Text
    /// Nil for a task of the run that the manifest is added to.
    var place: Place?
    /// Its number; nil for nobody's.
    var task: Int?
    /// The id of a task of the run.
    var nameInRun: Text?
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
