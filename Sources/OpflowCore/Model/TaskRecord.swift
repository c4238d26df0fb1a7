/// What the journal says about one task, as of its last line. 64 bytes: a million of them are touched
/// to read a large run, and that costs more than the reading.
package struct TaskRecord: Sendable {
  // In an order that leaves no gaps.
  /// Of the last end, or of the resume that took the task back; nil where nothing is told.
  package internal(set) var why: Why?
  /// `waiting` where nothing was said, and where a resume, a retry or an interruption took the task
  /// back; `running` and `suspended` also when the run died meanwhile.
  package internal(set) var state: TaskState = .waiting
  /// The raw value of `changedPart`.
  private var part: UInt8 = .max
  var marks: Marks = []
  private var statusKind: StatusKind = .unknown
  /// How many resumes took the task back.
  package internal(set) var timesResumed: UInt16 = 0
  /// The highest number of a try that began; 0 when none did. A try taken back does not count.
  package internal(set) var attempts: Int32 = 0
  private var statusCode: Int32 = 0
  /// Who has it, or had it last; `none` where that is not told.
  package internal(set) var worker = WorkerID.none
  /// SEQ of the last start; 0 for none.
  package internal(set) var startSequence: UInt64 = 0
  /// SEQ of the line that put it into its terminal state; 0 while it is in none.
  package internal(set) var settleSequence: UInt64 = 0
  /// Since the epoch, of the last start; 0 for none.
  package internal(set) var startedMilliseconds: Int64 = 0
  /// Since the epoch, of the last end of a try or of the task; 0 while there is none after a start.
  package internal(set) var endedMilliseconds: Int64 = 0
  /// Of the last try.
  package internal(set) var wallMicroseconds: Int64 = 0

  struct Marks: OptionSet {
    var rawValue: UInt8
    /// A try was cut short and none ended since.
    static let interrupted = Marks(rawValue: 1 << 0)
    /// Something that may have taken back its result is lost.
    static let unproven = Marks(rawValue: 1 << 1)
    /// It ended under another definition than the plan's.
    static let changed = Marks(rawValue: 1 << 2)
    /// A try was cut short, and none began since: a skip or another reason to run does not undo that.
    static let cutShort = Marks(rawValue: 1 << 3)
    /// An order cancelled it while it did not run.
    static let cancelledPending = Marks(rawValue: 1 << 4)
    /// It succeeded without running.
    static let restored = Marks(rawValue: 1 << 5)
    /// It failed before its start, as for a file that is not there or a value.
    static let unstarted = Marks(rawValue: 1 << 6)
    /// A service that is ready.
    static let ready = Marks(rawValue: 1 << 7)
  }

  private enum StatusKind: UInt8 { case unknown, exit, signal }

  /// How the last try's process ended.
  package internal(set) var status: ExitStatus {
    get {
      switch statusKind {
      case .unknown: .unknown
      case .exit: .exit(statusCode)
      case .signal: .signal(statusCode)
      }
    }
    set {
      switch newValue {
      case .unknown: (statusKind, statusCode) = (.unknown, 0)
      case .exit(let code): (statusKind, statusCode) = (.exit, code)
      case .signal(let signal): (statusKind, statusCode) = (.signal, signal)
      }
    }
  }

  /// The part that changed, as far as that is known, where `isChanged`.
  package internal(set) var changedPart: Fingerprint.Part? {
    get { Fingerprint.Part(rawValue: UInt64(part)) }
    set { part = newValue.map { UInt8(truncatingIfNeeded: $0.rawValue) } ?? .max }
  }

  /// It started and did not end: it runs, or the run died, or a stop or a lost worker cut it short.
  package var isInterrupted: Bool {
    switch state {
    case .handed, .running, .suspended: true
    case .cancelled: !marks.contains(.cancelledPending)
    case .waiting: marks.contains(.interrupted) || why == .rerun(.interrupted)
    case .ready, .checking, .succeeded, .upToDate, .failedAllowed, .failed, .skipped: false
    }
  }

  /// Its last try was cut short, whatever became of the task since; false once it was asked for.
  var isCutShort: Bool {
    if isInterrupted || marks.contains(.cutShort) { return true }
    return state == .failed && !marks.contains(.unstarted)
      && (why == .ended(.interrupted) || why == .ended(.workerLost))
  }

  /// It has succeeded as it is defined, and there is nothing else to be told of that.
  @inline(__always)
  var isPlainSuccess: Bool { state == .succeeded && marks.isEmpty && why == nil }

  /// It failed before it was started.
  var hasFailedUnstarted: Bool { marks.contains(.unstarted) }

  /// It succeeded, or failed where it may, by another definition than the plan's.
  package var isChanged: Bool { marks.contains(.changed) }

  /// It succeeded by a result that came from a cache.
  package var isRestored: Bool { marks.contains(.restored) }

  /// A service that is ready, and has not ended since.
  package var isReady: Bool { state.isRunning && marks.contains(.ready) }

  /// An order cancelled it while it did not run.
  var wasCancelledPending: Bool { marks.contains(.cancelledPending) }

  /// The journal lost lines that may have taken back what it did.
  package var isUnproven: Bool { marks.contains(.unproven) }
}

