internal import OpflowCore
internal import OpflowSystem

/// Reads the logs of running tasks for the view of progress, no more of them than somebody reads there.
/// Workers write them; a silent task has none.
struct TaskOutputFiles {
  /// Of what a task printed.
  enum Piece {
    case bytes(UnsafeRawBufferPointer)
    /// Left out, since the view was too far behind.
    case skipped(bytes: Int64, lines: Int?)
    /// The last bytes of a try that has ended.
    case tail(UnsafeRawBufferPointer)
    /// Where in the log all of that stands.
    case log(Range<Int64>)
  }

  typealias Sink = (TaskID, Piece) -> Void

  private let folder: RunFolder
  /// May have grown.
  var plan: Plan
  private var running: [TaskID: OpenLog] = [:]
  private var nextLook: Instant?
  /// There is more in the logs than there was room for.
  private var isBehind = false
  /// Which task is read first, so that all have their turn.
  private var turn = 0
  private let buffer = UnsafeMutableRawBufferPointer.allocate(
    byteCount: TaskOutputFiles.pieceBytes, alignment: 16)

  private static let pieceBytes = 32_768
  /// Between two looks at the logs of running tasks.
  private static let lookMilliseconds: Int64 = 100
  /// What one look takes at most, so that nothing waits for it.
  private static let lookBytes = 1 << 18
  /// Of a task that is further behind than that, and than there is room, only the newest is shown.
  private static let mostBehindBytes: Int64 = 1 << 20
  private static let newestBytes: Int64 = 65_536
  /// So much is shown of what a task printed before somebody came.
  private static let joinedLines = 10
  /// The beginning of a try is looked for in so many bytes at most.
  private static let searchedBytes: Int64 = 64 << 20
  /// Lines that are left out are counted in so many bytes at most.
  private static let countedBytes: Int64 = 4 << 20

  private final class OpenLog {
    var file: Descriptor?
    /// Read so far.
    var offset: Int64
    /// Where the try begins.
    var start: Int64
    init(offset: Int64) {
      self.offset = offset
      start = offset
    }
  }

  init(folder: RunFolder, plan: Plan) {
    self.folder = folder
    self.plan = plan
  }

  /// A try starts: what is in the log already belongs to others.
  mutating func begin(_ task: TaskID, attempt: Int32) {
    var offset: Int64 = 0
    if attempt > 1, let status = try? Path.status(path(task)) { offset = status.sizeBytes }
    running[task] = OpenLog(offset: offset)
  }

  /// A try runs already: its last lines and what it prints from now on are wanted as they come. Of what it has
  /// printed before, its end tells as of any other one.
  mutating func join(_ task: TaskID, attempt: Int32) {
    let log = OpenLog(offset: 0)
    running[task] = log
    guard let size = open(log, task) else { return }
    log.start = start(of: attempt, log, size)
    skipToLastLines(log, of: size)
  }

  /// A try runs since before the drive, where it was not known: what it prints from now on is wanted.
  mutating func goOn(_ task: TaskID, attempt: Int32) {
    if running[task] != nil { return }
    let log = OpenLog(offset: 0)
    running[task] = log
    guard let size = open(log, task) else { return }
    log.start = start(of: attempt, log, size)
    log.offset = size
  }

  /// Shows the last lines of all running attempts, and what they print from now on. What a service printed before
  /// this session began (`goOn`) was shown then.
  mutating func joinRunning() {
    for (task, log) in running where log.offset == log.start {
      if let size = open(log, task) { skipToLastLines(log, of: size) }
    }
  }

  private func skipToLastLines(_ log: OpenLog, of size: Int64) {
    let first = max(log.start, size - Int64(buffer.count))
    log.offset = first
    guard let bytes = read(log) else { return }
    log.offset =
      first
      + Int64(Self.lastLines(Self.joinedLines, of: bytes, areWhole: first == log.start))
  }

