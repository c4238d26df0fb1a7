internal import CTransfer
internal import OpflowBase
internal import OpflowDownload
internal import OpflowPlan
internal import OpflowSystem

final class PieceBuffer {
  static let byteCount = 1024 * 1024

  // SAFETY: allocated in init, freed in deinit.
  let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 4096)

  deinit { bytes.deallocate() }
}

final class SpareBuffer {
  private var buffer = PieceBuffer()

  /// Not in use.
  func take() -> PieceBuffer {
    if !isKnownUniquelyReferenced(&buffer) { buffer = PieceBuffer() }
    return buffer
  }
}

/// `to.part` and its record during an attempt: bytes are hashed on arrival, and written in large
/// pieces.
///
/// After a kill at any point the part is a prefix of the file in its record: the record is removed
/// before old bytes, and written before new ones. A file that is complete before its first write
/// needs no record.
///
/// Complete pieces bypass the page cache if possible, since the file is synced in the end and
/// writing back a gigabyte by pages costs more than the rest of a download. An incomplete piece is
/// written normally, and again when it is complete.
final class PartFile {
  private enum RecordFile {
    case unknown
    case absent
    case current
    /// Must be written before any further byte.
    case stale
  }

  let spec: DownloadSpec
  let hash: ContentHash
  private var shared: SharedFile?
  /// For direct I/O; nil if impossible or not tried yet.
  private var direct: Descriptor?
  private var mayWriteDirectly = true
  /// Nil after the last read or write.
  private var piece: PieceBuffer?
  /// The bytes from `pieceStart` on.
  private var buffer: UnsafeMutableRawBufferPointer {
    guard let piece else { preconditionFailure("a part was used after its end") }
    return piece.bytes
  }
  private var pieceStart: Int64 = 0
  private var filledBytes = 0
  private var isFilling = false
  private(set) var writtenBytes: Int64 = 0
  /// A write failed, perhaps half-way: the file may be longer.
  private var isTorn = false
  private var writtenAt: Int64 = 0
  private(set) var record: PartRecord?
  private var recordFile = RecordFile.unknown

  init(_ spec: DownloadSpec, hash: ContentHash, piece: PieceBuffer) throws(DownloadFailure) {
    self.spec = spec
    self.hash = hash
    self.piece = piece
    if Path.isMissing(spec.partPath) { return }
    let (file, bytes) = try SharedFile.part(spec.partPath, of: spec.target)
    shared = file
    writtenBytes = bytes
    if writtenBytes > 0 {
      record = Self.readRecord(spec.recordPath)
      if record != nil { recordFile = .current }
    }
  }

  /// Opens and locks the file.
  private func open() throws(DownloadFailure) -> SharedFile {
    if let shared { return shared }
    let (file, bytes) = try SharedFile.part(spec.partPath, of: spec.target)
    shared = file
    // Another process left the bytes after this attempt began.
    if bytes > 0 { try truncate(file) }
    return file
  }

  private func truncate(_ file: SharedFile) throws(DownloadFailure) {
    try removeRecordFile()
    do throws(Errno) {
      try file.descriptor.truncate(to: 0)
    } catch {
      throw LocalFailure.of("cannot empty \(spec.partPath)", error)
    }
  }

  private static func readRecord(_ path: String) -> PartRecord? {
    guard let file = try? File.open(path, [.readOnly, .noFollow, .nonblocking]),
      let status = try? file.status(), status.kind == .file, SharedFile.isOwn(status),
      status.sizeBytes <= Int64(PartRecord.longestBytes), let bytes = try? file.readAll()
    else { return nil }
    return bytes.withUnsafeBytes { PartRecord($0) }
  }

  var byteCount: Int64 { isFilling ? pieceStart + Int64(filledBytes) : writtenBytes }

  func isDue(_ nanoseconds: Int64, after: Int64) -> Bool {
    byteCount > writtenBytes && nanoseconds - writtenAt >= after
  }

  // MARK: - Writing

  /// For the following bytes.
  func note(_ record: PartRecord) {
    if self.record == record { return }
    self.record = record
    recordFile = .stale
  }

