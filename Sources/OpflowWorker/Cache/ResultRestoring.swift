internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem

/// Restores a cached result in pieces. All contents are verified in a staging folder before the
/// first file is moved to its place.
final class ResultRestoring {
  /// The restored parts that are not project files.
  struct Brought {
    let entry: CacheEntry
    /// Names of values and their files in the staging folder.
    var values: [(name: String, path: String)] = []
    var output: String?
  }

  private let entry: CacheEntry
  /// For messages.
  private let entryPlace: String
  private let file: Descriptor
  private let placing: ResultPlacing
  private let folder: String
  private let stage: String
  private var next = 0
  private var checked = 0
  private var offset: Int64 = 0
  private var copying: Copying?
  /// A link out of the manifest's folder; the cache never writes such links.
  private var badLink: String?
  private var chunk = [UInt8](repeating: 0, count: 256 << 10)

  private final class Copying {
    let file: Descriptor
    let item: CacheEntry.Item
    let hash = SHA256()
    var rest: Int64

    init(_ file: consuming Descriptor, _ item: CacheEntry.Item) {
      self.file = file
      self.item = item
      rest = item.sizeBytes
    }
  }

  /// nil if there is no complete entry. `stage` is made and removed by this object; `own` are the
  /// files of earlier attempts; `isResult` is true if the items cover all outputs of the task.
  init?(
    _ cache: ResultCache, _ key: SHA256.Digest, folder: String, stage: String,
    own: OwnFiles, isResult: ([CacheEntry.Item]) -> Bool
  ) throws(CacheFault) {
    do throws(Errno) {
      guard let file = try cache.open(key) else { return nil }
      guard let entry = try Self.entry(file, key), isResult(entry.items) else { return nil }
      cache.noteUse(file)
      self.entry = entry
      entryPlace = cache.place(of: key)
      self.file = file
      self.folder = folder
      self.stage = stage
      placing = ResultPlacing(own, entry.items)
      try Path.removeTree(Path.name(stage), in: Path.parent(of: stage))
      try Path.makeDirectories(stage)
    } catch {
      throw CacheFault(
        detail: "cannot restore the cached result \(cache.place(of: key)): \(error)")
    }
  }

  deinit { try? Path.removeTree(Path.name(stage), in: Path.parent(of: stage)) }

  private static func entry(
    _ file: borrowing Descriptor, _ key: SHA256.Digest
  ) throws(Errno) -> CacheEntry? {
    let status = try file.status()
    let size = status.sizeBytes
    let footBytes = Int64(CacheEntry.footBytes)
    guard status.kind == .file, size >= footBytes,
      let foot = CacheEntry.Foot(
        try read(file, at: size - footBytes, count: CacheEntry.footBytes), key: key),
      Int64(foot.listBytes) <= size - footBytes
    else { return nil }
    let contentBytes = size - footBytes - Int64(foot.listBytes)
    let list = try read(file, at: contentBytes, count: foot.listBytes)
    return CacheEntry(list: list, foot: foot, contentBytes: contentBytes)
  }

