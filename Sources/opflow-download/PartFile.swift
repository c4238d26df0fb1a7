internal import OpflowCore
internal import OpflowDownload
internal import OpflowSystem

/// Where a worker collects what it has not written of a file.
final class PieceBuffer {
  /// A piece, which begins at a multiple of itself.
  static let byteCount = 1024 * 1024

  // SAFETY: allocated in init, freed in deinit.
  let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 4096)

  deinit { bytes.deallocate() }
}

/// The buffer of the part that is worked on, which serves one after the other.
final class SpareBuffer {
  private var buffer = PieceBuffer()

  /// One that nobody else has.
  func take() -> PieceBuffer {
    if !isKnownUniquelyReferenced(&buffer) { buffer = PieceBuffer() }
    return buffer
  }
}

/// `to.part` and its record while a try works on them: bytes are hashed as they come, collected, and
/// written in large pieces.
///
/// Whatever kills this process, the part holds a prefix of what its record names: what was there is
/// removed in the order record, bytes, and what comes is written in that order too. A file that is
/// whole before anything of it was written needs no record: a part without one is worth nothing, or
/// what its hash proves.
///
/// Whole pieces go past the page cache where the file system can: the file is synced in the end, and
/// writing back a gigabyte page by page costs more than all the rest of a download. A piece that is
/// not whole yet is written the common way, and once more when it is.
final class PartFile {
  private enum RecordFile {
    /// Nobody has looked.
    case unknown
    case absent
    /// It says what `record` says.
    case current
    /// It is to be written before any further byte.
    case stale
  }

  let spec: DownloadSpec
  let hash: ContentHash
  /// Nil while the file is missing.
  private var shared: SharedFile?
  /// The same file past the page cache; nil where that cannot be, or before it was tried.
  private var direct: Descriptor?
  private var mayWriteDirectly = true
  /// Nil once nothing more is written or read.
  private var piece: PieceBuffer?
  /// The piece that is being filled, from `pieceStart` on.
  private var buffer: UnsafeMutableRawBufferPointer {
    guard let piece else { preconditionFailure("a part was used after its end") }
    return piece.bytes
  }
  private var pieceStart: Int64 = 0
  private var filledBytes = 0
  /// What has come is in `buffer` from the piece's start on: not so before the first byte.
  private var isFilling = false
  /// How long the file is.
  private(set) var writtenBytes: Int64 = 0
  /// A write failed, maybe half-way, as on a full disk: the file may be longer than that.
  private var isTorn = false
  private var writtenAt: Int64 = 0
  private(set) var record: PartRecord?
  private var recordFile = RecordFile.unknown

  /// Opens the part where there is one, and reads its record. One that is missing is made when there
  /// is something to write.
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

  /// The file, which nobody else writes.
  private func open() throws(DownloadFailure) -> SharedFile {
    if let shared { return shared }
    let (file, bytes) = try SharedFile.part(spec.partPath, of: spec.target)
    shared = file
    // It was missing when this try began, and another process has left it since.
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

  /// How long the part is, collected bytes included.
  var byteCount: Int64 { isFilling ? pieceStart + Int64(filledBytes) : writtenBytes }

  /// Bytes are collected that nobody has written since.
  func isDue(_ nanoseconds: Int64, after: Int64) -> Bool {
    byteCount > writtenBytes && nanoseconds - writtenAt >= after
  }

  // MARK: - Writing

  /// Notes what the bytes to come belong to.
  func note(_ record: PartRecord) {
    if self.record == record { return }
    self.record = record
    recordFile = .stale
  }

  /// What is to be written belongs to what the record says, or to nothing that it could say.
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
      // Not synced: a record from before a crash of the machine is not relied on.
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

  /// Empties it, and forgets what it held.
  func empty() throws(DownloadFailure) {
    isFilling = false
    record = nil
    hash.reset()
    if writtenBytes == 0 { return }
    try truncate(try open())
    writtenBytes = 0
  }

  /// Adds bytes at the end.
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

  /// Goes on behind what is written: the piece's beginning may be there already.
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

  /// Writes a piece that is whole, and begins the next.
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

  /// False when it could not be, which is then never tried again.
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
      // The common way says what is wrong, if anything is.
      mayWriteDirectly = false
      isTorn = true
      return false
    }
  }

  /// Writes what has come. `isWhole`: that is all of the file.
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
    // The piece that was torn, if one was, is written whole.
    isTorn = false
    writtenBytes = byteCount
  }

  /// Writes what has come, and what is known of it, for another try. Where something else stands in the
  /// part's place, nothing is known of that.
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

  /// Nobody else has made the file longer or shorter since it was written last.
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

  /// Writes what has come, and gives the buffer free for reading.
  private func setAside() throws(DownloadFailure) {
    try flush()
    isFilling = false
  }

  // MARK: - Reading

  /// Hashes the next piece of what is in the part and not in the hash. False once there is no more.
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

  /// Whether the part holds `bytes` from `offset` on.
  func holds(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(DownloadFailure) -> Bool {
    try setAside()
    let room = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(bytes.count, buffer.count)])
    let count = try read(into: room, at: offset)
    return count == bytes.count && buffer[..<count].elementsEqual(bytes)
  }

  /// Calls `body` with the bytes from `offset` on, at most a piece; nothing at the end.
  func withPiece<Result>(
    at offset: Int64, _ body: (UnsafeRawBufferPointer) throws(DownloadFailure) -> Result
  ) throws(DownloadFailure) -> Result {
    try setAside()
    let count = try read(into: buffer, at: offset)
    return try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
  }

  // MARK: - The end

  /// The part, which is whole and right, to be put in place of the target.
  func finished(mode: UInt32) throws(DownloadFailure) -> FinishedFile {
    let content = takeSmallContent()
    if content == nil { try flush(isWhole: true) }
    release()
    return FinishedFile(
      shared, path: spec.partPath, sizeBytes: writtenBytes, content: content, target: spec.target,
      mode: mode)
  }

  /// All of a small file of which nothing was written, for whoever puts it in place to write.
  private func takeSmallContent() -> FinishedFile.Content? {
    guard writtenBytes == 0, byteCount <= FinishedFile.mostContentBytes else { return nil }
    let content = FinishedFile.Content(
      bytes: isFilling ? Array(buffer[..<filledBytes]) : [], recordPath: spec.recordPath)
    writtenBytes = byteCount
    recordFile = .absent
    return content
  }

  /// Gives up the buffer: nothing more is written or read.
  func release() {
    isFilling = false
    piece = nil
  }

  /// Removes both files.
  func remove() {
    removeRecord()
    // A part that this process did not open is another one's.
    if let shared { Place.remove(spec.partPath, ifIs: shared.identity) }
  }

  func removeRecord() {
    record = nil
    // Where it stays it names a part that is gone or whole, which nobody takes for anything else.
    try? removeRecordFile()
  }

  private func removeRecordFile() throws(DownloadFailure) {
    if recordFile == .absent || shared == nil { return }
    try Place.clear(spec.recordPath)
    recordFile = .absent
  }
}