  /// Must be called before bytes are written.
  private func settleRecord(isWhole: Bool) throws(DownloadFailure) {
    if recordFile == .current { return }
    let path = spec.recordPath
    guard let record, !(isWhole && writtenBytes == 0) else {
      try removeRecordFile()
      return
    }
    let temporary = spec.newRecordPath
    _ = try Place.isThere(path)
    try Place.clear(temporary)
    do throws(Errno) {
      // Not synced: a record from before a machine crash is not trusted.
      let file = try File.open(temporary, [.writeOnly, .create, .exclusive, .noFollow])
      try file.writeAll(record.encoded())
      try file.close()
      try Path.rename(temporary, to: path)
    } catch {
      try? Path.remove(temporary)
      throw LocalFailure.of("cannot write \(path)", error)
    }
    recordFile = .current
  }

  func empty() throws(DownloadFailure) {
    isFilling = false
    record = nil
    hash.reset()
    if writtenBytes == 0 { return }
    try truncate(try open())
    writtenBytes = 0
  }

  func append(_ bytes: UnsafeRawBufferPointer) throws(DownloadFailure) {
    if !isFilling { try beginFilling() }
    hash.update(bytes)
    var rest = bytes
    while !rest.isEmpty {
      let count = min(rest.count, buffer.count - filledBytes)
      UnsafeMutableRawBufferPointer(rebasing: buffer[filledBytes...])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: rest[..<count]))
      filledBytes += count
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      if filledBytes == buffer.count { try writePiece() }
    }
  }

  /// The start of the piece may be on disk.
  private func beginFilling() throws(DownloadFailure) {
    pieceStart = writtenBytes - writtenBytes % Int64(buffer.count)
    filledBytes = 0
    let wanted = Int(writtenBytes - pieceStart)
    while filledBytes < wanted {
      let room = UnsafeMutableRawBufferPointer(rebasing: buffer[filledBytes..<wanted])
      let count = try read(into: room, at: pieceStart + Int64(filledBytes))
      guard count > 0 else { throw LocalFailure.of("cannot read \(spec.partPath)", .ioError) }
      filledBytes += count
    }
    isFilling = true
    writtenAt = Clock.monotonicNanoseconds
  }

  private func writePiece() throws(DownloadFailure) {
    writtenAt = Clock.monotonicNanoseconds
    let file = try open()
    try expectLength(of: file)
    try settleRecord(isWhole: false)
    if !writeDirectly(file) { try flush() }
    pieceStart += Int64(buffer.count)
    writtenBytes = pieceStart
    filledBytes = 0
  }

  /// Not tried again after a failure.
  private func writeDirectly(_ file: SharedFile) -> Bool {
    if !mayWriteDirectly { return false }
    do throws(Errno) {
      let descriptor: Descriptor
      if let open = direct.take() {
        descriptor = open
      } else {
        descriptor = try File.reopenDirect(file.descriptor)
      }
      try descriptor.writeAll(UnsafeRawBufferPointer(buffer), at: pieceStart)
      direct = consume descriptor
      return true
    } catch {
      // The normal write reports the error if it persists.
      mayWriteDirectly = false
      isTorn = true
      return false
    }
  }

  /// - Parameter isWhole: True if the bytes complete the file.
  func flush(isWhole: Bool = false) throws(DownloadFailure) {
    writtenAt = Clock.monotonicNanoseconds
    guard byteCount > writtenBytes else { return }
    let file = try open()
    try expectLength(of: file)
    try settleRecord(isWhole: isWhole)
    let from = Int(writtenBytes - pieceStart)
    do throws(Errno) {
      try file.descriptor.writeAll(
        UnsafeRawBufferPointer(rebasing: buffer[from..<filledBytes]), at: writtenBytes)
    } catch {
      isTorn = true
      throw LocalFailure.of("cannot write \(spec.partPath)", error)
    }
    // A torn piece was written again completely.
    isTorn = false
    writtenBytes = byteCount
  }

  /// For another attempt, unless another file has replaced the part.
  func keep() throws(DownloadFailure) {
    if let shared, !isOwn(shared) {
      removeRecord()
      return
    }
    try flush()
    if recordFile == .stale, writtenBytes > 0 { try settleRecord(isWhole: false) }
  }

  private func isOwn(_ file: SharedFile) -> Bool {
    guard let status = try? Path.linkStatus(spec.partPath) else { return false }
    return status.identity == file.identity && (isTorn || status.sizeBytes == writtenBytes)
  }

  private func expectLength(of file: SharedFile) throws(DownloadFailure) {
    if isTorn { return }
    let bytes: Int64
    do throws(Errno) {
      bytes = try file.descriptor.status().sizeBytes
    } catch {
      throw LocalFailure.of("cannot check \(spec.partPath)", error)
    }
    if bytes != writtenBytes {
      throw FinishedFile.replaced("the length of \(spec.partPath) was changed", spec.target)
    }
  }

  /// Frees the buffer for reading.
  private func setAside() throws(DownloadFailure) {
    try flush()
    isFilling = false
  }

  // MARK: - Reading

  /// False at the end.
  func hashNext() throws(DownloadFailure) -> Bool {
    try setAside()
    if hash.byteCount > writtenBytes { hash.reset() }
    guard hash.byteCount < writtenBytes else { return false }
    let count = try read(into: buffer, at: hash.byteCount)
    guard count > 0 else {
      throw LocalFailure.of("cannot read \(spec.partPath)", .ioError)
    }
    hash.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    return true
  }

  private func read(
    into room: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(DownloadFailure) -> Int {
    let file = try open()
    do throws(Errno) {
      return try file.descriptor.read(into: room, at: offset)
    } catch {
      throw LocalFailure.of("cannot read \(spec.partPath)", error)
    }
  }

  func holds(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(DownloadFailure) -> Bool {
    try setAside()
    let room = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(bytes.count, buffer.count)])
    let count = try read(into: room, at: offset)
    return count == bytes.count && buffer[..<count].elementsEqual(bytes)
  }

  /// Passes at most one piece, which is empty at the end.
  func withPiece<Result>(
    at offset: Int64, _ body: (UnsafeRawBufferPointer) throws(DownloadFailure) -> Result
  ) throws(DownloadFailure) -> Result {
    try setAside()
    let count = try read(into: buffer, at: offset)
    return try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
  }

  // MARK: - The end

  func finished(mode: UInt32) throws(DownloadFailure) -> FinishedFile {
    let content = takeSmallContent()
    if content == nil { try flush(isWhole: true) }
    release()
    return FinishedFile(
      shared, path: spec.partPath, sizeBytes: writtenBytes, content: content, target: spec.target,
      mode: mode)
  }

  private func takeSmallContent() -> FinishedFile.Content? {
    guard writtenBytes == 0, byteCount <= FinishedFile.mostContentBytes else { return nil }
    let content = FinishedFile.Content(
      bytes: isFilling ? Array(buffer[..<filledBytes]) : [], recordPath: spec.recordPath)
    writtenBytes = byteCount
    recordFile = .absent
    return content
  }

  func release() {
    isFilling = false
    piece = nil
  }

  func remove() {
    removeRecord()
    // A part that this process did not open belongs to another one.
    if let shared { Place.remove(spec.partPath, ifIs: shared.identity) }
  }

  func removeRecord() {
    record = nil
    // A leftover record names a part that is gone or complete.
    try? removeRecordFile()
  }

  private func removeRecordFile() throws(DownloadFailure) {
    if recordFile == .absent || shared == nil { return }
    try Place.clear(spec.recordPath)
    recordFile = .absent
  }
}