  /// Where the last lines begin, and the line that has no end yet after them.
  private static func lastLines(
    _ count: Int, of bytes: UnsafeRawBufferPointer, areWhole: Bool
  ) -> Int {
    var place = bytes.count
    var begin: Int?
    for _ in 0...count {
      guard let end = bytes[..<place].lastIndex(of: Field.lineFeed) else {
        return areWhole ? 0 : begin ?? bytes.count
      }
      begin = end + 1
      place = end
    }
    return begin ?? bytes.count
  }

  /// Gives the last bytes that a task has printed, in this try where it runs.
  func last(_ count: Int, of task: TaskID, _ sink: Sink) {
    let log = OpenLog(offset: running[task]?.start ?? 0)
    guard let size = open(log, task) else { return }
    log.offset = max(log.start, size - Int64(count))
    while let bytes = read(log) { sink(task, .tail(bytes)) }
  }

  /// Reads the next of what all is shown of a log: nothing at its end, or where it cannot be read.
  func read(_ range: LogRange, _ body: (UnsafeRawBufferPointer) -> Void) {
    let log = OpenLog(offset: range.bytes.lowerBound)
    let most = Int(clamping: range.bytes.upperBound - range.bytes.lowerBound)
    guard open(log, range.task) != nil, let bytes = read(log) else {
      return body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
    body(UnsafeRawBufferPointer(rebasing: bytes.prefix(most)))
  }

  /// A try ended: gives what was not given yet, as far as there is room, and then its last bytes.
  ///
  /// - Parameters:
  ///   - follows: what tasks print is wanted as it comes.
  ///   - tailBytes: how many of the last bytes are wanted.
  ///   - wantsLog: all of it is shown later.
  mutating func end(
    _ transition: Transition, follows: Bool, tailBytes: Int, wantsLog: Bool, room: () -> Int,
    _ sink: Sink
  ) {
    guard let log = running.removeValue(forKey: transition.task),
      transition.outcome.usage.outputBytes > 0, follows || wantsLog || tailBytes > 0
    else { return }
    let task = transition.task
    guard let size = open(log, task) else { return }
    if wantsLog, size > log.start { sink(task, .log(log.start..<size)) }
    if follows {
      skip(log, task, toLast: Int64(room()), of: size, sink)
      while room() > 0, let bytes = read(log) { sink(task, .bytes(bytes)) }
      skip(log, task, toLast: 0, of: size, sink)
    }
    if tailBytes > 0 {
      log.offset = max(log.start, size - Int64(tailBytes))
      while let bytes = read(log) { sink(task, .tail(bytes)) }
    }
  }

  /// Gives what came since the last look: every tenth of a second, and at once where more was there
  /// than one look takes.
  mutating func follow(at now: Instant, room: () -> Int, _ sink: Sink) {
    guard !running.isEmpty else {
      nextLook = nil
      isBehind = false
      return
    }
    // Without room the next turn comes when the reader has taken something.
    guard room() > 0 else {
      nextLook = nil
      isBehind = true
      return
    }
    if isBehind || nextLook.map({ $0 <= now }) ?? false { isBehind = look(room, sink) }
    if isBehind {
      nextLook = now
    } else if nextLook.map({ $0 <= now }) ?? true {
      nextLook = now.advanced(byMilliseconds: Self.lookMilliseconds)
    }
  }

  /// Gives what came since the last look, at once.
  mutating func catchUp(at now: Instant, room: () -> Int, _ sink: Sink) {
    isBehind = true
    follow(at: now, room: room, sink)
  }

  var nextWake: Instant? { nextLook }

  /// Reads of each log in turn; whether more is there.
  private mutating func look(_ room: () -> Int, _ sink: Sink) -> Bool {
    let logs = Array(running)
    turn += 1
    var left = Self.lookBytes
    var open = (0..<logs.count).map { logs[($0 + turn) % logs.count] }
    while !open.isEmpty {
      open = open.filter { task, log in
        guard left > 0, room() > 0 else { return true }
        guard let size = self.open(log, task) else { return false }
        if size - log.offset > max(Self.mostBehindBytes, Int64(room())) {
          skip(log, task, toLast: Self.newestBytes, of: size, sink)
        }
        guard let bytes = read(log) else { return false }
        left -= bytes.count
        sink(task, .bytes(bytes))
        return bytes.count == buffer.count
      }
      if left <= 0 || room() == 0 { break }
    }
    return !open.isEmpty
  }

  private func path(_ task: TaskID) -> String { folder.log(of: task, in: plan) }

  /// The log's size. A log that is not there yet, or cannot be read, shows nothing; the task itself is
  /// unharmed.
  private func open(_ log: OpenLog, _ task: TaskID) -> Int64? {
    if log.file == nil { log.file = try? File.openRegular(path(task), .readOnly) }
    return try? log.file?.status().sizeBytes
  }

  /// Where a try begins, of which the log may hold others before it: at the line that stands before what it prints,
  /// or, where it has printed nothing yet, at the end.
  private func start(of attempt: Int32, _ log: OpenLog, _ size: Int64) -> Int64 {
    if attempt <= 1 { return 0 }
    let header = [Field.lineFeed] + Array(AttemptHeader.line(attempt).utf8)
    var end = size
    while end > 0 {
      // What lies further back is that try's too, or nobody would have been told so much of it.
      if size - end >= Self.searchedBytes { return end }
      let begin = max(0, end - Int64(buffer.count))
      guard let count = try? log.file?.read(into: buffer, at: begin), count > 0 else { return size }
      let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      if let place = Self.last(header, in: bytes) { return begin + Int64(place) + 1 }
      if begin == 0 { return bytes.starts(with: header.dropFirst()) ? 0 : size }
      // The line may stand across two pieces.
      end = begin + Int64(header.count)
    }
    return size
  }

  /// Where some bytes begin that stand in others, the last time that they do.
  private static func last(_ wanted: [UInt8], in bytes: UnsafeRawBufferPointer) -> Int? {
    var place = bytes.count - wanted.count
    while place >= 0 {
      if bytes[place] == wanted[0], bytes[place...].starts(with: wanted) { return place }
      place -= 1
    }
    return nil
  }

  private func read(_ log: OpenLog) -> UnsafeRawBufferPointer? {
    guard let count = try? log.file?.read(into: buffer, at: log.offset), count > 0 else {
      return nil
    }
    log.offset += Int64(count)
    return UnsafeRawBufferPointer(rebasing: buffer[..<count])
  }

  /// Leaves out all but about the last bytes, and tells that; from there on lines are whole.
  private func skip(
    _ log: OpenLog, _ task: TaskID, toLast newest: Int64, of size: Int64, _ sink: Sink
  ) {
    let start = log.offset
    guard size - newest > start else { return }
    let end = newest == 0 ? size : lineStart(log, from: size - newest)
    let lines = end - start <= Self.countedBytes ? lineCount(log, from: start, to: end) : nil
    log.offset = end
    sink(task, .skipped(bytes: end - start, lines: lines))
  }

  /// Where a line starts at or soon behind an offset.
  private func lineStart(_ log: OpenLog, from offset: Int64) -> Int64 {
    guard let count = try? log.file?.read(into: buffer, at: offset),
      let end = buffer[..<count].firstIndex(of: Field.lineFeed)
    else { return offset }
    return offset + Int64(end) + 1
  }

  private func lineCount(_ log: OpenLog, from start: Int64, to end: Int64) -> Int? {
    var lines = 0
    var offset = start
    var last: UInt8 = Field.lineFeed
    while offset < end {
      guard let count = try? log.file?.read(into: buffer, at: offset), count > 0 else { return nil }
      let part = buffer[..<Int(min(Int64(count), end - offset))]
      for byte in part where byte == Field.lineFeed { lines += 1 }
      last = part.last ?? last
      offset += Int64(part.count)
    }
    return last == Field.lineFeed ? lines : lines + 1
  }
}
