internal import OpflowBase
package import OpflowPlan
package import OpflowSystem

package struct ScanFault: Error, Equatable {
  package let detail: String
  /// The missing input.
  private(set) var path: String?
  /// The task's own files are fine.
  private(set) var isOfRecords = false

  init(detail: String) { self.detail = detail }

  init(unwritten path: String, _ error: Errno, detail: String) {
    self.detail = "cannot write \(detail) to \(path): \(error)"
    isOfRecords = true
  }

  static func reading<Result>(
    _ body: () throws(Errno) -> Result
  ) throws(ScanFault) -> Result {
    do throws(Errno) {
      return try body()
    } catch {
      throw ScanFault(detail: "cannot read the records in the state folder: \(error)")
    }
  }

  init(missing path: String, of declaring: DeclaringTask) {
    self.path = path
    detail = "input `\(path)` is missing\(declaring.nameNote(path))"
  }
}

/// Finds the kinds and content hashes of files in small steps, reusing hashes of unchanged files.
package final class FileScan {
  enum Links {
    /// As texts, and whether their targets exist.
    case themselves
    /// As texts and targets. Links on the way to `project`, the manifest's folder, do not count.
    case followed(project: String, LeftOut)
  }

  private let folder: String
  private let memory: SeenFiles
  /// The first entry of `memory` that may match the next path.
  private var remembered = 0
  private let places: FilePlaces
  private let follows: Bool
  private var next = 0
  private var hashing: FileHashing?
  /// Shared by the scans of a process, since tasks may read the same file.
  private let hashes: FileMemory

  /// Leading entries of `memory` that equal the result so far.
  private var unchanged = 0
  /// The result, once it differs from `memory`.
  private var own: SeenStates?
  /// Paths that disappeared during the scan.
  private var gone: Set<Int32> = []

  /// Named paths; `unmatched` are patterns without matches.
  package private(set) var missing: [String]
  package var unmatched: [String] { places.unmatched }
  var unentered: [(pattern: String, link: String, instead: String)] { places.unentered }
  /// Files that were replaced or rewritten, even with the same content.
  package private(set) var replaced: [[UInt8]] = []
  /// The hashes are worth recording.
  package private(set) var hasRead = false

  package enum Item: Hashable {
    case path(String)
    case glob(String)

    /// Contains all files of the item.
    var surroundingFolder: String {
      switch self {
      case .path(let path): return Path.parent(of: path)
      case .glob(let pattern):
        let parts = pattern.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        let names = parts.prefix { !Array($0.utf8).withUnsafeBytes { PathPattern.isPattern($0) } }
        let isOfRoot = names.count == 1 && names.first == ""
        let folder = Array(names.joined(separator: "/").utf8).withUnsafeBytes {
          String(decoding: PathPattern.name(of: $0), as: UTF8.self)
        }
        return isOfRoot ? "/" : folder.isEmpty ? "." : folder
      }
    }
  }

  /// `folder` is the base of relative paths, `memory` the last scan, sorted by path. `written`:
  /// when a file counts whose name is the pattern's text.
  init(
    _ items: [Item], in folder: String, memory: SeenFiles, hashes: FileMemory, links: Links,
    written: FileNames.WrittenName = .beside
  ) throws(ScanFault) {
    self.folder = folder
    self.memory = memory
    self.hashes = hashes
    places = try FilePlaces(items, in: folder, hashes, links, written)
    missing = places.missing
    follows = if case .followed = links { true } else { false }
  }

  /// Sorted by path, once complete.
  package var files: SeenFiles {
    guard let own else {
      return unchanged == memory.count ? memory : SeenFiles(unchanged, of: memory)
    }
    let paths = places.paths
    if gone.isEmpty { return SeenFiles(paths, own) }
    return SeenFiles(paths.picked((0..<Int32(paths.count)).filter { !gone.contains($0) }), own)
  }

  /// On the way to the files, sorted by path.
  var links: SeenFiles { places.links }

  var stampedLinks: SeenFiles { places.stampedLinks }

  /// Links with the same text. `earlier` are the same links with stamps.
  func replacedLinks(since earlier: SeenFiles) -> [[UInt8]] {
    if earlier.isEmpty { return [] }
    let now = stampedLinks
    return zip(earlier.indices, now.indices).compactMap { old, new in
      let isReplaced = now.stamp(new).map { earlier.isReplaced(old, by: $0) } ?? false
      return isReplaced ? earlier.path(old) : nil
    }
  }

  func text(ofLink path: [UInt8]) -> [UInt8]? { places.text(ofLink: path) }

  /// The folders of link targets, where changes may matter too.
  var targetFolders: Set<[UInt8]> { places.targetFolders }

  private func absolute(_ place: Int) -> [UInt8] {
    DeclaringTask.absolute(places.paths[place], in: folder)
  }

  /// Returns true when complete.
  package func goOn(until deadline: Int64) throws(ScanFault) -> Bool {
    var count = 0
    repeat {
      if let hashing {
        try finish(hashing)
      } else if next < places.paths.count {
        try look(at: next)
      } else {
        return true
      }
      count += 1
      // Reading the clock takes a good part of the time of checking a file.
    } while hashing?.isShort ?? true && count % 32 != 0 || Clock.monotonicNanoseconds < deadline
    return hashing == nil && next == places.paths.count
  }

  private func look(at place: Int) throws(ScanFault) {
    do throws(Errno) {
      let status = try status(of: place)
      let (stamp, kind) = (status.stamp, status.kind)
      let none = PlanKey(high: 0, low: 0)
      // An absent file has no stamp.
      if follows, kind == .absent { return add(kind, none, nil) }
      // On a network file system another machine may write the file, and the times cached here may
      // be old: always read it.
      let isOnNetwork = hashes.network.have(device: stamp.device) {
        DeclaringTask.readable(absolute(place))
      }
      let known = places.paths.with(place) { remembered(of: $0) }
      if let known {
        // A file has another device and inode number on each machine.
        if !isOnNetwork, memory.isReplaced(known, by: stamp) { replaced.append(memory.path(known)) }
        if !isOnNetwork, memory.stamp(known) == stamp, memory.kind(known) == kind {
          return keep(known)
        }
      }
      let now = Clock.wallMilliseconds * 1_000_000
      let trusted = !isOnNetwork && stamp.isTelling(atNanoseconds: now) ? stamp : nil
      switch kind {
      // Its entries represent its content.
      case .folder, .other: add(kind, none, nil)
      case .link, .absent:
        let target = try Path.linkBytes(ofBytes: absolute(place) + [0])
        add(kind, hashes.hash.of(target), trusted)
      case .file, .executable:
        if !isOnNetwork, let content = hashes[stamp] {
          add(kind, content, trusted)
        } else {
          let seen = SeenFile(path: [], kind: kind, content: none, stamp: trusted)
          hashing = try places.paths.with(place) {
            hashes.reading(
              $0, from: folder, isTarget: status.isOfTarget,
              expected: isOnNetwork ? nil : stamp, into: seen)
          }.get()
        }
      }
    } catch {
      try fault(error)
    }
  }

  private func status(of place: Int) throws(Errno) -> FilePlaces.Status {
    let found: FilePlaces.Status
    if let known = places.status(of: place) {
      found = known
    } else {
      let status = try places.paths.with(place) { hashes.linkStatus($0, from: folder) }.get()
      found = FilePlaces.Status(
        stamp: FileStamp(status), kind: SeenFile.Kind(status), isOfTarget: false)
    }
    guard found.kind == .link, !follows, (try? Path.status(ofBytes: absolute(place) + [0])) == nil
    else { return found }
    return FilePlaces.Status(stamp: found.stamp, kind: .absent, isOfTarget: false)
  }

  private func finish(_ hashing: FileHashing) throws(ScanFault) {
    do throws(Errno) {
      guard let seen = try hashing.goOn() else { return }
      if let stamp = seen.stamp {
        hashes[stamp] = seen.content
        hasRead = true
      }
      self.hashing = nil
      add(seen.kind, seen.content, seen.stamp)
    } catch {
      self.hashing = nil
      try fault(error)
    }
  }

  private func keep(_ known: Int) {
    if own == nil, known == unchanged {
      unchanged += 1
      next += 1
    } else {
      add(memory.kind(known), memory.content(known), memory.stamp(known))
    }
  }

  private func add(_ kind: SeenFile.Kind, _ content: PlanKey, _ stamp: FileStamp?) {
    if own == nil {
      own = SeenStates(unchanged, of: memory)
      own?.reserve(places.paths.count)
    }
    own?.append(kind, content, stamp)
    next += 1
  }

  private func fault(_ error: Errno) throws(ScanFault) {
    let path = places.paths.text(next)
    guard error == .noSuchFile || error == .notADirectory else {
      let target =
        places.isLinked(places.paths[next])
        ? (try? Path.real(DeclaringTask.readable(absolute(next)))).map {
          ", which leads to `\($0)`"
        } : nil
      throw ScanFault(detail: "cannot read `\(path)`\(target ?? ""): \(error)")
    }
    missing.append(path)
    gone.insert(Int32(next))
    next += 1
  }

  /// Both are sorted.
  private func remembered(of path: UnsafeRawBufferPointer) -> Int? {
    while remembered < memory.count {
      switch memory.withPath(remembered, { ByteOrder($0, path) }) {
      case .same: return remembered
      case .behind: return nil
      case .before: remembered += 1
      }
    }
    return nil
  }
}

