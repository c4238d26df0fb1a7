package import OpflowPlan

/// A task as of the last line. 64 bytes: touching a million records costs more than parsing.
package struct TaskRecord: Sendable {
  // The order avoids padding.
  package internal(set) var why: Why?
  /// `waiting` before any line, and after a resume, a retry or an interruption.
  package internal(set) var state: TaskState = .waiting
  private var part: UInt8 = .max
  var marks: Marks = []
  private var statusKind: StatusKind = .unknown
  package internal(set) var timesResumed: UInt16 = 0
  /// A retracted prefetch does not count.
  package internal(set) var attempts: Int32 = 0
  private var statusCode: Int32 = 0
  package internal(set) var worker = WorkerID.none
  /// 0 for none.
  package internal(set) var startSequence: UInt64 = 0
  /// 0 if the task has not ended.
  package internal(set) var settleSequence: UInt64 = 0
  /// The last start; 0 for none.
  package internal(set) var startedMilliseconds: Int64 = 0
  /// 0 if the task started since the last end.
  package internal(set) var endedMilliseconds: Int64 = 0
  package internal(set) var wallMicroseconds: Int64 = 0

  struct Marks: OptionSet {
    var rawValue: UInt8
    static let interrupted = Marks(rawValue: 1 << 0)
    /// A lost line may have discarded the result.
    static let unproven = Marks(rawValue: 1 << 1)
    /// The task ended with another definition than the plan's.
    static let changed = Marks(rawValue: 1 << 2)
    /// Interrupted, and no attempt started since, even after a skip.
    static let cutShort = Marks(rawValue: 1 << 3)
    /// Cancelled by request before the task started.
    static let cancelledPending = Marks(rawValue: 1 << 4)
    static let restored = Marks(rawValue: 1 << 5)
    /// Failed before its start, e.g. for a missing file or value.
    static let unstarted = Marks(rawValue: 1 << 6)
    static let ready = Marks(rawValue: 1 << 7)
  }

  private enum StatusKind: UInt8 { case unknown, exit, signal }

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

  package var outcome: Outcome { Outcome(status: status, reason: why?.endReason) }

  package internal(set) var changedPart: Fingerprint.Part? {
    get { Fingerprint.Part(rawValue: UInt64(part)) }
    set { part = newValue.map { UInt8(truncatingIfNeeded: $0.rawValue) } ?? .max }
  }

  /// Started and not ended: the task runs, the run crashed, or a stop or a lost worker interrupted
  /// it.
  package var isInterrupted: Bool {
    switch state {
    case .prefetched, .running, .suspended: true
    case .cancelled: !marks.contains(.cancelledPending)
    case .waiting: marks.contains(.interrupted) || why == .rerun(.interrupted)
    case .ready, .checking, .succeeded, .upToDate, .failedAllowed, .failed, .skipped: false
    }
  }

  /// The last attempt was interrupted, and the user did not request the task since.
  var isCutShort: Bool {
    if isInterrupted || marks.contains(.cutShort) { return true }
    return state == .failed && !marks.contains(.unstarted)
      && (why == .ended(.interrupted) || why == .ended(.workerLost))
  }

  /// Succeeded with the present definition; nothing else to report.
  @inline(__always)
  var isPlainSuccess: Bool { state == .succeeded && marks.isEmpty && why == nil }

  var hasFailedUnstarted: Bool { marks.contains(.unstarted) }

  package var isChanged: Bool { marks.contains(.changed) }

  package var isRestored: Bool { marks.contains(.restored) }

  package var isReady: Bool { state.isRunning && marks.contains(.ready) }

  package var wasCancelledPending: Bool { marks.contains(.cancelledPending) }

  package var isUnproven: Bool { marks.contains(.unproven) }
}

extension TaskRecord {
  /// Keeps the attempts: another task takes over the name.
  mutating func beginAnew() {
    let attempts = attempts
    self = TaskRecord()
    self.attempts = attempts
  }

  @inline(__always)
  func isRunning(_ attempt: Int32) -> Bool {
    (state == .running || state == .prefetched || state == .suspended) && attempts == attempt
  }

  mutating func apply(
    _ event: TransitionKind, _ line: JournalLine, _ fields: TransitionFields, _ task: TaskID,
    _ plan: Plan
  ) {
    let next = event.state(after: state, isPrefetched: fields.isPrefetched, allowed: fields.allowed)
    switch event {
    case .start: start(line, next, fields.attempt, on: fields.worker)
    case .success:
      end(next, line, fields)
      if fields.isRestored { marks.insert(.restored) }
      if !fields.fingerprint.isAbsolute { compare(fields.fingerprint, with: task, plan) }
    case .failure, .skip, .cancel, .retry, .interrupt, .pause, .proceed, .resume, .fresh, .ready,
      .stopping:
      applyRare(event, next, line, fields, task, plan)
    }
  }

  @inline(__always)
  mutating func apply(_ fields: PlainStart, _ line: JournalLine) {
    let next = TransitionKind.start.state(
      after: state, isPrefetched: fields.isPrefetched, allowed: false)
    start(line, next, fields.attempt, on: fields.worker)
  }

