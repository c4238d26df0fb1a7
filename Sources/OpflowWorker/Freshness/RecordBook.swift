package import OpflowCore
package import OpflowSystem

/// The records of a state folder, shared by all processes that work in it: read as they grow, added to
/// under a lock.
package final class RecordBook {
  private let path: String
  /// Nil in one that is only read.
  private let locks: ByteLocks?
  private var file: Descriptor
  private var identity: FileIdentity
  private var index = RecordIndex()
  private var refreshed: [Refreshed] = []
  private var refreshedBytes = 0

  /// Read at once at most.
  private static let chunkBytes = 1 << 20

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
      file = try File.open(path, [.readOnly, .noFollow])
    } catch .noSuchFile {
      return nil
    }
    identity = try file.status().identity
  }

  private func open() throws(Errno) -> Descriptor {
    try locks == nil ? File.open(path, [.readOnly, .noFollow]) : Self.open(path)
  }

  private static func open(_ path: String) throws(Errno) -> Descriptor {
    try File.open(path, [.readWrite, .create, .append, .noFollow], mode: 0o600)
  }

  // MARK: - Reading

  /// Takes in what was added since. A file that was put in its place is read from its beginning.
  package func follow() throws(Errno) {
    if let now = try? Path.status(path), now.identity != identity {
      file = try open()
      identity = try file.status().identity
      index = RecordIndex()
    }
    var size = try file.status().sizeBytes
    if size < Int64(index.byteCount) { index = RecordIndex() }
    var room: [UInt8] = []
    while Int64(index.byteCount) < size {
      let before = index.byteCount
      let wanted = min(Int(size) - before, Self.chunkBytes)
      if room.count < wanted { room = Self.room(wanted) }
      let count = try read(from: before, into: &room)
      room.withUnsafeBytes { index.read(growing: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
      if index.byteCount == before {
        // A line that is not whole yet, or longer than any that is written here.
        if count < Self.chunkBytes { return }
        index.skipDamage(count)
      }
      size = try file.status().sizeBytes
    }
  }

  private static func room(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

  private func read(from start: Int, count: Int) throws(Errno) -> [UInt8] {
    var bytes = Self.room(count)
    bytes.removeLast(count - (try read(from: start, into: &bytes)))
    return bytes
  }

  /// Fills it, but for what stands behind the end of the file.
  ///
  /// - Returns: how many bytes there were.
  private func read(from start: Int, into bytes: inout [UInt8]) throws(Errno) -> Int {
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

  /// What is known of a task, as of the last `follow`; nil for nothing.
  package func record(of task: UInt64) throws(Errno) -> SuccessRecord? {
    guard let place = index[task] else { return nil }
    let bytes = try read(from: place.start, count: place.end - place.start)
    return bytes.withUnsafeBytes { RecordLines.record($0) }
  }

  // MARK: - Adding

  /// The task is about to start: what is known of it holds no more.
  package func void(_ task: UInt64, atMilliseconds now: Int64) throws(Errno) {
    try append { RecordLines.void(task, atMilliseconds: now) }
  }

  package func append(_ block: [UInt8]) throws(Errno) { try append { block } }

  /// Adds another block for what holds already, if that still does when it is written: with others, at the
  /// next `writeRefreshed`. What comes to no file has to be read again the next time.
  package func refresh(
    _ task: UInt64, with block: [UInt8], insteadOf place: RecordIndex.Place?
  ) {
    refreshed.append(Refreshed(task: task, block: block, place: place))
    refreshedBytes += block.count
    if refreshedBytes >= Self.mostRefreshedBytes { writeRefreshed() }
  }

  private struct Refreshed {
    let task: UInt64
    let block: [UInt8]
    let place: RecordIndex.Place?
  }

  /// That wait to be written.
  private static let mostRefreshedBytes = 128 << 10

  /// Writes down what was refreshed.
  package func writeRefreshed() {
    if refreshed.isEmpty { return }
    let blocks = refreshed
    refreshed.removeAll()
    refreshedBytes = 0
    try? append {
      try? self.follow()
      return blocks.flatMap { self.index[$0.task] == $0.place ? $0.block : [] }
    }
  }

  package func place(of task: UInt64) -> RecordIndex.Place? { index[task] }

  /// All of it or nothing, behind a whole line.
  ///
  /// - Parameter blocks: is asked when nobody else can add anything.
  private func append(_ blocks: () -> [UInt8]) throws(Errno) {
    try lockFile()
    defer { file.unlock() }
    var lines = blocks()
    if lines.isEmpty { return }
    let size = try file.status().sizeBytes
    if size > 0, try read(from: Int(size) - 1, count: 1).first != UInt8(ascii: "\n") {
      lines.insert(UInt8(ascii: "\n"), at: 0)
    }
    do throws(Errno) {
      try file.writeAll(lines)
    } catch {
      // Half a block would be none, and would take the next one's first line with it.
      try? file.truncate(to: size)
      throw error
    }
  }

  /// Of the file that stands there now.
  private func lockFile() throws(Errno) {
    while true {
      try file.lock()
      if let now = try? Path.status(path), now.identity == identity { return }
      file = try Self.open(path)
      identity = try file.status().identity
      index = RecordIndex()
    }
  }

  // MARK: - Shortening

  /// Writes the file anew, with what is known of each task and nothing else. Who wants to add to it waits
  /// meanwhile, and all who have it open notice.
  package func shorten() throws(Errno) {
    try lockFile()
    defer { file.unlock() }
    try follow()
    let places = index.all.map(\.place)
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
    try? shorten()
  }

  private func copy(_ places: [RecordIndex.Place], to path: String) throws(Errno) {
    let copy = try File.open(path, [.writeOnly, .create, .truncate, .noFollow], mode: 0o600)
    for place in places {
      var start = place.start
      while start < place.end {
        let bytes = try read(from: start, count: min(place.end - start, Self.chunkBytes))
        // Nobody cuts off what is locked.
        if bytes.isEmpty { throw .ioError }
        try copy.writeAll(bytes)
        start += bytes.count
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
}
