package import OpflowBase
package import OpflowPlan
package import OpflowWire

/// A journal line, read in place: valid as long as its bytes. Strings stay escaped bytes: a replay
/// of a million lines must not allocate strings, and the plan may lack the task.
package struct JournalLine {
  package let sequence: UInt64
  /// Since the epoch.
  package let milliseconds: Int64
  package let event: JournalEvent
  /// Keys and numbers do not contain the line feed or carriage return that may follow the line, so
  /// parsers need no check for the end.
  let bytes: ByteWindow
  private let taskStart: Int
  private let taskEnd: Int
  let end: Int

  /// Larger than any SEQ that a run reaches, so SEQ + 1 cannot overflow.
  static let sequenceLimit: UInt64 = 1 << 62

  /// Reads a line without its line feed; nil if its checksum or shape is wrong.
  package init?(_ line: UnsafeRawBufferPointer) {
    guard let bytes = ByteWindow(line), Self.hasChecksum(bytes, 0),
      Self.holds(bytes, 0, Hash.crc32c(bytes.part(9, bytes.count)))
    else { return nil }
    var numbers = LineNumbers()
    self.init(intact: bytes, from: 9, to: bytes.count, &numbers)
  }

  /// Reads the line at `start`; sets `end` to its line feed or the end of the bytes. Accepts a
  /// carriage return.
  @inline(__always)
  init?(
    in bytes: ByteWindow, at start: Int, end: inout Int, _ numbers: inout LineNumbers
  ) {
    let body = start &+ 9
    guard Self.hasChecksum(bytes, start) else {
      end = bytes.position(of: Field.lineFeed, from: start, to: bytes.count)
      return nil
    }
    let rest = Hash.crc32cOfLine(bytes.part(body, bytes.count))
    end = body &+ rest.length
    var stop = end
    var checksum = rest.checksum
    // A tab precedes the body, so this byte exists.
    if bytes[end &- 1] == Field.carriageReturn {
      stop = end &- 1
      checksum = Hash.crc32c(bytes.part(body, stop))
    }
    guard Self.holds(bytes, start, checksum) else {
      // The damaged checksum may contain a line feed.
      end = bytes.position(of: Field.lineFeed, from: start, to: end)
      return nil
    }
    self.init(intact: bytes, from: body, to: stop, &numbers)
  }

  @inline(__always)
  private static func hasChecksum(_ bytes: ByteWindow, _ start: Int) -> Bool {
    start &+ 9 <= bytes.count && bytes[start &+ 8] == Field.tab
  }

  @inline(__always)
  private static func holds(_ bytes: ByteWindow, _ start: Int, _ checksum: UInt32) -> Bool {
    bytes.eight(at: start).bits == EightBytes.hexadecimal(of: checksum).bits
  }

  @inline(__always)
  private init?(
    intact bytes: ByteWindow, from start: Int, to end: Int, _ numbers: inout LineNumbers
  ) {
    guard let (sequence, timeStart) = numbers.readSequence(bytes, start),
      sequence < Self.sequenceLimit,
      let (milliseconds, wordStart) = numbers.readTime(bytes, timeStart),
      milliseconds < Self.sequenceLimit
    else { return nil }
    self.sequence = sequence
    self.milliseconds = Int64(bitPattern: milliseconds)
    self.bytes = bytes
    self.end = end
    // Nearly all lines are successes and starts.
    let word = bytes.eight(at: wordStart)
    if word.begins(with: TransitionKind.success.word, Field.tab) {
      taskStart = wordStart &+ 8
      event = .transition(.success)
    } else if word.begins(with: TransitionKind.start.word, Field.tab) {
      taskStart = wordStart &+ 6
      event = .transition(.start)
    } else {
      let wordEnd = bytes.position(of: Field.tab, from: wordStart, to: end)
      guard wordEnd < end else { return nil }
      taskStart = wordEnd &+ 1
      let ofRun = taskStart == end || bytes[taskStart] == Field.tab
      event = JournalEvent(word: bytes.part(wordStart, wordEnd), ofRun: ofRun)
    }
    taskEnd = bytes.position(of: Field.tab, from: taskStart, to: end)
  }

  /// Escaped; empty for a line about the run.
  package var task: UnsafeRawBufferPointer { bytes.part(taskStart, taskEnd) }

  /// The last bytes of the task's ID; bytes before a shorter ID fill the word.
  @inline(__always)
  var ending: TaskEnding {
    TaskEnding(bytes.eight(at: taskEnd &- 8), length: min(taskEnd &- taskStart, 8))
  }

  @inline(__always)
  func hasEscapedTask(_ ending: TaskEnding) -> Bool {
    ending.hasBackslash
      || taskEnd &- taskStart > 8
        && bytes.position(of: Field.backslash, from: taskStart, to: taskEnd) < taskEnd
  }

  @inline(__always)
  var fieldsStart: Int { min(taskEnd &+ 1, end) }

  @inline(__always)
  var cursor: FieldCursor { FieldCursor(bytes, from: fieldsStart, to: end) }

  package var fields: LineFields { LineFields(bytes.part(fieldsStart, end)) }
}