  private static func read(
    _ file: borrowing Descriptor, at start: Int64, count: Int
  ) throws(Errno) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let from = filled
      let got = try bytes.withUnsafeMutableBufferPointer { room throws(Errno) in
        try file.read(
          into: UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: room[from...])),
          at: start + Int64(from))
      }
      if got == 0 { break }
      filled += got
    }
    bytes.removeLast(count - filled)
    return bytes
  }

  // MARK: - Contents

  /// nil if there is more to do. After an error, files of the last attempt may be gone.
  func goOn(until deadline: Int64) throws(CacheFault) -> Brought? {
    repeat {
      if copying != nil || next < entry.items.count {
        do throws(Errno) {
          if let copying { try copy(copying) } else { try begin(entry.items[next]) }
        } catch {
          let why =
            error == .damaged
            ? "it is damaged" + (badLink.map { "; its link `\($0)` leads elsewhere" } ?? "")
            : "\(error)"
          throw CacheFault(detail: "cannot restore the cached result \(entryPlace): \(why)")
        }
      } else if checked < entry.items.count {
        let item = entry.items[checked]
        checked += 1
        if item.kind.isOfProject { try placing.check(item) }
      } else {
        try placing.put(entry.items) { path($0) }
        try checkLinks()
        return brought
      }
    } while Clock.monotonicNanoseconds < deadline
    return nil
  }

  /// Fails if the target of a link, which existed when it was cached, is missing here, or if its
  /// content has changed since and is not part of the result.
  private func checkLinks() throws(CacheFault) {
    for item in entry.items where item.kind == .link || item.kind == .target {
      let name = String(decoding: item.name, as: UTF8.self)
      let path = folder + "/" + name
      if item.kind == .link ? Path.exists(path) : (try? digest(path)) == item.digest { continue }
      throw CacheFault(
        detail: item.kind == .link
          ? "cannot restore the cached result; the target of its link `\(name)` is missing"
          : "cannot restore the cached result; the target of its link `\(name)` changed",
        isOfProject: true)
    }
  }

  /// Follows links.
  private func digest(_ path: String) throws(Errno) -> SHA256.Digest {
    let file = try File.openRegular(path, .readOnly, followsLink: true)
    let hash = SHA256()
    while true {
      let got = try chunk.withUnsafeMutableBufferPointer { room throws(Errno) in
        try file.read(into: UnsafeMutableRawBufferPointer(room))
      }
      if got == 0 { return hash.digest }
      chunk.withUnsafeBytes { hash.add(UnsafeRawBufferPointer(rebasing: $0[..<got])) }
    }
  }

  func takeAway() { placing.takeAway() }

  private func path(_ place: Int) -> String { "\(stage)/\(place)" }

  private func begin(_ item: CacheEntry.Item) throws(Errno) {
    switch item.kind {
    case .folder, .target: next += 1
    case .link, .danglingLink:
      guard item.sizeBytes <= 4096 else { throw .nameTooLong }
      let text = try Self.read(file, at: offset, count: Int(item.sizeBytes))
      guard SHA256.digest(of: text) == item.digest,
        let target = String(validating: text, as: UTF8.self), !text.contains(0), !text.isEmpty
      else { throw .damaged }
      let link = String(decoding: item.name, as: UTF8.self)
      guard LinkReach.destination(of: target, at: item.name, folder: folder) != nil else {
        badLink = link
        throw .damaged
      }
      try Path.symbolicLink(target, at: path(next))
      offset += item.sizeBytes
      next += 1
    case .file, .executable, .value, .output:
      copying = Copying(
        try File.open(path(next), [.writeOnly, .create, .exclusive, .noFollow]), item)
    }
  }

  private func copy(_ copying: Copying) throws(Errno) {
    let wanted = Int(min(Int64(chunk.count), copying.rest))
    if wanted > 0 {
      let got = try chunk.withUnsafeMutableBufferPointer { room throws(Errno) in
        try file.read(
          into: UnsafeMutableRawBufferPointer(
            UnsafeMutableBufferPointer(rebasing: room[..<wanted])), at: offset)
      }
      if got == 0 { throw .damaged }
      try chunk.withUnsafeBufferPointer { bytes throws(Errno) in
        let piece = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[..<got]))
        copying.hash.add(piece)
        try copying.file.writeAll(
          piece, at: copying.item.sizeBytes - copying.rest, leavesHoles: true)
      }
      offset += Int64(got)
      copying.rest -= Int64(got)
      if copying.rest > 0 { return }
    }
    guard copying.hash.digest == copying.item.digest else { throw .damaged }
    try copying.file.truncate(to: copying.item.sizeBytes)
    if copying.item.kind.isOfProject { try copying.file.setMode(copying.item.mode) }
    self.copying = nil
    next += 1
  }

  private var brought: Brought {
    var brought = Brought(entry: entry)
    for (place, item) in entry.items.enumerated() {
      switch item.kind {
      case .value: brought.values.append((String(decoding: item.name, as: UTF8.self), path(place)))
      case .output: brought.output = path(place)
      case .file, .executable, .folder, .link, .danglingLink, .target: break
      }
    }
    return brought
  }
}

extension CacheEntry.Item.Kind {
  var isOfProject: Bool {
    switch self {
    case .file, .executable, .folder, .link, .danglingLink: true
    case .value, .output, .target: false
    }
  }
}

extension Errno {
  static var damaged: Errno { .badMessage }
}

/// Moves restored files to their places, replacing only files of the same task, and undoes this for
/// an incomplete result.
final class ResultPlacing {
  private let own: OwnFiles
  private let kept: Set<[UInt8]>
  /// Unchanged files of the last attempt that the result does not contain.
  private var leaving: Set<[UInt8]> = []
  /// Checked folders that exist or will exist.
  private var folders: Set<[UInt8]> = []
  /// Items already in place.
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

  // MARK: - Existing files

