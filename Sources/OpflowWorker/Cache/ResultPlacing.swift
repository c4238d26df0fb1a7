internal import OpflowCore
internal import OpflowSystem

/// Moves restored files to their places, replacing only files of the same task; undoes it if the
/// result turns out to be incomplete.
final class ResultPlacing {
  private let own: OwnFiles
  private let kept: Set<[UInt8]>
  /// Unchanged files of the last attempt that are not in this result.
  private var leaving: Set<String> = []
  /// Folders that exist, or will exist.
  private var folders: Set<String> = []
  private var inPlace: Set<[UInt8]> = []
  private var placed: [(path: String, identity: FileIdentity)] = []
  private var made: Set<String> = []

  init(_ own: OwnFiles, _ items: [CacheEntry.Item]) {
    self.own = own
    kept = Set(items.lazy.filter(\.kind.isOfProject).map(\.name))
    for file in own.files where !kept.contains(Array(file.path.utf8)) {
      switch file.seen.kind {
      case .folder, .other: break
      case .file, .executable, .link, .absent:
        if own.isAsLeft(file.path) { leaving.insert(file.path) }
      }
    }
  }

  // MARK: - What stands there

  /// Throws if something is in the item's place.
  func check(_ item: CacheEntry.Item) throws(CacheFault) {
    let path = String(decoding: item.name, as: UTF8.self)
    var end = path.startIndex
    while let slash = path[end...].firstIndex(of: "/") {
      let folder = String(path[..<slash])
      end = path.index(after: slash)
      if folders.contains(folder) { continue }
      if let status = try status(folder), status.kind != .directory {
        guard leaving.contains(folder) else { throw Self.inTheWay(folder) }
        // The file will be removed, so nothing is below it.
        return
      }
      folders.insert(folder)
    }
    guard let status = try status(path), !leaving.contains(path) else { return }
    if item.kind == .folder {
      if status.kind == .directory { return }
    } else if status.kind != .directory, isAlready(item, at: path, status) {
      inPlace.insert(item.name)
      return
    }
    guard status.kind != .directory,
      own.isAsLeft(path) || item.kind != .folder && own.wouldOverwrite(path, status)
    else { throw Self.inTheWay(path) }
    if item.kind == .folder { leaving.insert(path) }
  }

  private static func inTheWay(_ path: String) -> CacheFault {
    CacheFault(
      what: "`\(path)` is not what the task left there, so that nothing is brought back over it",
      isOfProject: true)
  }

  private func status(_ path: String) throws(CacheFault) -> FileStatus? {
    try naming(path) { () throws(Errno) in try own.project.status(path) }
  }

  private func naming<Result>(
    _ path: String, _ body: () throws(Errno) -> Result
  ) throws(CacheFault) -> Result {
    do throws(Errno) {
      return try body()
    } catch {
      throw CacheFault(
        what: "a result cannot be brought back: `\(path)`: \(error)", isOfProject: true)
    }
  }

  private func isAlready(
    _ item: CacheEntry.Item, at path: String, _ status: FileStatus
  ) -> Bool {
    let kind: SeenFile.Kind =
      switch item.kind {
      case .file: .file
      case .executable: .executable
      case .link, .danglingLink: .link
      case .folder, .value, .output: .other
      }
    guard SeenFile.Kind(status) == kind, status.sizeBytes == item.sizeBytes else { return false }
    return own.content(of: path, kind, .strong) == item.digest.high
  }

  // MARK: - Putting

  /// Puts all items in their places, after `check` passed for each; `new` is an item's current
  /// path. Removes unchanged files of the last attempt that are not in the result.
  func put(_ items: [CacheEntry.Item], _ new: (Int) -> String) throws(CacheFault) {
    own.openFolders()
    defer { closeFolders(items) }
    // Reversed, because folders come before their contents.
    for file in own.files.reversed() {
      if leaving.contains(file.path) {
        try naming(file.path) { () throws(Errno) in
          try own.project.remove(file.path, isFolder: false)
        }
      } else if file.seen.kind == .folder, !kept.contains(Array(file.path.utf8)) {
        // Fails if the folder contains other files; it then stays.
        try? own.project.remove(file.path, isFolder: true)
      }
    }
    for (place, item) in items.enumerated() where item.kind.isOfProject {
      if inPlace.contains(item.name) { continue }
      let path = String(decoding: item.name, as: UTF8.self)
      try naming(path) { () throws(Errno) in try put(item, new(place), at: path) }
    }
  }

  /// Sets the modes that the task's folders had when they were cached.
  private func closeFolders(_ items: [CacheEntry.Item]) {
    var modes: [String: UInt32] = [:]
    for item in items where item.kind == .folder && item.mode != Self.modeOfOldFolders {
      let path = String(decoding: item.name, as: UTF8.self)
      if made.contains(path) || own.hasFolder(path) { modes[path] = item.mode }
    }
    own.closeFolders(modes)
  }

  /// The mode of every folder in entries of earlier versions: that of a new folder.
  private static let modeOfOldFolders: UInt32 = 0o777

  private func put(_ item: CacheEntry.Item, _ new: String, at path: String) throws(Errno) {
    if item.kind == .folder {
      made.formUnion(try own.project.makeFolders(path))
      return
    }
    if let slash = path.lastIndex(of: "/") {
      made.formUnion(try own.project.makeFolders(String(path[..<slash])))
    }
    do throws(Errno) {
      try own.project.place(new, at: path)
    } catch {
      guard error == .crossDevice else { throw error }
      if item.kind == .link || item.kind == .danglingLink {
        try own.project.placeLink(to: try Path.linkTarget(new), at: path)
      } else {
        try own.project.placeCopy(of: new, at: path)
      }
    }
    if let status = try own.project.status(path) { placed.append((path, status.identity)) }
  }

  /// Removes what was put, after an incomplete restore, so that the task, which then runs, does not
  /// see it.
  func takeAway() {
    for path in made.sorted() { try? own.project.setMode(ofFolder: path, 0o700) }
    for (path, identity) in placed.reversed()
    where ((try? own.project.status(path)) ?? nil)?.identity == identity {
      try? own.project.remove(path, isFolder: false)
    }
    for path in made.sorted(by: >) { try? own.project.remove(path, isFolder: true) }
    placed.removeAll()
    made.removeAll()
  }
}