extension FileStamp {
  init(_ status: FileStatus) {
    self.init(
      device: status.identity.device, inode: status.identity.inode, sizeBytes: status.sizeBytes,
      modified: status.modifiedNanoseconds, changed: status.changedNanoseconds)
  }
}

extension SeenFile.Kind {
  init(_ status: FileStatus) {
    switch status.kind {
    case .file: self = status.mode & 0o111 == 0 ? .file : .executable
    case .directory: self = .folder
    case .link: self = .link
    case .device, .fifo, .socket, .other: self = .other
    }
  }
}

/// Hashes a file in pieces.
final class FileHashing {
  private let file: Descriptor
  private let expected: FileStamp
  private var seen: SeenFile
  private let hash: ContentHasher
  private let piece: FilePiece
  private var count: Int64 = 0

  init(
    _ file: consuming Descriptor, expected: FileStamp, into seen: SeenFile, _ hash: ContentHash,
    _ piece: FilePiece
  ) throws(Errno) {
    self.file = file
    guard let hasher = ContentHasher(hash) else { throw .noMemory }
    self.hash = hasher
    self.expected = expected
    self.seen = seen
    self.piece = piece
  }

  var isShort: Bool { expected.sizeBytes <= FilePiece.size }

  /// A file that changed meanwhile gets no stamp, so it is read again next time.
  func goOn() throws(Errno) -> SeenFile? {
    // The status shows that there are no more bytes. Generated kernel files claim to be empty.
    if count > 0, count == expected.sizeBytes, try stamp() == expected { return whole }
    let got: Int
    do throws(Errno) {
      got = try file.read(into: piece.bytes)
    } catch {
      _ = try stamp()
      throw error
    }
    hash.add(UnsafeRawBufferPointer(rebasing: piece.bytes[..<got]))
    count += Int64(got)
    // A file that grows while it is read might never end.
    if got > 0, count <= expected.sizeBytes { return nil }
    let stamp = try stamp()
    if count != expected.sizeBytes || stamp != expected { seen.stamp = nil }
    return whole
  }

