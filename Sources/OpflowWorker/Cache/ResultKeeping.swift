internal import OpflowBase
internal import OpflowSystem

/// Writes a task's results into a cache entry, one piece at a time.
final class ResultKeeping {
  private enum Source {
    case project(ProjectFile)
    /// The target of `link` if it is not part of the result.
    case target(link: ProjectFile, path: [UInt8])
    case value(SuccessRecord.Value)
    case output(path: String, bytes: Int64)
  }

  private let cache: ResultCache
  private let key: SHA256.Digest
  private let folder: FolderBeneath
  private let folderPath: String
  private let reach: LinkReach
  private var badLink: String?
  private var sources: [Source]
  private var draft: ResultCache.Draft?
  private var items: [CacheEntry.Item] = []
  private var bytes: Int64 = 0
  private var copying: Copying?
  private var chunk = [UInt8](repeating: 0, count: 256 << 10)

  private final class Copying {
    let file: Descriptor
    let source: Source
    let mode: UInt32
    let hash = SHA256()
    var rest: Int64
    var count: Int64 = 0

    init(_ file: consuming Descriptor, _ source: Source, mode: UInt32, atMost rest: Int64) {
      self.file = file
      self.source = source
      self.mode = mode
      self.rest = rest
    }
  }

  /// - Parameter folder: the manifest's folder.
  init(
    _ cache: ResultCache, _ key: SHA256.Digest, folder: String, files: [ProjectFile],
    reach: LinkReach, values: [SuccessRecord.Value], output: (path: String, bytes: Int64)?
  ) throws(CacheFault) {
    self.cache = cache
    self.key = key
    folderPath = folder
    self.reach = reach
    sources = files.map { .project($0) }
    sources += values.map { .value($0) }
    if let (path, bytes) = output { sources.append(.output(path: path, bytes: bytes)) }
    sources.reverse()
    do throws(Errno) {
      self.folder = try FolderBeneath(folder)
      draft = try cache.begin()
    } catch {
      throw cache.unwritten(error)
    }
  }

  deinit { if let draft = draft.take() { cache.drop(draft) } }

  /// Returns true once the entry is complete.
  func goOn(until deadline: Int64) throws(CacheFault) -> Bool {
    repeat {
      if let copying {
        try copy(copying)
      } else if let source = sources.popLast() {
        try begin(source)
      } else {
        try finish()
        return true
      }
    } while Clock.monotonicNanoseconds < deadline
    return false
  }

  private func begin(_ source: Source) throws(CacheFault) {
    switch source {
    case .project(let file):
      try reading("`\(file.name)`") { () throws(Errno) in try begin(file) }
      if let badLink {
        throw CacheFault(
          detail: "the result is not cached; the link `\(file.name)` leads \(badLink)",
          isOfProject: true)
      }
    case .target(let link, let path):
      try reading("`\(link.name)`") { () throws(Errno) in try beginContent(of: path, source) }
    case .value(let value):
      do throws(Errno) {
        try write(value.bytes)
      } catch {
        throw cache.unwritten(error)
      }
      add(.value, mode: 0o600, value.bytes, Array(value.name.utf8))
    case .output(let path, let bytes):
      try reading("its log") { () throws(Errno) in
        let file = try File.open(path, [.readOnly, .noFollow, .nonblocking])
        let start = max(0, try file.status().sizeBytes - bytes)
        try file.seek(to: start)
        copying = Copying(file, source, mode: 0o600, atMost: bytes)
      }
    }
  }

  private func begin(_ file: ProjectFile) throws(Errno) {
    switch file.seen.kind {
    case .folder:
      guard let status = try folder.status(file.path), status.kind == .directory else {
        throw .noSuchFile
      }
      add(.folder, mode: status.mode & CacheEntry.Item.folderModes, [], file.path)
    case .link, .absent:
      let text = try folder.linkTarget(file.path)
      guard let target = String(validating: text, as: UTF8.self) else { throw .noSuchFile }
      try check(file, target)
      if badLink != nil { return }
      guard SHA256.digest(of: text).high == file.seen.content else { throw .noSuchFile }
      try write(text)
      add(file.seen.kind == .link ? .link : .danglingLink, mode: 0o777, text, file.path)
    case .file, .executable: try beginContent(of: file.path, .project(file))
    // Devices, FIFOs and sockets cannot be cached.
    case .other: throw .notSupported
    }
  }

  private func check(_ link: ProjectFile, _ target: String) throws(Errno) {
    if link.seen.kind == .absent {
      if LinkReach.destination(of: target, at: link.path, folder: folderPath) == nil {
        badLink = Self.leadsOut
      }
      return
    }
    switch try reach.end(of: target, at: link.path, in: folder) {
    case .known: break
    case .file(let path): sources.append(.target(link: link, path: path))
    case .outside: badLink = Self.leadsOut
    case .unknown(let path):
      badLink =
        "to `\(NameCharacters.text(path.isEmpty ? Array(".".utf8) : path))`, which is in neither "
        + "`outputs` nor `inputs`"
    }
  }

