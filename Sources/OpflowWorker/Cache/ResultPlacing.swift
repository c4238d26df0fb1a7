internal import OpflowCore
internal import OpflowSystem

/// Puts files that came back where the task leaves them, in place of what it left there last and of nothing else;
/// takes them away again where they turn out not to be all of it.
final class ResultPlacing {
  private let project: FolderBeneath
  /// What the last success made, by path.
  private let earlier: [ProjectFile]
  private let earlierPlaces: [String: Int]
  private let kept: Set<[UInt8]>
  /// What the task left last and leaves no more, as it left it.
  private var leaving: Set<String> = []
  /// Folders that are there, or will be, as far as they were looked at.
  private var folders: Set<String> = []
  /// Items that stand there already as they are to be.
  private var inPlace: Set<[UInt8]> = []
  private var placed: [(path: String, identity: FileIdentity)] = []
  private var made: [String] = []
  private var chunk = [UInt8](repeating: 0, count: 256 << 10)

  /// - Parameters:
  ///   - folder: the manifest's.
  ///   - items: all that comes back.
  init(_ folder: String, earlier: [ProjectFile], _ items: [CacheEntry.Item]) throws(Errno) {
    project = try FolderBeneath(folder)
    self.earlier = earlier
    earlierPlaces = Dictionary(
      earlier.indices.map { (earlier[$0].path, $0) }, uniquingKeysWith: { first, _ in first })
    kept = Set(items.lazy.filter(\.kind.isOfProject).map(\.name))
    for file in earlier where !kept.contains(Array(file.path.utf8)) {
      switch file.seen.kind {
      case .folder, .other: break
      case .file, .executable, .link: if isAsLeft(file.path) { leaving.insert(file.path) }
      }
    }
  }

  // MARK: - What stands there

  /// - Throws: what stands in the way of it.
  func check(_ item: CacheEntry.Item) throws(CacheFault) {
    let path = String(decoding: item.name, as: UTF8.self)
    var end = path.startIndex
    while let slash = path[end...].firstIndex(of: "/") {
      let folder = String(path[..<slash])
      end = path.index(after: slash)
      if folders.contains(folder) { continue }
      if let status = try status(folder), status.kind != .directory {
        guard leaving.contains(folder) else { throw Self.inTheWay(folder) }
        // It will be none any more, and nothing lies in it.
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
    guard status.kind != .directory, isAsLeft(path) else { throw Self.inTheWay(path) }
    if item.kind == .folder { leaving.insert(path) }
  }

  private static func inTheWay(_ path: String) -> CacheFault {
    CacheFault(
      what: "`\(path)` is not what the task left there, so that nothing is brought back over it",
      isOfProject: true)
  }

  private func status(_ path: String) throws(CacheFault) -> FileStatus? {
    try naming(path) { () throws(Errno) in try project.status(path) }
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
      case .link: .link
      case .folder, .value, .output: .other
      }
    guard SeenFile.Kind(status) == kind, status.sizeBytes == item.sizeBytes else { return false }
    return content(of: path, kind) == item.digest.high
  }

  /// Whether something is there that the last success made, as that left it.
  private func isAsLeft(_ path: String) -> Bool {
    guard let place = earlierPlaces[path],
      let status = (try? project.status(path)) ?? nil
    else { return false }
    let seen = earlier[place].seen
    guard SeenFile.Kind(status) == seen.kind else { return false }
    if let stamp = seen.stamp, stamp == FileStamp(status) { return true }
    return content(of: path, seen.kind) == seen.content
  }

  /// Nil for what has none, or cannot be read.
  private func content(of path: String, _ kind: SeenFile.Kind) -> PlanKey? {
    switch kind {
    case .folder, .other: return nil
    case .link:
      guard let target = try? project.linkTarget(path) else { return nil }
      return SHA256.digest(of: target.utf8).high
    case .file, .executable:
      do throws(Errno) {
        let hash = SHA256()
        let open = try project.open(path, [.readOnly, .nonblocking])
        guard try open.status().kind == .file else { return nil }
        while true {
          let got = try chunk.withUnsafeMutableBufferPointer { room throws(Errno) in
            try open.read(into: UnsafeMutableRawBufferPointer(room))
          }
          if got == 0 { return hash.digest.high }
          chunk.withUnsafeBytes { hash.add(UnsafeRawBufferPointer(rebasing: $0[..<got])) }
        }
      } catch {
        return nil
      }
    }
  }

  // MARK: - Putting

  /// Once all were checked. What the task left last and leaves no more goes, where nobody changed it.
  ///
  /// - Parameter new: where an item is now.
  func put(_ items: [CacheEntry.Item], _ new: (Int) -> String) throws(CacheFault) {
    // What is in a folder stands behind it.
    for file in earlier.reversed() {
      if leaving.contains(file.path) {
        try naming(file.path) { () throws(Errno) in
          try project.remove(file.path, isFolder: false)
        }
      } else if file.seen.kind == .folder, !kept.contains(Array(file.path.utf8)) {
        // Somebody else may have put something there.
        try? project.remove(file.path, isFolder: true)
      }
    }
    for (place, item) in items.enumerated() where item.kind.isOfProject {
      if inPlace.contains(item.name) { continue }
      let path = String(decoding: item.name, as: UTF8.self)
      try naming(path) { () throws(Errno) in try put(item, new(place), at: path) }
    }
  }

  private func put(_ item: CacheEntry.Item, _ new: String, at path: String) throws(Errno) {
    if item.kind == .folder {
      made += try project.makeFolders(path)
      return
    }
    if let slash = path.lastIndex(of: "/") {
      made += try project.makeFolders(String(path[..<slash]))
    }
    do throws(Errno) {
      try project.place(new, at: path)
    } catch {
      guard error == .crossDevice else { throw error }
      if item.kind == .link {
        try project.placeLink(to: try Path.linkTarget(new), at: path)
      } else {
        try project.placeCopy(of: new, at: path)
      }
    }
    if let status = try project.status(path) { placed.append((path, status.identity)) }
  }

  /// What was put is not all of a result: it goes, so that a task that runs instead finds none of it.
  func takeAway() {
    for (path, identity) in placed.reversed()
    where ((try? project.status(path)) ?? nil)?.identity == identity {
      try? project.remove(path, isFolder: false)
    }
    for path in made.reversed() { try? project.remove(path, isFolder: true) }
    placed.removeAll()
    made.removeAll()
  }
}