  /// A file open for writing gets no stamp: a write through a mapping changes no time if the page
  /// is dirty already.
  private var whole: SeenFile {
    var seen = seen
    seen.content = hash.content
    if seen.stamp != nil, file.isOpenForWriting() { seen.stamp = nil }
    return seen
  }

  /// Throws `noSuchFile` unless it is a regular file.
  private func stamp() throws(Errno) -> FileStamp {
    let status = try file.status()
    guard status.kind == .file else { throw .noSuchFile }
    return FileStamp(status)
  }
}

/// Shared by all files that a process reads: allocating it takes longer than reading most files.
final class FilePiece {
  fileprivate static let size = 256 << 10

  // SAFETY: owned by this object alone, for as long as it lives.
  fileprivate let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 64)

  deinit { bytes.deallocate() }
}

/// Hashes and folder listings that this process has read.
package final class FileMemory {
  /// The key is a hash of the stamp.
  private var contents: [PlanKey: PlanKey] = [:]

  /// About 60 bytes each.
  private static let mostContents = 250_000

  package let hash: ContentHash
  let folders: FolderMemory
  let links = LinkWalk()
  let network: NetworkFiles
  let piece = FilePiece()
  private var folder = HeldFolder()
  private var keepsAccessTimes = true

  private let keepsContents: Bool

  package init(
    _ hash: ContentHash, keepsContents: Bool = true, network: NetworkFiles = NetworkFiles()
  ) {
    self.network = network
    folders = FolderMemory(network: network)
    self.hash = hash
    self.keepsContents = keepsContents
  }

  package convenience init(_ plan: Plan, network: NetworkFiles = NetworkFiles()) {
    let readers = plan.tasks.lazy.filter { plan.isChecked(TaskID($0)) }
    self.init(plan.contentHash, keepsContents: readers.dropFirst().first != nil, network: network)
  }

  subscript(stamp: FileStamp) -> PlanKey? {
    get { contents.isEmpty ? nil : contents[Self.key(stamp)] }
    set {
      if !keepsContents { return }
      if contents.count >= Self.mostContents { contents.removeAll() }
      contents[Self.key(stamp)] = newValue
    }
  }

  private static func key(_ stamp: FileStamp) -> PlanKey {
    withUnsafeBytes(
      of: (stamp.device, stamp.inode, stamp.sizeBytes, stamp.modified, stamp.changed)
    ) { Hash.planKey($0) }
  }

  /// Keeps folders open for faster lookups; only for a short time.
  func holdFolders() { folder.hold() }

  func letFoldersGo() {
    folder.letGo()
    links.forget()
  }

  /// Cached links are valid only while folders are held.
  func prepareLinks() { if !folder.isHeld { links.forget() } }

  /// Does not follow links.
  func linkStatus(_ path: UnsafeRawBufferPointer, from start: String) -> Result<FileStatus, Errno> {
    folder.linkStatus(path, from: start)
  }

  /// Opens without blocking. `isTarget`: follow a link at the path, else an error. `expected` is
  /// the file's stamp; nil to take it after opening, which refreshes network file systems.
  func reading(
    _ path: UnsafeRawBufferPointer, from start: String, isTarget: Bool, expected: FileStamp?,
    into seen: SeenFile
  ) -> Result<FileHashing, Errno> {
    do throws(Errno) {
      let file = try open(path, from: start, isTarget ? [] : .noFollow)
      let expected = if let expected { expected } else { FileStamp(try file.status()) }
      return .success(try FileHashing(file, expected: expected, into: seen, hash, piece))
    } catch {
      return .failure(error)
    }
  }

  /// Keeps the access time: a check should not count as use, and the update takes as long as
  /// hashing a small file. Files of other users do not allow this.
  private func open(
    _ path: UnsafeRawBufferPointer, from start: String, _ flags: File.Flags
  ) throws(Errno) -> Descriptor {
    let flags = flags.union([.readOnly, .nonblocking])
    if keepsAccessTimes {
      do throws(Errno) {
        return try folder.open(path, from: start, flags.union(.noAccessTime))
      } catch .notPermitted {
        keepsAccessTimes = false
      }
    }
    return try folder.open(path, from: start, flags)
  }
}