/// Closed and unlocked with the last reference.
final class SharedFile: Sendable {
  let descriptor: Descriptor
  let identity: FileIdentity

  init(_ descriptor: consuming Descriptor) throws(Errno) {
    identity = try descriptor.status().identity
    self.descriptor = descriptor
  }

  private init(_ descriptor: consuming Descriptor, _ identity: FileIdentity) {
    self.descriptor = descriptor
    self.identity = identity
  }

  /// Also returns the length. Fails if another process downloads to the same target.
  static func part(_ path: String, of target: String) throws(DownloadFailure) -> (SharedFile, Int64)
  {
    // Opening has side effects on some devices.
    _ = try Place.isThere(path)
    do throws(Errno) {
      return try openPart(path)
    } catch .wouldBlock {
      throw DownloadFailure(.busy, "another process is downloading to \(target)")
    } catch .tooManyLinks {
      throw DownloadFailure(
        .local(Errno.tooManyLinks.rawValue),
        "\(path) is a symbolic link, which opflow does not follow; remove it")
    } catch {
      if let status = try? Path.linkStatus(path), !isOwn(status) {
        let detail = status.isOwn ? "has several hard links" : "belongs to user \(status.owner)"
        throw LocalFailure.of("cannot remove \(path), which \(detail)", error)
      }
      throw LocalFailure.of("cannot open \(path)", error)
    }
  }

