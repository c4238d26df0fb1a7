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

/// `to.part` and its record during an attempt: bytes are hashed as they come, and written in large
/// pieces.
///
/// After a kill at any point the part is a prefix of what its record names: the record is removed
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
  /// nil after the last read or write.
  private var piece: PieceBuffer?
  /// From `pieceStart` on.
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

  /// Locks the file.
  private func open() throws(DownloadFailure) -> SharedFile {
    if let shared { return shared }
    let (file, bytes) = try SharedFile.part(spec.partPath, of: spec.target)
    shared = file
    // Another process left it after this attempt began.
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

  /// The owner of the following bytes.
  func note(_ record: PartRecord) {
    if self.record == record { return }
    self.record = record
    recordFile = .stale
  }

  /// Makes the record match the bytes to be written.
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

  /// `isWhole`: the bytes complete the file.
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

  /// Writes bytes and record for another attempt, unless another file has replaced the part.
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
      throw LocalFailure.of("cannot look at \(spec.partPath)", error)
    }
    if bytes != writtenBytes {
      throw FinishedFile.replaced("\(spec.partPath) has another length by now", spec.target)
    }
  }

  /// Frees the buffer for reading.
  private func setAside() throws(DownloadFailure) {
    try flush()
    isFilling = false
  }

  // MARK: - Reading

  /// Returns false at the end.
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

  /// At most one piece; empty at the end.
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

  /// For the settler to write.
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