extension JournalLine {
  /// nil for an unknown event, an unknown task or a missing field.
  package func entry(plan: Plan) -> JournalEntry? {
    switch event {
    case .open: open.map { .open($0) }
    case .resume: .resume(resume)
    case .close: close.map { .close($0) }
    case .worker: worker.map { .worker($0) }
    case .request: request(plan: plan).map { .request($0) }
    case .stop: stop.map { .stop($0) }
    case .node: node.map { .node($0) }
    case .extend: extend(plan: plan).map { .extend($0) }
    case .retract: .retract(retract(plan: plan))
    case .transition(let event): transition(event, plan: plan).map { .transition($0) }
    case .unknown: nil
    }
  }

  private func transition(_ kind: TransitionKind, plan: Plan) -> Transition? {
    let fields = TransitionFields(self)
    guard let event = fields.event(kind, plan: plan) else { return nil }
    var transition = Transition(event, .none)
    if !task.isEmpty {
      guard let id = plan.task(escapedName: task) else { return nil }
      transition.task = id
    }
    transition.attempt = fields.attempt
    transition.worker = fields.worker
    transition.isPrefetched = fields.isPrefetched
    transition.outcome = fields.end.outcome
    if transition.event.kind == .skip || transition.event.kind == .resume {
      transition.outcome.reason = nil
    }
    transition.allowed = fields.allowed
    transition.delayMilliseconds = fields.delayMilliseconds
    transition.fingerprint = fields.fingerprint.value
    transition.detail = Field.text(fields.detail) ?? ""
    transition.left = Field.text(fields.left).flatMap {
      LeftBehind(text: $0, processes: Field.text(fields.pids) ?? "")
    }
    transition.fetch = fetch
    if kind == .success || kind == .fresh || transition.allowed {
      transition.values = fields.taskValues
      transition.with = fields.with
    }
    return transition
  }

  /// nil if `format` is missing. The reader has refused unknown formats.
  var open: OpenEntry? {
    var open = OpenEntry(run: "", planKey: "", opflowVersion: "", manifestPath: "", folder: "")
    open.format = 0
    read { open.list(&$0) }
    return open.format == 0 ? nil : open
  }

  var resume: ResumeEntry {
    var resume = ResumeEntry(planKey: "", opflowVersion: "")
    read { resume.list(&$0) }
    return resume
  }

  var close: CloseEntry? {
    guard let state = first(.state, { RunState(rawValue: $0.text) }) else { return nil }
    var close = CloseEntry(state: state, exitCode: 0)
    read { close.list(&$0) }
    return close
  }

  var stop: StopEntry? {
    guard let signal = first(.signal, { $0.small }) else { return nil }
    var stop = StopEntry(signal: signal)
    read { stop.list(&$0) }
    return stop
  }

  var worker: WorkerEntry? {
    guard let startTime: UInt64 = first(.start, { Field.number($0.value) }) else { return nil }
    var worker = WorkerEntry(pid: 0, startTime: startTime, bootID: "")
    read { worker.list(&$0) }
    return worker.pid > 1 ? worker : nil
  }

  func first<Value>(_ key: Key, _ read: (LineField) -> Value?) -> Value? {
    fields.first { $0.key == key }.flatMap(read)
  }

  func read(_ list: (inout FieldPass) -> Void) {
    for field in fields { FieldPass.read(field, list) }
  }

  var session: Int {
    first(.session) { TransitionFields.session(Int($0.natural), at: sequence) } ?? 1
  }
}

extension TransitionFields {
  fileprivate func event(_ kind: TransitionKind, plan: Plan) -> TransitionEvent? {
    switch kind {
    case .start: .start
    case .success: .success
    case .failure: .failure
    case .retry: .retry
    case .skip: skipReason(plan).map { .skip($0) }
    case .cancel: .cancel
    case .interrupt: .interrupt
    case .pause: .pause
    case .proceed: .proceed
    case .resume: rerunReason(plan).map { .resume($0) }
    case .fresh: .fresh
    case .ready: .ready
    case .stopping: .stopping
    }
  }
}

extension Plan {
  @inline(__always)
  package func task(escapedName name: UnsafeRawBufferPointer) -> TaskID? {
    if name.isEmpty { return nil }
    if name.position(of: Field.backslash, from: 0) == name.count { return task(named: name) }
    return Field.unescaped(name)?.withUnsafeBytes { task(named: $0) }
  }
}

extension JournalLine {
  package var fetch: FetchRecord? {
    var report = FetchReport()
    read { report.list(&$0) }
    report.detail = ""
    return report.source == 0 ? nil : FetchRecord(report)
  }
}