  /// No other user can have written the file.
  static func isOwn(_ status: FileStatus) -> Bool { status.isOwn && status.linkCount <= 1 }

  /// More replacements are not a previous holder finishing.
  private static let mostTries = 100

  private static func openPart(_ path: String) throws(Errno) -> (SharedFile, Int64) {
    // Retries if the previous holder renamed or removed the file between open and lock.
    for _ in 0..<mostTries {
      let isNew = Path.isMissing(path)
      // The kernel may refuse O_CREAT on another user's file (fs.protected_regular).
      let making: File.Flags = isNew ? [.create, .exclusive] : []
      let file: Descriptor
      do throws(Errno) {
        file = try File.open(
          path, making.union([.readWrite, .noFollow, .nonblocking]), mode: 0o600)
      } catch {
        if error == (isNew ? .exists : .noSuchFile) { continue }
        throw error
      }
      guard try file.tryLock() else { throw .wouldBlock }
      let status = try file.status()
      guard status.kind == .file else { throw .exists }
      // Some file systems report another owner for a new file.
      guard isNew || isOwn(status) else {
        try Path.removeIfThere(path)
        continue
      }
      do throws(Errno) {
        if try status.identity == Path.linkStatus(path).identity {
          if status.mode != 0o600 { try file.setMode(0o600) }
          return (SharedFile(file, status.identity), status.sizeBytes)
        }
      } catch {
        guard error == .noSuchFile else { throw error }
      }
    }
    throw .wouldBlock
  }
}

final class ContentHash {
  // SAFETY: created in init, freed in deinit, used by this object alone.
  private let sha256: OpaquePointer?
  private let sha512: OpaquePointer?
  private(set) var byteCount: Int64 = 0

  /// Fails if libcrypto lacks memory or the algorithms.
  init?(for spec: DownloadSpec) {
    let wants512 = !spec.sha512.isEmpty
    // The journal records SHA-256 if no hash is expected.
    let wants256 = !spec.sha256.isEmpty || !wants512
    sha256 = wants256 ? ctransfer_hash_create(256) : nil
    sha512 = wants512 ? ctransfer_hash_create(512) : nil
    if (wants256 && sha256 == nil) || (wants512 && sha512 == nil) { return nil }
  }

  deinit {
    ctransfer_hash_free(sha256)
    ctransfer_hash_free(sha512)
  }

  func reset() {
    byteCount = 0
    for hash in [sha256, sha512] {
      if let hash { check(ctransfer_hash_reset(hash)) }
    }
  }

  func update(_ bytes: UnsafeRawBufferPointer) {
    byteCount += Int64(bytes.count)
    // SAFETY: reads `count` bytes of the caller's buffer.
    if let sha256 { check(ctransfer_hash_update(sha256, bytes.baseAddress, bytes.count)) }
    if let sha512 { check(ctransfer_hash_update(sha512, bytes.baseAddress, bytes.count)) }
  }

  /// Hashing may continue.
  var facts: FileFacts {
    FileFacts(sizeBytes: byteCount, sha256: text(sha256), sha512: text(sha512))
  }