  @inline(__always)
  mutating func apply(_ fields: PlainSuccess, _ line: JournalLine) {
    let next = TransitionKind.success.state(after: state, isPrefetched: false, allowed: false)
    end(next, line, fields.attempt, .exit(fields.code), wallMicroseconds: fields.wallMicroseconds)
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

  @inline(never)
  private mutating func applyRare(
    _ event: TransitionKind, _ next: TaskState, _ line: JournalLine, _ fields: TransitionFields,
    _ task: TaskID, _ plan: Plan
  ) {
    switch event {
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
      settleUnended(next, line)
      why = fields.skipReason(plan).map { .skipped($0) }
    case .cancel: end(next, line, fields)
    case .retry:
      end(next, line, fields)
      settleSequence = 0
    case .interrupt:
      end(next, line, fields)
      settleSequence = 0
      if event.cutsShort(fields.end.endReason) {
        marks.insert(.interrupted)
      } else if fields.end.endReason == .revoked {
        attempts = Swift.max(0, fields.attempt - 1)
        startedMilliseconds = 0
        endedMilliseconds = 0
      }
    case .pause, .proceed: state = next
    case .ready: if state.isRunning { marks.insert(.ready) }
    case .fresh:
      // A result of this run keeps its lines. If they are lost, so is its attempt, and the task
      // runs again.
      if fields.isKept { break }
      settle(next, line)
      if !fields.fingerprint.isAbsolute { compare(fields.fingerprint, with: task, plan) }
    case .resume:
      waitAgain(with: fields.rerunReason(plan))
      if timesResumed < .max { timesResumed += 1 }
    }
  }

  mutating func apply(_ request: RequestEntry, _ line: JournalLine, _ task: TaskID) {
    guard let effect = request.effect(on: task, in: state) else { return }
    let next = effect.state(after: state)
    switch effect.event {
    case .skip, .cancel:
      settleUnended(next, line)
      if effect.event == .cancel { marks.insert(.cancelledPending) }
      why = effect.why
    case .pause, .proceed: state = next
    case .resume(let reason): waitAgain(with: reason)
    case .start, .success, .failure, .retry, .interrupt, .fresh, .ready, .stopping: break
    }
  }

  private mutating func settleUnended(_ next: TaskState, _ line: JournalLine) {
    let wasCutShort = isCutShort
    settle(next, line)
    if wasCutShort { marks.insert(.cutShort) }
  }

  mutating func waitAgain(with reason: RerunReason?) {
    let wasCutShort = isCutShort
    leave(for: .waiting)
    why = reason.map { .rerun($0) }
    if wasCutShort, reason != .asked { marks.insert(.cutShort) }
  }

  /// A worker starts its prefetched task without a line.
  mutating func begin(_ line: JournalLine) {
    guard state == .prefetched else { return }
    state = .running
    startedMilliseconds = line.milliseconds
  }

  var unproven: TaskRecord {
    var record = self
    record.waitAgain(with: .unproven)
    record.marks.insert(.unproven)
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
    // Older versions did not write such lines.
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

  private mutating func end(_ next: TaskState, _ line: JournalLine, _ fields: TransitionFields) {
    end(
      next, line, fields.attempt, fields.end.status,
      wallMicroseconds: fields.end.usage.wallMicroseconds)
    why = fields.end.endReason.map { .ended($0) }
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

/// Called with memory before its first write.
package typealias BeforeFilling = @Sendable (UnsafeMutableRawBufferPointer) -> Void

extension [TaskRecord] {
  mutating func fill(of plan: Plan, _ beforeFilling: BeforeFilling?) {
    self = Array(unsafeUninitializedCapacity: plan.taskCount) { records, count in
      beforeFilling?(UnsafeMutableRawBufferPointer(records))
      records.initialize(repeating: TaskRecord())
      count = records.count
    }
  }

  /// Resets tasks that were added again. The session did not have `removed`.
  mutating func beginAnew(_ removed: [String], of plan: Plan) {
    if isEmpty || plan.firstTaskCount == plan.taskCount { return }
    for name in removed {
      guard let task = plan.task(named: name), task.index >= plan.firstTaskCount else { continue }
      self[task.index].beginAnew()
    }
  }
}

extension TransitionKind {
  /// Prefetched tasks start without a line: see `PrefetchedTasks`.
  @inline(__always)
  func state(after old: TaskState, isPrefetched: Bool, allowed: Bool) -> TaskState {
    switch self {
    case .start: isPrefetched ? .prefetched : .running
    case .success: .succeeded
    case .failure: allowed ? .failedAllowed : .failed
    case .skip: .skipped
    case .fresh: .upToDate
    case .cancel: .cancelled
    case .retry, .interrupt, .resume: .waiting
    // opflow does not write these for tasks.
    case .ready, .stopping: old
    case .pause: old == .running ? .suspended : old
    case .proceed: old == .suspended ? .running : old
    }
  }

  /// A retracted prefetch never ran, and an unneeded service is done.
  func cutsShort(_ reason: EndReason?) -> Bool {
    self == .interrupt && reason != .revoked && reason != .stopped(.unneeded)
  }

  var endsTry: Bool {
    switch self {
    case .success, .failure, .retry, .cancel, .interrupt: true
    case .start, .skip, .pause, .proceed, .resume, .fresh, .ready, .stopping: false
    }
  }
}

extension Transition {
  func state(after old: TaskState) -> TaskState {
    kept ?? event.kind.state(after: old, isPrefetched: isPrefetched, allowed: allowed)
  }

  var cutsShort: Bool { event.kind.cutsShort(outcome.reason) }

  package var endsTry: Bool { event.kind.endsTry }
}