extension TaskRecord {
  /// The task comes to be anew: all but the numbers of its tries is of one that is gone.
  mutating func beginAnew() {
    let attempts = attempts
    self = TaskRecord()
    self.attempts = attempts
  }

  /// Whether the journal told of this try's start, and of no end since.
  @inline(__always)
  func isRunning(_ attempt: Int32) -> Bool {
    (state == .running || state == .handed || state == .suspended) && attempts == attempt
  }

  /// Folds a transition of this task of the plan. Any order of lines is taken: some may be lost.
  mutating func apply(
    _ event: TransitionKind, _ line: JournalLine, _ fields: TryFields, _ task: TaskID,
    _ plan: Plan
  ) {
    let next = event.state(after: state, isAhead: fields.isAhead, allowed: fields.allowed)
    switch event {
    case .start:
      start(line, next, fields.attempt, on: fields.worker)
    case .success:
      end(next, line, fields)
      if fields.isRestored { marks.insert(.restored) }
      if !fields.fingerprint.isAbsolute { compare(fields.fingerprint, with: task, plan) }
    case .failure, .skip, .cancel, .retry, .interrupt, .pause, .proceed, .resume, .fresh, .ready,
      .stopping:
      applyRare(event, next, line, fields, task, plan)
    }
  }

  /// Folds a start as nearly all are.
  @inline(__always)
  mutating func apply(_ fields: PlainStart, _ line: JournalLine) {
    let next = TransitionKind.start.state(after: state, isAhead: fields.isAhead, allowed: false)
    start(line, next, fields.attempt, on: fields.worker)
  }

  /// Folds a success as nearly all are, of the running try, by the definition that the plan has.
  @inline(__always)
  mutating func apply(_ fields: PlainSuccess, _ line: JournalLine) {
    let next = TransitionKind.success.state(after: state, isAhead: false, allowed: false)
    end(
      next, line, fields.attempt, .exit(fields.code), wallMicroseconds: fields.wallMicroseconds)
  }

  @inline(__always)
  private mutating func start(
    _ line: JournalLine, _ next: TaskState, _ attempt: Int32, on worker: WorkerID
  ) {
    leave(for: next)
    self.worker = worker
    attempts = Swift.max(attempts, attempt)
    startSequence = line.sequence
    startedMilliseconds = line.milliseconds
    endedMilliseconds = 0
    status = .unknown
  }

  /// Reads the line once more for what only such a one tells.
  @inline(never)
  private mutating func applyRare(
    _ event: TransitionKind, _ next: TaskState, _ line: JournalLine, _ fields: TryFields,
    _ task: TaskID, _ plan: Plan
  ) {
    switch event {
    // Folded above.
    case .start, .success: break
    // See `TaskDetails`.
    case .stopping: break
    case .failure:
      end(next, line, fields)
      if fields.attempt == 0 { marks.insert(.unstarted) }
      if fields.allowed, !fields.fingerprint.isAbsolute {
        compare(fields.fingerprint, with: task, plan)
      }
    case .skip:
      let wasCutShort = isCutShort
      settle(next, line)
      if wasCutShort { marks.insert(.cutShort) }
      why = TransitionFields(line).skipReason(plan).map { .skipped($0) }
    case .cancel:
      end(next, line, fields)
    case .retry:
      end(next, line, fields)
      settleSequence = 0
    case .interrupt:
      end(next, line, fields)
      settleSequence = 0
      if event.cutsShort(fields.endReason) {
        marks.insert(.interrupted)
      } else if fields.endReason == .revoked {
        attempts = Swift.max(0, fields.attempt - 1)
        startedMilliseconds = 0
        endedMilliseconds = 0
      }
    case .pause, .proceed: state = next
    case .ready: if state.isRunning { marks.insert(.ready) }
    case .fresh:
      // A result of this run stays what it is, with the lines that told of it. Where damage took
      // those, nobody knows which try it was, so the task runs again.
      if TransitionFields(line).isKept { break }
      settle(next, line)
      if !fields.fingerprint.isAbsolute { compare(fields.fingerprint, with: task, plan) }
    case .resume:
      let wasCutShort = isCutShort
      leave(for: next)
      why = TransitionFields(line).rerunReason(plan).map { .rerun($0) }
      if wasCutShort, why != .rerun(.asked) { marks.insert(.cutShort) }
      if timesResumed < .max { timesResumed += 1 }
    }
  }

