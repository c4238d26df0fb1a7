internal import OpflowCore

/// The files that tasks write, with links resolved, and the files that they must not write.
struct WrittenPaths {
  struct Writer {
    enum Kind {
      case download, output
      /// The target of a symbolic link that a download replaces.
      case linked
      /// The root manifest.
      case manifest
      /// Another file of the manifest.
      case named
    }

    var kind: Kind
    var text: Text
    /// Nil for a task of the run.
    var place: Place?
    /// Nil if no task writes it.
    var task: Int?
    /// The ID of a task of the run.
    var nameInRun: Text?
  }

  private var paths = TextTable()
  private var writers: [Writer] = []
  /// Files that may be temporary files of a download.
  private var suspects: [Int] = []
  /// The parent folders of downloads, each with its first download.
  private var folders: [String: Int] = [:]

  /// Returns the previous writer. `path` must outlive the table.
  mutating func insert(_ path: Text, _ writer: Writer) -> Writer? {
    let (index, isNew) = paths.insert(path)
    if !isNew { return writers[index] }
    writers.append(writer)
    if DownloadSpec.ownSuffixes.contains(where: { path.hasSuffix($0) }) { suspects.append(index) }
    return nil
  }

  /// Records the parent folder of the path added last.
  mutating func noteFolder(_ path: String) {
    if folders[path] == nil { folders[path] = writers.count - 1 }
  }

  /// Calls `body` for each file that is a temporary file of a download.
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

  /// Calls `body` for each download target that is a folder of another download.
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