  private static let leadsOut = "out of the manifest's folder"

  private func beginContent(of path: [UInt8], _ source: Source) throws(Errno) {
    let open = try folder.open(path, [.readOnly, .nonblocking])
    let status = try open.status()
    guard status.kind == .file else { throw .noSuchFile }
    copying = Copying(open, source, mode: status.mode & 0o777, atMost: .max)
  }

  private func add(_ kind: CacheEntry.Item.Kind, mode: UInt32, _ content: [UInt8], _ name: [UInt8])
  {
    items.append(
      CacheEntry.Item(
        kind: kind, mode: mode, sizeBytes: Int64(content.count),
        digest: SHA256.digest(of: content), name: name))
  }

  private func write(_ content: [UInt8]) throws(Errno) {
    try content.withUnsafeBufferPointer { content throws(Errno) in
      try draft?.file.writeAll(UnsafeRawBufferPointer(content), at: bytes)
    }
    bytes += Int64(content.count)
  }

  private func copy(_ copying: Copying) throws(CacheFault) {
    let wanted = Int(min(Int64(chunk.count), copying.rest))
    let got = try reading(Self.name(copying.source)) { () throws(Errno) in
      try chunk.withUnsafeMutableBufferPointer { room throws(Errno) in
        try copying.file.read(
          into: UnsafeMutableRawBufferPointer(
            UnsafeMutableBufferPointer(rebasing: room[..<wanted])))
      }
    }
    if got > 0, case .target = copying.source {
      chunk.withUnsafeBytes { copying.hash.add(UnsafeRawBufferPointer(rebasing: $0[..<got])) }
      return
    }
    if got > 0 {
      guard cache.hasRoom(for: bytes + Int64(got)) else {
        throw CacheFault(detail: "a result is not cached; it is larger than the limit of the cache")
      }
      do throws(Errno) {
        try chunk.withUnsafeBufferPointer { chunk throws(Errno) in
          let piece = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: chunk[..<got]))
          copying.hash.add(piece)
          try draft?.file.writeAll(piece, at: bytes, leavesHoles: true)
        }
      } catch {
        throw cache.unwritten(error)
      }
      bytes += Int64(got)
      copying.count += Int64(got)
      copying.rest -= Int64(got)
      if copying.rest > 0 { return }
    }
    self.copying = nil
    try end(copying)
  }

  private func end(_ copying: Copying) throws(CacheFault) {
    let digest = copying.hash.digest
    let (kind, name): (CacheEntry.Item.Kind, [UInt8])
    switch copying.source {
    case .project(let file):
      guard digest.high == file.seen.content else {
        throw CacheFault(detail: "the result is not cached; `\(file.name)` changed meanwhile")
      }
      (kind, name) = (file.seen.kind == .executable ? .executable : .file, file.path)
    case .target(let link, _): (kind, name) = (.target, link.path)
    case .value(let value): (kind, name) = (.value, Array(value.name.utf8))
    case .output: (kind, name) = (.output, [])
    }
    items.append(
      CacheEntry.Item(
        kind: kind, mode: copying.mode, sizeBytes: copying.count, digest: digest, name: name))
  }

  private func finish() throws(CacheFault) {
    guard let draft = draft.take() else { return }
    do throws(Errno) {
      try CacheEntry(items: items).end(key: key).withUnsafeBufferPointer { end throws(Errno) in
        try draft.file.writeAll(UnsafeRawBufferPointer(end), at: bytes)
      }
    } catch {
      cache.drop(draft)
      throw cache.unwritten(error)
    }
    // The entry is not more readable than any of its files.
    let files = items.lazy.filter { [.file, .executable, .target].contains($0.kind) }
    try cache.keep(draft, as: key, mode: files.reduce(0o666) { $0 & $1.mode })
  }

  private static func name(_ source: Source) -> String {
    switch source {
    case .project(let file): "`\(file.name)`"
    case .target(let link, _): "`\(link.name)`"
    case .value(let value): "the value \(value.name)"
    case .output: "its log"
    }
  }

  private func reading<Result>(
    _ name: String, _ body: () throws(Errno) -> Result
  ) throws(CacheFault) -> Result {
    do throws(Errno) {
      return try body()
    } catch {
      throw CacheFault(
        detail: error == .tooManyLinks
          ? "the result is not cached; the path \(name) leads through a link"
          : "cannot cache \(name): \(error)", isOfProject: error == .tooManyLinks)
    }
  }
}
