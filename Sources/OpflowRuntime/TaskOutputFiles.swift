internal import OpflowBase
internal import OpflowJournal
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowViews

/// Reads the logs of running tasks for the progress view, no faster than its reader. Workers write
/// the logs; a silent task has none.
final class TaskOutputFiles {
  enum Piece {
    case bytes(UnsafeRawBufferPointer)
    /// The view was too far behind.
    case skipped(bytes: Int64, lines: Int?)
  }

  private let folder: RunFolder
  var plan: Plan
  private var running: [TaskID: OpenLog] = [:]
  private(set) var nextWake: Instant?
  /// The logs have more than there was room for.
  private var isBehind = false
  private var turn = 0
  private let buffer = UnsafeMutableRawBufferPointer.allocate(
    byteCount: TaskOutputFiles.pieceBytes, alignment: 16)

  private static let pieceBytes = 32_768
  private static let lookMilliseconds: Int64 = 100
  /// Limits one check, so that other work is not delayed.
  private static let lookBytes = 1 << 18
  /// A task that is further behind, and beyond the room, skips to its newest output.
  private static let mostBehindBytes: Int64 = 1 << 20
  private static let newestBytes: Int64 = 65_536
  /// Earlier output that is shown when the view joins a running task.
  private static let joinedLines = 10
  /// Limits the backward search for an attempt's start.
  private static let searchedBytes: Int64 = 64 << 20
  /// Skipped lines are counted only within this limit.
  private static let countedBytes: Int64 = 4 << 20

  private final class OpenLog {
    var file: Descriptor?
    var offset: Int64
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

  deinit { buffer.deallocate() }

  /// Bytes already in the log belong to earlier attempts.
  func begin(_ task: TaskID, attempt: Int32) {
    var offset: Int64 = 0
    if attempt > 1, let status = try? Path.status(path(task)) { offset = status.sizeBytes }
    running[task] = OpenLog(offset: offset)
  }

  func join(_ task: TaskID, attempt: Int32) {
    if let (log, size) = openBegun(task, attempt) { skipToLastLines(log, of: size) }
  }

  /// Follows an attempt that began before this session, from the end of its log.
  func goOn(_ task: TaskID, attempt: Int32) {
    if running[task] != nil { return }
    if let (log, size) = openBegun(task, attempt) { log.offset = size }
  }

  private func openBegun(_ task: TaskID, _ attempt: Int32) -> (OpenLog, size: Int64)? {
    let log = OpenLog(offset: 0)
    running[task] = log
    guard let size = open(log, task) else { return nil }
    log.start = start(of: attempt, log, size)
    return (log, size)
  }

