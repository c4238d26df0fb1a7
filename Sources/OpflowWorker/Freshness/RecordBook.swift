internal import OpflowBase
package import OpflowSystem

/// The records of a state folder, shared by all processes that use it: read as the file grows, and
/// appended to under a lock.
package final class RecordBook {
  package let path: String
  /// nil if only read.
  private let locks: ByteLocks?
  private var file: Descriptor
  private var identity: FileIdentity
  private var index = RecordIndex()
  private var refreshed: [Refreshed] = []
  private var refreshedBytes = 0

  /// `state` must exist. `sharesLocks`: this is a worker, whose coordinator holds its locks too.
  package init(state: String, sharesLocks: Bool = false) throws(Errno) {
    path = Self.path(in: state)
    let locked = Self.lockPath(in: state)
    locks = try sharesLocks ? ByteLocks(sharing: locked) : ByteLocks(locked)
    file = try Self.open(path)
    identity = try file.status().identity
  }

  package static func path(in state: String) -> String { state + "/records" }
  package static func lockPath(in state: String) -> String { state + "/records.lock" }

  /// The file that cannot be opened, after an error.
  package static func badPath(in state: String) -> String {
    let lock = lockPath(in: state)
    return (try? File.openRegular(lock, .readWrite)) == nil ? lock : path(in: state)
  }

  /// nil without records.
  package init?(readingIn state: String) throws(Errno) {
    path = Self.path(in: state)
    locks = nil
    do throws(Errno) {
      file = try File.openRegular(path, .readOnly)
    } catch .noSuchFile {
      return nil
    }
    identity = try file.status().identity
  }

  private func open() throws(Errno) -> Descriptor {
    try locks == nil ? File.openRegular(path, .readOnly) : Self.open(path)
  }

  private static func open(_ path: String) throws(Errno) -> Descriptor {
    try File.openRegular(path, [.readWrite, .create, .append])
  }

  // MARK: - Reading

  /// Reads what was added. A replaced file is read from the start.
  package func follow() throws(Errno) { _ = try follow(pieces: .max) }

  /// Returns true at the end.
  package func followALittle() throws(Errno) -> Bool { try follow(pieces: 4) }

  private func follow(pieces: Int) throws(Errno) -> Bool {
    if let now = try? Path.status(path), now.identity != identity {
      file = try open()
      identity = try file.status().identity
      index = RecordIndex()
    }
    return try RecordPieces.follow(file, &index, pieces: pieces)
  }

  /// As of the last `follow`.
  package func record(of task: UInt64) throws(Errno) -> SuccessRecord? {
    guard let place = index[task] else { return nil }
    return try RecordPieces.record(in: file, at: place)
  }

  /// As of the last `follow`.
  func leftFiles(of task: UInt64) throws(Errno) -> LeftFiles {
    let attempt = index.attempt(task)
    var files = LeftFiles()
    if let place = index[task] ?? attempt?.left,
      let record = try RecordPieces.record(in: file, at: place)
    {
      files.made = record.madeOutputs
      files.untouched = Set(record.untouchedOutputs)
      files.changed = Set(record.changedOutputs)
    }
    if let place = attempt?.start {
      var bytes = [UInt8](repeating: 0, count: place.end - place.start)
      _ = try RecordPieces.read(file, from: place.start, into: &bytes)
      let strangers = bytes.withUnsafeBytes {
        RecordLines.strangers(ofVoid: $0.part(0, max(0, $0.count - 1)))
      }
      files.strangersOfLost = strangers.map { Set($0) }
    }
    return files
  }

  // MARK: - Adding

  /// Discards a task's record because the task is about to start.
  ///
  /// - Parameters:
  ///   - strangers: the paths at its outputs that are not its own; nil if unknown.
  ///   - origin: the number of the success that the check used, 0 for none; nil if unknown.
  /// - Returns: false, without a write, if the task has another success by now.
  @discardableResult
  package func void(
    _ task: UInt64, strangers: [[UInt8]]? = nil, ifStill origin: UInt64? = nil,
    atMilliseconds now: Int64
  ) throws(Errno) -> Bool {
    // Read a long file before taking the lock.
    if origin != nil, index.byteCount == 0 { try follow() }
    var isStill = true
    try append { write throws(Errno) in
      if let origin {
        try self.follow()
        isStill = self.origin(of: task) == origin
      }
      if isStill {
        try write(RecordLines.void(task, strangers: strangers, atMilliseconds: now))
      }
    }
    return isStill
  }

  /// `isSuccess` is false for the files of an unsuccessful attempt; `name` is for readers of the
  /// file.
  package func append(
    _ record: SuccessRecord, isSuccess: Bool = true, of task: UInt64,
    name: UnsafeRawBufferPointer, atMilliseconds now: Int64
  ) throws(Errno) {
    try append { write throws(Errno) in
      try RecordLines.forEachPiece(
        record, isSuccess: isSuccess, of: task, name: name, atMilliseconds: now, write)
    }
  }

  /// Queues a new block for a valid record, with fresh stamps and hashes; `writeRefreshed` writes
  /// it if the record is still at `place`. If that never happens, files are only read again.
  /// `name`, for readers of the file, must stay valid until then.
  package func refresh(
    _ task: UInt64, with record: SuccessRecord, name: UnsafeRawBufferPointer,
    insteadOf place: RecordIndex.Place?, atMilliseconds now: Int64
  ) throws(Errno) {
    if locks == nil { return }
    refreshed.append(
      Refreshed(task: task, record: record, name: name, milliseconds: now, place: place))
    refreshedBytes += place.map { $0.end - $0.start } ?? 0
    if refreshedBytes >= Self.mostRefreshedBytes { try writeRefreshed() }
  }

  private struct Refreshed {
    let task: UInt64
    let record: SuccessRecord
    let name: UnsafeRawBufferPointer
    let milliseconds: Int64
    let place: RecordIndex.Place?
  }

  /// By the blocks' former sizes.
  private static let mostRefreshedBytes = 128 << 10

  package func writeRefreshed() throws(Errno) {
    if refreshed.isEmpty { return }
    let blocks = refreshed
    refreshed.removeAll()
    refreshedBytes = 0
    try append { write throws(Errno) in
      try? self.follow()
      var bytes: [UInt8] = []
      for block in blocks where self.index[block.task] == block.place {
        try RecordLines.forEachPiece(
          block.record, of: block.task, name: block.name, atMilliseconds: block.milliseconds
        ) { piece throws(Errno) in
          bytes += piece
          if bytes.count < Self.mostRefreshedBytes { return }
          try write(bytes)
          bytes.removeAll(keepingCapacity: true)
        }
      }
      try write(bytes)
    }
  }

  package func place(of task: UInt64) -> RecordIndex.Place? { index[task] }

  /// The number of a task's success as of the last `follow`; 0 for none.
  package func origin(of task: UInt64) -> UInt64 { index[task]?.origin ?? 0 }

  /// Appends after the last complete line: everything or nothing. `body` gets a function that
  /// writes, under the lock. Throws `wouldBlock` if another process keeps the lock.
  private func append(
    _ body: (_ write: ([UInt8]) throws(Errno) -> Void) throws(Errno) -> Void
  ) throws(Errno) {
    try lockFile(patience: Self.lockPatience)
    defer { file.unlock() }
    let size = try cutPartialLine(of: try file.status().sizeBytes)
    do throws(Errno) {
      try body { bytes throws(Errno) in
        if !bytes.isEmpty { try self.file.writeAll(bytes) }
      }
    } catch {
      // A partial block is invalid and would also spoil the first line of the next one.
      try? file.truncate(to: size)
      throw error
    }
  }

  /// Removes the incomplete last line that a crash left; returns the remaining size. Readers have
  /// not used it, since `RecordIndex` waits for its end. A newline after it would make it a damaged
  /// line, which invalidates everything before it.
  private func cutPartialLine(of size: Int64) throws(Errno) -> Int64 {
    var tail: [UInt8] = [Field.lineFeed]
    if size > 0 { _ = try RecordPieces.read(file, from: Int(size) - 1, into: &tail) }
    if tail == [Field.lineFeed] { return size }
    tail = [UInt8](repeating: 0, count: min(Int(size), RecordPieces.chunkBytes))
    let start = Int(size) - tail.count
    _ = try RecordPieces.read(file, from: start, into: &tail)
    let lineFeed = tail.lastIndex(of: Field.lineFeed)
    if lineFeed == nil, start > 0 {
      // Longer than any valid line: readers treat it as damage anyway.
      try file.writeAll([Field.lineFeed])
      return size
    }
    let end = Int64(start + (lineFeed.map { $0 + 1 } ?? 0))
    try file.truncate(to: end)
    return end
  }

  /// Longer waits would block heartbeats and stop requests, and a stopped process may keep the lock
  /// forever. Others hold it only while they write some lines.
  private static let lockPatience: Int64 = 200_000_000

  /// Reopens a replaced file. `patience` is in nanoseconds; nil waits without limit.
  private func lockFile(patience: Int64?) throws(Errno) {
    while true {
      if let patience { try lock(file, patience) } else { try file.lock() }
      if let now = try? Path.status(path), now.identity == identity { return }
      file = try Self.open(path)
      identity = try file.status().identity
      index = RecordIndex()
    }
  }

  /// True if the records can be locked now, or soon if `isPatient`.
  package func isFree(isPatient: Bool) -> Bool {
    do throws(Errno) {
      try lockFile(patience: isPatient ? Self.lockPatience : 0)
      file.unlock()
      return true
    } catch {
      // Appending a record reports other errors.
      return error != .wouldBlock
    }
  }

  private func lock(_ file: borrowing Descriptor, _ patience: Int64) throws(Errno) {
    if try file.tryLock() { return }
    let deadline = Clock.monotonicNanoseconds + patience
    repeat {
      if Clock.monotonicNanoseconds >= deadline { throw .wouldBlock }
      Clock.sleep(milliseconds: 1)
    } while try !file.tryLock()
  }

  // MARK: - Shortening

  /// Keeps only the valid record of each task. Writers wait meanwhile, and all readers notice the
  /// new file.
  package func shorten() throws(Errno) { try shorten(patience: nil) }

  private func shorten(patience: Int64?) throws(Errno) {
    try lockFile(patience: patience)
    defer { file.unlock() }
    try follow()
    let places = index.all
    let size = try file.status().sizeBytes
    if places.reduce(0, { $0 + $1.end - $1.start }) == size { return }
    let new = path + ".new"
    do throws(Errno) {
      try copy(places, to: new)
      try Path.rename(new, to: path)
    } catch {
      try? Path.removeIfThere(new)
      throw error
    }
  }

  /// Every run reads the whole file.
  package func shortenIfWasteful() {
    // Another process may have shortened it.
    guard index.isWasteful, let now = try? Path.status(path), now.identity == identity else {
      return
    }
    // A failure leaves the file as it was.
    try? shorten(patience: Self.lockPatience)
  }

  private func copy(_ places: [RecordIndex.Place], to path: String) throws(Errno) {
    let copy = try File.openRegular(path, [.writeOnly, .create, .truncate])
    for place in places {
      var start = place.start
      while start < place.end {
        var bytes = [UInt8](repeating: 0, count: min(place.end - start, RecordPieces.chunkBytes))
        let count = try RecordPieces.read(file, from: start, into: &bytes)
        // The locked file cannot get shorter.
        if count < bytes.count { throw .ioError }
        try copy.writeAll(bytes)
        start += count
      }
    }
    try copy.sync()
  }

  // MARK: - Holding

  private static func place(_ task: UInt64) -> Int64 { Int64(task >> 2) }

  /// False if another run holds the task.
  package func take(_ task: UInt64) throws(Errno) -> Bool {
    try locks?.take(Self.place(task)) ?? false
  }

  package func give(_ task: UInt64) throws(Errno) { try locks?.give(Self.place(task)) }

  package func isTaken(_ task: UInt64) throws(Errno) -> Bool {
    try locks?.isTaken(Self.place(task)) ?? false
  }

  package func isAnyTaken() throws(Errno) -> Bool { try locks?.isAnyTaken() ?? false }
}