/// Keeps one base folder open: relative lookups walk less of the path, which saves a tenth of the
/// time. Only for a moment, since another folder may replace it.
struct HeldFolder: ~Copyable {
  private(set) var isHeld = false
  private var path = ""
  private var folder: Descriptor?
  private var bytes: [UInt8] = []

  private static let slash = UInt8(ascii: "/")

  mutating func hold() { isHeld = true }

  mutating func letGo() {
    isHeld = false
    folder = nil
  }

  /// Does not follow links. `path` does not contain a zero.
  mutating func linkStatus(
    _ path: UnsafeRawBufferPointer, from start: String
  ) -> Result<FileStatus, Errno> {
    do throws(Errno) {
      return .success(try status(path, from: start))
    } catch {
      return .failure(error)
    }
  }

  private mutating func status(
    _ path: UnsafeRawBufferPointer, from start: String
  ) throws(Errno) -> FileStatus {
    let folder = setBytes(of: path, from: start)
    return try Path.linkStatus(ofBytes: bytes, from: folder)
  }

  mutating func open(
    _ path: UnsafeRawBufferPointer, from start: String, _ flags: File.Flags
  ) throws(Errno) -> Descriptor {
    let folder = setBytes(of: path, from: start)
    return try File.open(ofBytes: bytes, from: folder, flags)
  }

  /// Returns the base of `bytes`: the open folder, or `File.workingFolder` for a full path.
  private mutating func setBytes(of path: UnsafeRawBufferPointer, from start: String) -> Int32 {
    let isRelative = path.first != Self.slash
    if isRelative, isHeld { open(start) }
    bytes.removeAll(keepingCapacity: true)
    var from = File.workingFolder
    if isRelative {
      if isHeld, let folder = folder?.rawValue {
        from = folder
      } else {
        bytes.append(contentsOf: start.utf8)
        bytes.append(Self.slash)
      }
    }
    bytes.append(contentsOf: path)
    bytes.append(0)
    return from
  }

  /// On failure the full path reports the error.
  private mutating func open(_ start: String) {
    if folder != nil, path == start { return }
    path = start
    folder = try? File.open(start, [.pathOnly, .directory])
  }
}
