internal import OpflowBase
internal import OpflowSystem

/// Restores a cached result, one piece at a time. All contents are verified in a staging folder
/// before the first one is moved to its place.
final class ResultRestoring {
  /// The restored parts that are not project files.
  struct Brought {
    let entry: CacheEntry
    /// The names of values and their files in the staging folder.
    var values: [(name: String, path: String)] = []
    var output: String?
  }

  private let entry: CacheEntry
  /// The path of the entry, for messages.
  private let entryPlace: String
  private let file: Descriptor
  private let placing: ResultPlacing
  private let folder: String
  /// The staging folder.
  private let stage: String
  private var next = 0
  private var checked = 0
  private var offset: Int64 = 0
  private var copying: Copying?
  /// A link that leads out of the manifest's folder; the cache never writes such links.
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

  /// nil if there is no complete entry.
  ///
  /// - Parameters:
  ///   - stage: the staging folder, made and removed by this object.
  ///   - own: the files of earlier attempts.
  ///   - isResult: whether the items cover all outputs of the task.
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
        what: "the result \(cache.place(of: key)) cannot be brought back: \(error)")
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

  /// Continues until the deadline; nil if there is more to do. After an error, files of the last
  /// attempt may be gone.
  func goOn(until deadline: Int64) throws(CacheFault) -> Brought? {
    repeat {
      if copying != nil || next < entry.items.count {
        do throws(Errno) {
          if let copying { try copy(copying) } else { try begin(entry.items[next]) }
        } catch {
          let why =
            error == .damaged
            ? "it is damaged" + (badLink.map { ": its link `\($0)` leads elsewhere" } ?? "")
            : "\(error)"
          throw CacheFault(what: "the result \(entryPlace) cannot be brought back: \(why)")
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
        what: item.kind == .link
          ? "the target of its link `\(name)` is missing, so that nothing is brought back"
          : "the target of its link `\(name)` has changed, so that nothing is brought back",
        isOfProject: true)
    }
  }

  /// Of a file; links are followed.
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
      case .value:
        brought.values.append((String(decoding: item.name, as: UTF8.self), path(place)))
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
  /// The data read is not what was written.
  static var damaged: Errno { .badMessage }
}