/// Reads in pieces, since a block may list millions of files.
enum RecordPieces {
  /// No line is longer.
  static let chunkBytes = 1 << 20

  /// Indexes at most `pieces` pieces; returns true at the end of the file.
  @discardableResult
  static func follow(
    _ file: borrowing Descriptor, _ index: inout RecordIndex, pieces: Int = .max
  ) throws(Errno) -> Bool {
    var left = pieces
    var size = try file.status().sizeBytes
    if size < Int64(index.byteCount) { index = RecordIndex() }
    var room: [UInt8] = []
    while Int64(index.byteCount) < size {
      if left == 0 { return false }
      left -= 1
      let before = index.byteCount
      let wanted = min(Int(size) - before, chunkBytes)
      if room.count < wanted { room = [UInt8](repeating: 0, count: wanted) }
      let count = try read(file, from: before, into: &room)
      room.withUnsafeBytes { index.read(growing: $0.part(0, count)) }
      if index.byteCount == before {
        // An incomplete line, or one longer than any valid line.
        if count < chunkBytes { return true }
        index.skipDamage(count)
      }
      size = try file.status().sizeBytes
    }
    return true
  }

  static func record(
    in file: borrowing Descriptor, at place: RecordIndex.Place
  ) throws(Errno) -> SuccessRecord? {
    var reader = RecordReader(byteCount: place.end - place.start)
    var room = [UInt8](repeating: 0, count: min(place.end - place.start, chunkBytes))
    var start = place.start
    while start < place.end {
      let count = min(try read(file, from: start, into: &room), place.end - start)
      let taken = room.withUnsafeBytes { take($0.part(0, count), &reader) }
      guard let taken, taken > 0 else { return nil }
      start += taken
    }
    return reader.whole
  }

  /// The size of the complete lines; nil if one is invalid.
  private static func take(_ bytes: UnsafeRawBufferPointer, _ reader: inout RecordReader) -> Int? {
    var position = 0
    while true {
      let end = bytes.position(of: Field.lineFeed, from: position)
      if end == bytes.count { return position }
      guard reader.take(bytes.part(position, end)) else { return nil }
      position = end + 1
    }
  }

  static func read(
    _ file: borrowing Descriptor, from start: Int, into bytes: inout [UInt8]
  ) throws(Errno) -> Int {
    var filled = 0
    while filled < bytes.count {
      let from = filled
      let got = try bytes.withUnsafeMutableBufferPointer { room throws(Errno) in
        try file.read(
          into: UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: room[from...])),
          at: Int64(start + from))
      }
      if got == 0 { break }
      filled += got
    }
    return filled
  }
}
