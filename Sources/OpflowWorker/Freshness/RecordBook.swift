package import OpflowCore
package import OpflowSystem

/// The records of a state folder, shared by all processes that work in it: read as they grow, added to
/// under a lock.
package final class RecordBook {
  package let path: String
  /// Nil in one that is only read.
  private let locks: ByteLocks?
  private var file: Descriptor
  private var identity: FileIdentity
  private var index = RecordIndex()
  private var refreshed: [Refreshed] = []
  private var refreshedBytes = 0

  /// - Parameter state: the folder, which is there.
  package init(state: String) throws(Errno) {
    path = Self.path(in: state)
    locks = try ByteLocks(state + "/records.lock")
    file = try Self.open(path)
    identity = try file.status().identity
  }

  package static func path(in state: String) -> String { state + "/records" }

  /// Of a state folder that nothing is to be written to; nil where there are no records.
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

  /// Takes in what was added since. A file that was put in its place is read from its beginning.
  package func follow() throws(Errno) { _ = try follow(pieces: .max) }

  /// Takes in a part of that.
  ///
  /// - Returns: whether that was all.
  package func followALittle() throws(Errno) -> Bool { try follow(pieces: 4) }

  private func follow(pieces: Int) throws(Errno) -> Bool {
    if let now = try? Path.status(path), now.identity != identity {
      file = try open()
      identity = try file.status().identity
      index = RecordIndex()
    }
    return try RecordPieces.follow(file, &index, pieces: pieces)
  }

  /// What is known of a task, as of the last `follow`; nil for nothing.
  package func record(of task: UInt64) throws(Errno) -> SuccessRecord? {
    guard let place = index[task] else { return nil }
    return try RecordPieces.record(in: file, at: place)
  }

  /// What is known of the files that earlier attempts of a task left, as of the last `follow`.
  func leftFiles(of task: UInt64) throws(Errno) -> LeftFiles {
    let attempt = index.attempt(task)
    var files = LeftFiles()
    if let place = index[task] ?? attempt?.left,
      let record = try RecordPieces.record(in: file, at: place)
    {
      files.made = record.madeOutputs
      files.untouched = Set(record.untouchedOutputs)
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

  /// The task is about to start: what is known of it holds no more.
  ///
  /// - Parameters:
  ///   - strangers: the paths under its outputs that are not its own; nil where that is not known.
  ///   - origin: of the success that its check saw, 0 for none; nil where nobody knows.
  /// - Returns: false where another one is known by now. Then nothing is written.
  @discardableResult
  package func void(
    _ task: UInt64, strangers: [[UInt8]]? = nil, ifStill origin: UInt64? = nil,
    atMilliseconds now: Int64
  ) throws(Errno) -> Bool {
    // All of a long file is read while others may add to it.
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

  /// - Parameters:
  ///   - isSuccess: false for what an attempt left that is not one.
  ///   - name: the task's, for people.
  package func append(
    _ record: SuccessRecord, isSuccess: Bool = true, of task: UInt64,
    name: UnsafeRawBufferPointer, atMilliseconds now: Int64
  ) throws(Errno) {
    try append { write throws(Errno) in
      try RecordLines.forEachPiece(
        record, isSuccess: isSuccess, of: task, name: name, atMilliseconds: now, write)
    }
  }

  /// Adds another block for what holds already, if that still does when it is written: with others, at the
  /// next `writeRefreshed`. What comes to no file has to be read again the next time.
  ///
  /// - Parameter name: the task's, for people; it stays until then.
  package func refresh(
    _ task: UInt64, with record: SuccessRecord, name: UnsafeRawBufferPointer,
    insteadOf place: RecordIndex.Place?, atMilliseconds now: Int64
  ) throws(Errno) {
    // One that is only read.
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

  /// That wait to be written, as long as they were before.
  private static let mostRefreshedBytes = 128 << 10

  /// Writes down what was refreshed.
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

  /// The number of the success that is known of a task, as of the last `follow`; 0 for none.
  package func origin(of task: UInt64) -> UInt64 { index[task]?.origin ?? 0 }

  /// All of it or nothing, behind the last whole line.
  ///
  /// - Parameter body: gets what writes bytes, when nobody else can add anything.
  /// - Throws: `wouldBlock` where somebody else does not give the lock up.
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
      // Half a block would be none, and would take the next one's first line with it.
      try? file.truncate(to: size)
      throw error
    }
  }

  /// Cuts off the part of a line at the end, which a crash or a loss of power left. Nobody has believed it, since
  /// `RecordIndex` leaves it for the next time; with an end it would be a damaged line, for which nothing before it
  /// would be believed.
  ///
  /// - Returns: how much is left.
  private func cutPartialLine(of size: Int64) throws(Errno) -> Int64 {
    var tail: [UInt8] = [Field.lineFeed]
    if size > 0 { _ = try RecordPieces.read(file, from: Int(size) - 1, into: &tail) }
    if tail == [Field.lineFeed] { return size }
    tail = [UInt8](repeating: 0, count: min(Int(size), RecordPieces.chunkBytes))
    let start = Int(size) - tail.count
    _ = try RecordPieces.read(file, from: start, into: &tail)
    let lineFeed = tail.lastIndex(of: Field.lineFeed)
    if lineFeed == nil, start > 0 {
      // More than any line has is damage to all readers, whatever follows.
      try file.writeAll([Field.lineFeed])
      return size
    }
    let end = Int64(start + (lineFeed.map { $0 + 1 } ?? 0))
    try file.truncate(to: end)
    return end
  }

  /// For the lock: who waits for longer neither answers nor ends when told to, and somebody who was stopped
  /// may never give it up. Others have it for as long as it takes to write some lines.
  private static let lockPatience: Int64 = 200_000_000

  /// Of the file that stands there now.
  ///
  /// - Parameter patience: in nanoseconds; nil to wait for as long as it takes.
  private func lockFile(patience: Int64?) throws(Errno) {
    while true {
      if let patience { try lock(file, patience) } else { try file.lock() }
      if let now = try? Path.status(path), now.identity == identity { return }
      file = try Self.open(path)
      identity = try file.status().identity
      index = RecordIndex()
    }
  }

  /// Whether something can be added, as far as others are concerned: nobody keeps the lock for long.
  ///
  /// - Parameter isPatient: false to look once only.
  package func isFree(isPatient: Bool) -> Bool {
    do throws(Errno) {
      try lockFile(patience: isPatient ? Self.lockPatience : 0)
      file.unlock()
      return true
    } catch {
      // What else is the matter tells itself when something is added.
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

  /// Writes the file anew, with what is known of each task and nothing else. Who wants to add to it waits
  /// meanwhile, and all who have it open notice.
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

  /// The same where that is worth it, as far as is known here; every run reads all of the file.
  package func shortenIfWasteful() {
    // Who was first has done it.
    guard index.isWasteful, let now = try? Path.status(path), now.identity == identity else {
      return
    }
    // It is as good as before where that fails.
    try? shorten(patience: Self.lockPatience)
  }

  private func copy(_ places: [RecordIndex.Place], to path: String) throws(Errno) {
    let copy = try File.openRegular(path, [.writeOnly, .create, .truncate])
    for place in places {
      var start = place.start
      while start < place.end {
        var bytes = [UInt8](
          repeating: 0, count: min(place.end - start, RecordPieces.chunkBytes))
        let count = try RecordPieces.read(file, from: start, into: &bytes)
        // Nobody cuts off what is locked.
        if count < bytes.count { throw .ioError }
        try copy.writeAll(bytes)
        start += count
      }
    }
    try copy.sync()
  }

  // MARK: - Holding

  private static func place(_ task: UInt64) -> Int64 { Int64(task >> 2) }

  /// Takes the task for this process alone; false where another run has it.
  package func take(_ task: UInt64) throws(Errno) -> Bool {
    try locks?.take(Self.place(task)) ?? false
  }

  package func give(_ task: UInt64) throws(Errno) { try locks?.give(Self.place(task)) }

  /// Whether another process has it.
  package func isTaken(_ task: UInt64) throws(Errno) -> Bool {
    try locks?.isTaken(Self.place(task)) ?? false
  }

  /// Whether another process has any.
  package func isAnyTaken() throws(Errno) -> Bool { try locks?.isAnyTaken() ?? false }
}