  /// Throws if another file is in the item's place.
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
      detail: "cannot restore the cached result; `\(NameCharacters.text(path))` is not as the task"
        + " left it, and opflow does not overwrite it", isOfProject: true)
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
        detail: error == .tooManyLinks
          ? "cannot restore the cached result; the path `\(name)` leads through a link"
          : "cannot restore the cached result: `\(name)`: \(error)", isOfProject: true)
    }
  }

  private func isAlready(_ item: CacheEntry.Item, at path: [UInt8], _ status: FileStatus) -> Bool {
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

  /// Puts all items in their places, after `check` passed for each; `new` returns an item's current
  /// path. Removes unchanged files of the last attempt that are not in the result.
  func put(_ items: [CacheEntry.Item], _ new: (Int) -> String) throws(CacheFault) {
    own.openFolders()
    defer { closeFolders(items) }
    // Folders come before their contents.
    for file in own.files.reversed() {
      if leaving.contains(file.path) {
        try naming(file.path) { () throws(Errno) in
          try own.project.remove(file.path, isFolder: false)
        }
      } else if file.seen.kind == .folder, !kept.contains(file.path) {
        // Fails if others have put files into the folder.
        try? own.project.remove(file.path, isFolder: true)
      }
    }
    for (place, item) in items.enumerated() where item.kind.isOfProject {
      if inPlace.contains(item.name) { continue }
      try naming(item.name) { () throws(Errno) in try put(item, new(place), at: item.name) }
    }
  }

  /// Sets the modes that the task's folders had when cached.
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

  /// Undoes an incomplete restore: the task, which then runs, must not see the files.
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

/// Classifies the targets of a result's links. The result restores its own files, and its key
/// covers the inputs. Other files behind a link belong to no result, so their content must be
/// compared.
struct LinkReach {
  enum End {
    /// Part of the result or of its key.
    case known
    /// Relative to the manifest's folder.
    case file([UInt8])
    /// A target that no result can contain.
    case unknown([UInt8])
    case outside
  }

  private let folder: String
  /// The result's files, the inputs and the links on the way to them.
  private let known: Set<[UInt8]>

  init(folder: String, known: some Sequence<[UInt8]>) {
    self.folder = folder
    self.known = Set(known)
  }

  private static let slash = UInt8(ascii: "/")
  /// The kernel's limit for one path.
  private static let mostLinks = 40

  /// The target of the link `path` if no other link is on the way, both relative to the manifest's
  /// `folder`; nil if outside. `..` is allowed only at the beginning of the target: after a name
  /// that may be a link, its meaning is unknown.
  static func destination(of target: String, at path: [UInt8], folder: String) -> [UInt8]? {
    var names = path.split(separator: slash).dropLast()
    var rest = target.utf8[...]
    if target.utf8.first == slash {
      guard target == folder || target.hasPrefix(folder + "/") else { return nil }
      rest = rest.dropFirst(folder.utf8.count)
      names.removeAll()
    }
    var isBehindName = false
    for name in rest.split(separator: slash) where !name.elementsEqual(".".utf8) {
      if name.elementsEqual("..".utf8) {
        if isBehindName || names.popLast() == nil { return nil }
      } else {
        isBehindName = true
        names.append(Array(name)[...])
      }
    }
    return Array(names.joined(separator: [slash]))
  }

  /// Resolves the link `path`, whose target exists.
  func end(
    of target: String, at path: [UInt8], in project: borrowing FolderBeneath
  ) throws(Errno) -> End {
    guard var path = Self.destination(of: target, at: path, folder: folder) else {
      return .outside
    }
    var isWayKnown = true
    for _ in 0..<Self.mostLinks {
      if isWayKnown, known.contains(path) { return .known }
      guard let link = try Self.firstLink(of: path, in: project) else {
        return try end(at: path, isWayKnown, in: project)
      }
      isWayKnown = isWayKnown && known.contains(link)
      guard let text = String(validating: try project.linkTarget(link), as: UTF8.self),
        let next = Self.destination(of: text, at: link, folder: folder)
      else { return .outside }
      path = Array((next + path[link.count...]).drop { $0 == Self.slash })
    }
    return .unknown(path)
  }

  /// The first link among the path and its parents.
  private static func firstLink(
    of path: [UInt8], in project: borrowing FolderBeneath
  ) throws(Errno) -> [UInt8]? {
    var end = 0
    while end < path.count {
      end = path[(end + 1)...].firstIndex(of: slash) ?? path.count
      let part = Array(path[..<end])
      if try project.status(part)?.kind == .link { return part }
    }
    return nil
  }

  private func end(
    at path: [UInt8], _ isWayKnown: Bool, in project: borrowing FolderBeneath
  ) throws(Errno) -> End {
    switch try project.status(path)?.kind {
    case .file: .file(path)
    case .directory where isWayKnown: try isAllKnown(in: path, project) ? .known : .unknown(path)
    default: .unknown(path)
    }
  }

  private func isAllKnown(
    in folder: [UInt8], _ project: borrowing FolderBeneath
  ) throws(Errno) -> Bool {
    let names = try project.names(String(decoding: folder, as: UTF8.self))
    for name in names {
      let path = Array((folder + [Self.slash] + name.utf8).drop { $0 == Self.slash })
      if known.contains(path) { continue }
      guard try project.status(path)?.kind == .directory, try isAllKnown(in: path, project) else {
        return false
      }
    }
    return !names.isEmpty
  }
}