  /// Like `join` for running attempts, except attempts that `goOn` follows.
  func joinRunning() {
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

  /// Returns the last bytes; for a running task, of the current attempt.
  func last(_ count: Int, of task: TaskID) -> [UInt8] {
    let log = OpenLog(offset: running[task]?.start ?? 0)
    return open(log, task).map { last(count, of: log, $0) } ?? []
  }

  private func last(_ count: Int, of log: OpenLog, _ size: Int64) -> [UInt8] {
    log.offset = max(log.start, size - Int64(count))
    var last: [UInt8] = []
    while let bytes = read(log) { last += bytes }
    return last
  }

  /// Returns a piece of a fully shown log, valid until the next call; nil at the end or on an
  /// error.
  func read(_ range: LogRange) -> UnsafeRawBufferPointer? {
    let log = OpenLog(offset: range.bytes.lowerBound)
    let most = Int(clamping: range.bytes.upperBound - range.bytes.lowerBound)
    guard open(log, range.task) != nil, let bytes = read(log) else { return nil }
    return UnsafeRawBufferPointer(rebasing: bytes.prefix(most))
  }

  /// Passes unread output to a view with room, and returns the wanted parts of the attempt.
  func end(
    _ transition: Transition, _ wanted: WantedOutput, _ follower: SessionDisplay?
  ) -> FoundOutput {
    var found = FoundOutput()
    let task = transition.task
    guard let log = running.removeValue(forKey: task), transition.outcome.usage.outputBytes > 0,
      follower != nil || wanted.log || wanted.tailBytes > 0, let size = open(log, task)
    else { return found }
    if wanted.log, size > log.start { found.log = log.start..<size }
    if let follower {
      skip(log, task, toLast: Int64(follower.view.outputRoom), of: size, follower)
      while follower.view.outputRoom > 0, let bytes = read(log) {
        follower.take(.bytes(bytes), of: task)
      }
      skip(log, task, toLast: 0, of: size, follower)
    }
    if wanted.tailBytes > 0 { found.tail = last(wanted.tailBytes, of: log, size) }
    return found
  }

  /// Reads every tenth of a second, or at once if one check did not read all.
  func follow(at now: Instant, _ follower: SessionDisplay) {
    // Without room, the next call comes when the reader has made some.
    guard !running.isEmpty, follower.view.outputRoom > 0 else {
      nextWake = nil
      isBehind = !running.isEmpty
      return
    }
    let isDue = nextWake.map { $0 <= now }
    if isBehind || isDue ?? false { isBehind = look(follower) }
    if isBehind {
      nextWake = now
    } else if isDue ?? true {
      nextWake = now.advanced(byMilliseconds: Self.lookMilliseconds)
    }
  }

  func catchUp(at now: Instant, _ follower: SessionDisplay) {
    isBehind = true
    follow(at: now, follower)
  }

  private func look(_ follower: SessionDisplay) -> Bool {
    let logs = Array(running)
    turn += 1
    var left = Self.lookBytes
    var open = (0..<logs.count).map { logs[($0 + turn) % logs.count] }
    while !open.isEmpty {
      open = open.filter { task, log in
        let room = follower.view.outputRoom
        guard left > 0, room > 0 else { return true }
        guard let size = self.open(log, task) else { return false }
        if size - log.offset > max(Self.mostBehindBytes, Int64(room)) {
          skip(log, task, toLast: Self.newestBytes, of: size, follower)
        }
        guard let bytes = read(log) else { return false }
        left -= bytes.count
        follower.take(.bytes(bytes), of: task)
        return bytes.count == buffer.count
      }
      if left <= 0 || follower.view.outputRoom == 0 { break }
    }
    return !open.isEmpty
  }

  private func path(_ task: TaskID) -> String { folder.log(of: task, in: plan) }

  private func open(_ log: OpenLog, _ task: TaskID) -> Int64? {
    if log.file == nil { log.file = try? File.openRegular(path(task), .readOnly) }
    return try? log.file?.status().sizeBytes
  }

  /// Returns where an attempt begins: at its header line, or at the log's end if it printed
  /// nothing.
  private func start(of attempt: Int32, _ log: OpenLog, _ size: Int64) -> Int64 {
    if attempt <= 1 { return 0 }
    let header = [Field.lineFeed] + Array(AttemptHeader.line(attempt).utf8)
    var end = size
    while end > 0 {
      // Beyond the search limit, all bytes in between are this attempt's.
      if size - end >= Self.searchedBytes { return end }
      let begin = max(0, end - Int64(buffer.count))
      guard let count = try? log.file?.read(into: buffer, at: begin), count > 0 else { return size }
      let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      if let place = Self.last(header, in: bytes) { return begin + Int64(place) + 1 }
      if begin == 0 { return bytes.starts(with: header.dropFirst()) ? 0 : size }
      // The header may span two pieces.
      end = begin + Int64(header.count)
    }
    return size
  }

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

  /// Skips about all but the last bytes, reports the gap, and continues at a line start.
  private func skip(
    _ log: OpenLog, _ task: TaskID, toLast newest: Int64, of size: Int64,
    _ follower: SessionDisplay
  ) {
    let start = log.offset
    guard size - newest > start else { return }
    let end = newest == 0 ? size : lineStart(log, from: size - newest)
    let lines = end - start <= Self.countedBytes ? lineCount(log, from: start, to: end) : nil
    log.offset = end
    follower.take(.skipped(bytes: end - start, lines: lines), of: task)
  }

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
