internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem

/// Moves restored files to their places, replacing only files of the same task; undoes it if the
/// result turns out to be incomplete.
final class ResultPlacing {
  private let own: OwnFiles
  private let kept: Set<[UInt8]>
  /// What the task left last and leaves no more, as it left it.
  private var leaving: Set<[UInt8]> = []
  /// Folders that are there, or will be, as far as they were looked at.
  private var folders: Set<[UInt8]> = []
  /// Items that stand there already as they are to be.
  private var inPlace: Set<[UInt8]> = []
  private var placed: [(path: [UInt8], identity: FileIdentity)] = []
  private var made: Set<[UInt8]> = []

  init(_ own: OwnFiles, _ items: [CacheEntry.Item]) {
    self.own = own
    kept = Set(items.lazy.filter(\.kind.isOfProject).map(\.name))
    for file in own.files where !kept.contains(file.path) {
      switch file.seen.kind {
      case .folder, .other: break
      case .file, .executable, .link, .absent:
        if file.isMade, own.isAsLeft(file.path) { leaving.insert(file.path) }
      }
    }
  }

  // MARK: - What stands there

  /// Throws if something is in the item's place.
  func check(_ item: CacheEntry.Item) throws(CacheFault) {
    let path = item.name
    var end = 0
    while let slash = path[end...].firstIndex(of: Self.slash) {
      let folder = Array(path[..<slash])
      end = slash + 1
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

  private static let slash = UInt8(ascii: "/")

  private static func inTheWay(_ path: [UInt8]) -> CacheFault {
    CacheFault(
      what:
        "`\(NameCharacters.text(path))` is not what the task left there, so that nothing is "
        + "brought back over it",
      isOfProject: true)
  }

  private func status(_ path: [UInt8]) throws(CacheFault) -> FileStatus? {
    try naming(path) { () throws(Errno) in try own.project.status(path) }
  }

  private func naming<Result>(
    _ path: [UInt8], _ body: () throws(Errno) -> Result
  ) throws(CacheFault) -> Result {
    do throws(Errno) {
      return try body()
    } catch {
      let name = NameCharacters.text(path)
      throw CacheFault(
        what: error == .tooManyLinks
          ? "nothing is brought back, since the path `\(name)` leads through a link"
          : "a result cannot be brought back: `\(name)`: \(error)",
        isOfProject: true)
    }
  }

  private func isAlready(
    _ item: CacheEntry.Item, at path: [UInt8], _ status: FileStatus
  ) -> Bool {
    let kind: SeenFile.Kind =
      switch item.kind {
      case .file: .file
      case .executable: .executable
      case .link, .danglingLink: .link
      case .folder, .value, .output, .target: .other
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
      } else if file.seen.kind == .folder, !kept.contains(file.path) {
        // Somebody else may have put something there.
        try? own.project.remove(file.path, isFolder: true)
      }
    }
    for (place, item) in items.enumerated() where item.kind.isOfProject {
      if inPlace.contains(item.name) { continue }
      try naming(item.name) { () throws(Errno) in try put(item, new(place), at: item.name) }
    }
  }

  /// Sets the modes that the task's folders had when they were cached.
  private func closeFolders(_ items: [CacheEntry.Item]) {
    var modes: [[UInt8]: UInt32] = [:]
    for item in items where item.kind == .folder && item.mode != Self.modeOfOldFolders {
      if made.contains(item.name) || own.hasFolder(item.name) { modes[item.name] = item.mode }
    }
    own.closeFolders(modes)
  }

  /// The mode of every folder in entries of earlier versions: that of a new folder.
  private static let modeOfOldFolders: UInt32 = 0o777

  private func put(_ item: CacheEntry.Item, _ new: String, at path: [UInt8]) throws(Errno) {
    if item.kind == .folder {
      made.formUnion(try own.project.makeFolders(path))
      return
    }
    if let slash = path.lastIndex(of: Self.slash) {
      made.formUnion(try own.project.makeFolders(Array(path[..<slash])))
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
    for path in made.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      try? own.project.setMode(ofFolder: path, 0o700)
    }
    for (path, identity) in placed.reversed()
    where ((try? own.project.status(path)) ?? nil)?.identity == identity {
      try? own.project.remove(path, isFolder: false)
    }
    for path in made.sorted(by: { $1.lexicographicallyPrecedes($0) }) {
      try? own.project.remove(path, isFolder: true)
    }
    placed.removeAll()
    made.removeAll()
  }
}