  /// Folds an order about this task.
  mutating func apply(_ order: OrderEntry, _ line: JournalLine, _ task: TaskID) {
    guard let effect = order.effect(on: task, in: state) else { return }
    let next = effect.state(after: state)
    switch effect.event {
    case .skip, .cancel:
      let wasCutShort = isCutShort
      settle(next, line)
      if wasCutShort { marks.insert(.cutShort) }
      if effect.event == .cancel { marks.insert(.cancelledPending) }
      why = effect.why
    case .pause, .proceed: state = next
    case .resume(let reason): waitAgain(with: reason)
    case .start, .success, .failure, .retry, .interrupt, .fresh, .ready, .stopping: break
    }
  }

  /// An order takes it out of its end.
  mutating func waitAgain(with reason: RerunReason) {
    let wasCutShort = isCutShort
    leave(for: .waiting)
    why = .rerun(reason)
    if wasCutShort, reason != .asked { marks.insert(.cutShort) }
  }

  /// Its worker has begun with it, which it was handed ahead.
  mutating func begin(_ line: JournalLine) {
    guard state == .handed else { return }
    state = .running
    startedMilliseconds = line.milliseconds
  }

  /// The record where what it ended with is in doubt: it counts as never ended.
  var unproven: TaskRecord {
    var record = self
    record.leave(for: .waiting)
    record.why = .rerun(.unproven)
    record.marks.insert(.unproven)
    if isCutShort { record.marks.insert(.cutShort) }
    return record
  }

  @inline(__always)
  private mutating func leave(for next: TaskState) {
    state = next
    why = nil
    part = .max
    marks = []
    settleSequence = 0
  }

  @inline(__always)
  mutating func compare(_ text: FingerprintText, with task: TaskID, _ plan: Plan) {
    // What was added later, no older opflow wrote a line of.
    guard task.index < plan.taskCount else { return }
    if !text.hasWhole(plan.fingerprint(task).whole) {
      noteChange(from: text.value, to: plan.fingerprint(task))
    }
  }

  private mutating func noteChange(from fingerprint: Fingerprint, to definition: Fingerprint) {
    guard fingerprint.whole != definition.whole else { return }
    marks.insert(.changed)
    changedPart = definition.changedPart(from: fingerprint)
  }

  private mutating func end(_ next: TaskState, _ line: JournalLine, _ fields: TryFields) {
    end(
      next, line, fields.attempt, fields.status, wallMicroseconds: fields.wallMicroseconds)
    why = fields.endReason.map { .ended($0) }
  }

  @inline(__always)
  private mutating func end(
    _ next: TaskState, _ line: JournalLine, _ attempt: Int32, _ status: ExitStatus,
    wallMicroseconds: Int64
  ) {
    settle(next, line)
    attempts = Swift.max(attempts, attempt)
    self.status = status
    self.wallMicroseconds = wallMicroseconds
    endedMilliseconds = line.milliseconds
  }

  @inline(__always)
  private mutating func settle(_ next: TaskState, _ line: JournalLine) {
    leave(for: next)
    settleSequence = line.sequence
  }
}

/// Makes ready memory that is about to be written for the first time, all of it.
package typealias BeforeFilling = @Sendable (UnsafeMutableRawBufferPointer) -> Void

extension [TaskRecord] {
  /// One for each task of a plan, of which nothing was said yet.
  mutating func fill(of plan: Plan, _ beforeFilling: BeforeFilling?) {
    self = Array(unsafeUninitializedCapacity: plan.taskCount) { records, count in
      beforeFilling?(UnsafeMutableRawBufferPointer(records))
      records.initialize(repeating: TaskRecord())
      count = records.count
    }
  }

  /// Tasks that were added to the run, and that a drive began without: what the plan has of them was added once more.
  ///
  /// - Parameter removed: what that drive did not have. What the run's first manifest has again by now is as it was.
  mutating func beginAnew(_ removed: [String], of plan: Plan) {
    if isEmpty || plan.firstTaskCount == plan.taskCount { return }
    for name in removed {
      guard let task = plan.task(named: name), task.index >= plan.firstTaskCount else { continue }
      self[task.index].beginAnew()
    }
  }
}