  private func text(_ hash: OpaquePointer?) -> String {
    guard let hash else { return "" }
    var bytes = [UInt8](repeating: 0, count: Int(CTRANSFER_HASH_LONGEST))
    // SAFETY: the shim writes at most CTRANSFER_HASH_LONGEST bytes.
    let count = ctransfer_hash_result(hash, &bytes)
    check(count)
    var text: [UInt8] = []
    for byte in bytes.prefix(Int(count)) {
      Hexadecimal.append(UInt64(byte), digitCount: 2, to: &text)
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// SHA-2 in memory cannot fail after its start, and a wrong hash must never be used.
  private func check(_ result: Int32) {
    precondition(result >= 0, "libcrypto cannot continue a hash")
  }
}

/// Decodes a part that the server encoded unasked, into a file beside it.
final class DecodedPart {
  private let part: PartFile
  private let path: String
  private let file: SharedFile
  private let hash: ContentHash
  /// Outermost first.
  private let layers: [Layer]
  private var position: Int64 = 0

  /// Decoded bytes per encoded byte if no size is known; text reaches 20.
  private static let mostGrowth: Int64 = 100
  private static let alwaysDecodedBytes: Int64 = 64 << 20

  private final class Layer {
    static let pieceBytes = 256 * 1024

    // SAFETY: created in init, freed in deinit, used by this object alone.
    let inflater: OpaquePointer
    let output = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceBytes, alignment: 64)
    var isAtEnd = false

    init?() {
      guard let inflater = ctransfer_inflate_create() else { return nil }
      self.inflater = inflater
    }

    deinit {
      ctransfer_inflate_free(inflater)
      output.deallocate()
    }
  }

  init(_ part: PartFile, layers count: Int) throws(DownloadFailure) {
    path = part.spec.decodedPath
    let layers = (0..<count).compactMap { _ in Layer() }
    guard let hash = ContentHash(for: part.spec), layers.count == count else {
      throw LocalFailure.of("cannot decode the content", .noMemory)
    }
    self.part = part
    self.hash = hash
    self.layers = layers
    try Place.clear(path)
    do throws(Errno) {
      file = try SharedFile(try File.open(path, [.readWrite, .create, .exclusive, .noFollow]))
    } catch {
      throw LocalFailure.of("cannot write \(path)", error)
    }
  }

  var facts: FileFacts { hash.facts }

  /// Returns false at the end.
  func advance() throws(DownloadFailure) -> Bool {
    let isMore = try part.withPiece(at: position) { piece throws(DownloadFailure) in
      if piece.isEmpty { return false }
      position += Int64(piece.count)
      try decode(piece, layers[...])
      return true
    }
    if !isMore, !layers.allSatisfy(\.isAtEnd) {
      throw DownloadFailure(.truncated, "the encoded content ends too early")
    }
    return isMore
  }

  private func decode(
    _ piece: UnsafeRawBufferPointer, _ layers: ArraySlice<Layer>
  ) throws(DownloadFailure) {
    guard let layer = layers.first else {
      try write(piece)
      return
    }
    let output = layer.output
    var rest = piece
    while true {
      var taken = 0
      var given = 0
      // SAFETY: reads at most `count` bytes of the piece, writes at most `pieceBytes`.
      let state = ctransfer_inflate_step(
        layer.inflater, rest.baseAddress?.assumingMemoryBound(to: UInt8.self), rest.count, &taken,
        output.baseAddress?.assumingMemoryBound(to: UInt8.self), output.count, &given)
      guard state >= 0 else {
        throw DownloadFailure(.encoding, "the encoded content is corrupt")
      }
      layer.isAtEnd = state == 1
      if given > 0 {
        try decode(UnsafeRawBufferPointer(rebasing: output[..<given]), layers.dropFirst())
      }
      rest = UnsafeRawBufferPointer(rebasing: rest[taken...])
      if rest.isEmpty, given < output.count { return }
    }
  }

  private func write(_ bytes: UnsafeRawBufferPointer) throws(DownloadFailure) {
    hash.update(bytes)
    if let size = part.spec.sizeBytes, hash.byteCount > size {
      throw DownloadFailure(.wrongSize, "decodes to more than the expected \(size) bytes")
    }
    if part.spec.sizeBytes == nil,
      hash.byteCount > max(Self.alwaysDecodedBytes, position * Self.mostGrowth)
    {
      throw DownloadFailure(
        .encoding,
        "decodes to more than \(Self.mostGrowth) times its encoded size (\(hash.byteCount) bytes so"
          + " far); if that is right, set `size`")
    }
    do throws(Errno) {
      try file.descriptor.writeAll(bytes)
    } catch {
      throw LocalFailure.of("cannot write \(path)", error)
    }
  }

  func finished(mode: UInt32) -> FinishedFile {
    FinishedFile(file, path: path, sizeBytes: hash.byteCount, target: part.spec.target, mode: mode)
  }

  func remove() { Place.remove(path, ifIs: file.identity) }
}
