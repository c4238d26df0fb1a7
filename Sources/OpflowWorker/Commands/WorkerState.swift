package import OpflowPlan
package import OpflowWire

/// Details are messages for the user.
package enum WorkerEvent {
  case message(WorkerMessage)
  /// The coordinator is gone, or a signal asked this worker to end.
  case endOfMessages
  case started(pid: Int32)
  case refused(errorNumber: Int32, detail: String)
  /// Processes, memory or descriptors are short.
  case lacking(detail: String)
  /// `status` is the main process's, if just reaped; `isGone`: no process of the task is left.
  case reaped(status: ExitStatus?, isGone: Bool)
  case outputFailed(errorNumber: Int32)
  case valueMissing(detail: String)
  /// A value of the task is invalid; sent before `reaped` with `isGone`.
  case valueFailed(detail: String)
  /// Another run of the state folder holds the task.
  case busy
  /// An input or output cannot be checked or prepared.
  case unfit(detail: String)
  case unwritten(detail: String)
  /// The end of `record`, finished or stopped.
  case recorded(RecordResult)
  /// A restore, or the wait for inputs, has begun.
  case bringingBack
  case broughtBack(RecordResult)
  /// The restore failed, or the wait for inputs is over.
  case notBroughtBack
  /// A service cannot start: another process would be mistaken for it.
  case obstructed(detail: String)
  case ready(ports: [UInt16])
  case unready(detail: String)
  case timer
}

/// Performed in order.
package enum WorkerAction {
  /// Answered by `started`, `refused` or `bringingBack`.
  case start(TaskID, attempt: Int32)
  /// Start the task after `notBroughtBack`. Answered by `started` or `refused`.
  case launch(TaskID, attempt: Int32)
  case report(WorkerReport)
  /// Send to all processes of the task.
  case signal(Int32)
  case proceed
  case suspend
  /// The main process ended first: note the living processes.
  case noteLeft
  /// KILL to all processes of the task; answered by `reaped`.
  case kill
  /// Scan and record inputs and outputs; answered by `recorded`, maybe later.
  case record(TaskID, isSuccess: Bool)
  /// `recorded` follows at once.
  case stopRecording
  /// Leave unkillable processes behind, and name them.
  case abandon
  /// Read the rest of the output, close the log and report the end.
  case finish(TaskID, attempt: Int32, Outcome)
  case leave
}

/// The decisions of a command worker. One task runs at a time; prefetched tasks wait in order. The
/// phases of the running task:
///
///     starting ─► running ─► stopping ─► killing ─► recording ─► (gone)
///        ││          └──────────┴───────────┘
///        │└► (refused)
///        └► restoring ─► recording; or starting, if the restore fails
///
/// - `running`: its main process lives. Only here can it be suspended.
/// - `stopping`: the stop signal was sent; its processes have until a deadline, even if the main
///   process ends earlier.
/// - `killing`: KILL is repeated until no process is left or a second deadline passes.
/// - `recording`: no process is left; after a success or allowed failure its files are scanned.
/// - `restoring`: its result is restored from a cache, or it waits for inputs; it has no process.
package struct WorkerState {
  /// After this, processes are unkillable: of other users, or stuck in the kernel.
  static let killPatienceMilliseconds: Int64 = 3000
  static let killIntervalMilliseconds: Int64 = 20
  /// The grace once the coordinator is gone: a resume may be waiting.
  static let lastGraceMilliseconds: Int64 = 500

  private enum Phase {
    case starting, restoring, running
    case stopping(until: Instant)
    case killing(next: Instant, until: Instant)
    case recording
  }

  private struct Held {
    let task: TaskID
    let attempt: Int32
    let policy: TaskPolicy
    var phase = Phase.starting
    var begin = Instant(nanoseconds: 0)
    /// nil without a timeout and while suspended.
    var timeout: Instant?
    var remainingNanoseconds: Int64?
    var isSuspended = false
    var status = ExitStatus.unknown
    var reason: EndReason?
    var errorNumber: Int32 = 0
    /// A problem with values, outputs or record.
    var fault: String?
    var wallMicroseconds: Int64 = 0

    var isRecording: Bool { if case .recording = phase { true } else { false } }

    func isAbout(_ task: TaskID, _ attempt: Int32) -> Bool {
      self.task == task && self.attempt == attempt
    }
  }

  private let policy: (TaskID) -> TaskPolicy
  private let recordsEnd: (TaskID, Outcome) -> Bool
  private var current: Held?
  private var ahead: [(task: TaskID, attempt: Int32)] = []
  private var isLeaving = false
  private var hasEndedWell = false
  private var isOrphaned = false

  /// `OPFLOW_RUN_STATE` for tasks.
  package private(set) var conclusion: RunState?

  package init(
    policy: @escaping (TaskID) -> TaskPolicy, recordsEnd: @escaping (TaskID, Outcome) -> Bool
  ) {
    self.policy = policy
    self.recordsEnd = recordsEnd
  }

  package var deadline: Instant? {
    guard let current else { return nil }
    switch current.phase {
    case .starting, .restoring, .recording: return nil
    case .running: return current.timeout
    case .stopping(let until): return until
    case .killing(let next, _): return next
    }
  }

  package mutating func handle(
    _ event: WorkerEvent, at now: Instant, into actions: inout [WorkerAction]
  ) {
    switch event {
    case .message(let message): apply(message, at: now, into: &actions)
    case .endOfMessages: endAll(at: now, into: &actions)
    case .started(let pid): noteStart(pid, at: now, into: &actions)
    case .refused(let errorNumber, let detail):
      leaveUnstarted(into: &actions) {
        .refused($0, attempt: $1, errorNumber: errorNumber, detail: detail)
      }
    case .lacking(let detail):
      leaveUnstarted(into: &actions) { .lacks($0, attempt: $1, detail: detail) }
    case .reaped(let status, let isGone):
      noteReaped(status, isGone: isGone, at: now, into: &actions)
    case .outputFailed(let errorNumber):
      guard current != nil, current?.reason != .output else { return }
      current?.reason = .output
      current?.errorNumber = errorNumber
      stop(at: now, atOnce: false, into: &actions)
    case .valueMissing(let detail): endBeforeStart(.value, detail, into: &actions)
    case .valueFailed(let detail):
      guard let held = current, held.reason == nil else { return }
      current?.reason = .value
      current?.fault = detail
    case .busy: leaveUnstarted(into: &actions) { .revoked($0, attempt: $1) }
    case .unfit(let detail): endBeforeStart(.input, detail, into: &actions)
    case .unwritten(let detail): endBeforeStart(.output, detail, into: &actions)
    case .obstructed(let detail): endBeforeStart(.unready, detail, into: &actions)
    case .recorded(let result): noteRecorded(result, into: &actions)
    case .bringingBack:
      guard current != nil else { return }
      current?.phase = .restoring
      current?.begin = now
      if isOrphaned { endAll(at: now, into: &actions) }
    case .broughtBack(let result):
      guard let held = current, case .restoring = held.phase else { return }
      current?.phase = .recording
      current?.status = .success
      current?.wallMicroseconds = (now.nanoseconds - held.begin.nanoseconds) / 1000
      actions.append(.report(.restored(held.task, attempt: held.attempt)))
      noteRecorded(result, into: &actions)
    case .notBroughtBack:
      guard let held = current, case .restoring = held.phase else { return }
      current?.phase = .starting
      actions.append(.launch(held.task, attempt: held.attempt))
    case .ready(let ports):
      guard let held = current, case .running = held.phase, held.reason == nil else { return }
      actions.append(.report(.ready(held.task, attempt: held.attempt, ports: ports)))
    case .unready(let detail):
      guard let held = current, case .running = held.phase, held.reason == nil else { return }
      current?.reason = .unready
      current?.fault = detail
      stop(at: now, atOnce: false, into: &actions)
    case .timer: passTime(now, into: &actions)
    }
  }

  // MARK: Messages

  private mutating func apply(
    _ message: WorkerMessage, at now: Instant, into actions: inout [WorkerAction]
  ) {
    switch message {
    case .run(let task, let attempt): take(task, attempt, into: &actions)
    case .follow(let task, let attempt):
      if current == nil, !hasEndedWell {
        actions.append(.report(.revoked(task, attempt: attempt)))
      } else {
        take(task, attempt, into: &actions)
      }
    case .revoke(let task, let attempt): _ = giveBack(task, attempt, into: &actions)
    case .stop(let task, let attempt, let reason):
      if !giveBack(task, attempt, into: &actions), let held = current, held.isAbout(task, attempt) {
        giveBackAll(into: &actions)
        if held.reason == nil, !held.isRecording { current?.reason = .stopped(reason) }
        stop(at: now, atOnce: reason == .kill, into: &actions)
      }
    case .suspend(let task, let attempt): suspend(task, attempt, at: now, into: &actions)
    case .proceed(let task, let attempt): proceed(task, attempt, at: now, into: &actions)
    case .watch, .check, .pulse, .values, .value, .ports, .tokens, .jobs, .devices: break
    case .setRunState(let state): conclusion = state
    case .bye:
      isLeaving = true
      if current == nil { actions.append(.leave) }
    }
  }

  /// False if the task was not prefetched.
  private mutating func giveBack(
    _ task: TaskID, _ attempt: Int32, into actions: inout [WorkerAction]
  ) -> Bool {
    let place = ahead.firstIndex { $0.task == task && $0.attempt == attempt }
    guard let place else { return false }
    ahead.remove(at: place)
    actions.append(.report(.revoked(task, attempt: attempt)))
    return true
  }

  private mutating func giveBackAll(into actions: inout [WorkerAction]) {
    for (task, attempt) in ahead { actions.append(.report(.revoked(task, attempt: attempt))) }
    ahead.removeAll()
  }

  private mutating func start(_ task: TaskID, _ attempt: Int32, into actions: inout [WorkerAction])
  {
    current = Held(task: task, attempt: attempt, policy: policy(task))
    actions.append(.start(task, attempt: attempt))
  }

  private mutating func take(_ task: TaskID, _ attempt: Int32, into actions: inout [WorkerAction]) {
    if isLeaving {
      actions.append(.report(.revoked(task, attempt: attempt)))
    } else if current != nil {
      ahead.append((task, attempt))
    } else {
      start(task, attempt, into: &actions)
    }
  }

  private mutating func suspend(
    _ task: TaskID, _ attempt: Int32, at now: Instant, into actions: inout [WorkerAction]
  ) {
    guard let held = current, held.isAbout(task, attempt), case .running = held.phase,
      !held.isSuspended
    else { return }
    current?.isSuspended = true
    current?.remainingNanoseconds = held.timeout.map { $0.nanoseconds - now.nanoseconds }
    current?.timeout = nil
    actions.append(.suspend)
  }

  private mutating func proceed(
    _ task: TaskID, _ attempt: Int32, at now: Instant, into actions: inout [WorkerAction]
  ) {
    guard let held = current, held.isAbout(task, attempt), case .running = held.phase,
      held.isSuspended
    else { return }
    current?.isSuspended = false
    current?.timeout = held.remainingNanoseconds.map {
      Instant(nanoseconds: now.nanoseconds.addingReportingOverflow($0).partialValue)
    }
    actions.append(.proceed)
  }

  /// The coordinator is gone; reports are useless.
  private mutating func endAll(at now: Instant, into actions: inout [WorkerAction]) {
    isLeaving = true
    isOrphaned = true
    ahead.removeAll()
    guard let held = current else {
      actions.append(.leave)
      return
    }
    if held.reason == nil, !held.isRecording { current?.reason = .interrupted }
    stop(at: now, atOnce: false, into: &actions)
    let last = now.advanced(byMilliseconds: Self.lastGraceMilliseconds)
    switch current?.phase {
    case .stopping(let until): current?.phase = .stopping(until: min(until, last))
    case .killing(let next, let until):
      current?.phase = .killing(next: next, until: min(until, last))
    case .starting, .restoring, .running, .recording, nil: break
    }
  }

  // MARK: The task that runs

  private mutating func noteStart(_ pid: Int32, at now: Instant, into actions: inout [WorkerAction])
  {
    guard let held = current else { return }
    current?.phase = .running
    current?.begin = now
    if held.policy.timeoutMilliseconds > 0 {
      let limit = Int64(clamping: held.policy.timeoutMilliseconds)
      current?.timeout = now.advanced(byMilliseconds: limit)
    }
    actions.append(.report(.started(held.task, attempt: held.attempt, pid: pid)))
    // The coordinator may have gone during the start.
    if isOrphaned { endAll(at: now, into: &actions) }
  }

  private mutating func noteReaped(
    _ status: ExitStatus?, isGone: Bool, at now: Instant, into actions: inout [WorkerAction]
  ) {
    guard let held = current else { return }
    if let status { current?.status = status }
    if isGone {
      finish(at: now, into: &actions)
    } else if status != nil, case .running = held.phase {
      // Kill the remaining processes now.
      actions.append(.noteLeft)
      beginKilling(at: now, into: &actions)
    } else if case .killing(_, let until) = held.phase {
      goOnKilling(at: now, until: until, into: &actions)
    }
  }

  private mutating func stop(at now: Instant, atOnce: Bool, into actions: inout [WorkerAction]) {
    guard let held = current else { return }
    switch held.phase {
    case .starting, .killing: return
    // No process.
    case .restoring: finish(into: &actions)
    // The task has succeeded; recording only helps later runs.
    case .recording: actions.append(.stopRecording)
    case .running:
      if atOnce || held.policy.stopGraceMilliseconds == 0 {
        beginKilling(at: now, into: &actions)
      } else {
        let grace = Int64(held.policy.stopGraceMilliseconds)
        current?.phase = .stopping(until: now.advanced(byMilliseconds: grace))
        actions.append(.signal(Int32(clamping: held.policy.stopSignal)))
        // A stopped process handles the signal only after CONT.
        actions.append(.proceed)
      }
    case .stopping: if atOnce { beginKilling(at: now, into: &actions) }
    }
  }

  private mutating func beginKilling(at now: Instant, into actions: inout [WorkerAction]) {
    let until = now.advanced(byMilliseconds: Self.killPatienceMilliseconds)
    goOnKilling(at: now, until: until, into: &actions)
  }

  /// Repeated until the deadline, however often children end meanwhile.
  private mutating func goOnKilling(
    at now: Instant, until: Instant, into actions: inout [WorkerAction]
  ) {
    if until <= now {
      actions.append(.abandon)
      return finish(at: now, into: &actions)
    }
    current?.phase = .killing(
      next: now.advanced(byMilliseconds: Self.killIntervalMilliseconds), until: until)
    actions.append(.kill)
  }

  private mutating func passTime(_ now: Instant, into actions: inout [WorkerAction]) {
    guard let held = current else { return }
    switch held.phase {
    case .starting, .restoring, .recording: break
    case .running:
      guard let timeout = held.timeout, timeout <= now else { return }
      current?.timeout = nil
      giveBackAll(into: &actions)
      if held.reason == nil { current?.reason = .timeout }
      stop(at: now, atOnce: false, into: &actions)
    case .stopping(let until): if until <= now { beginKilling(at: now, into: &actions) }
    case .killing(let next, let until):
      if min(next, until) <= now { goOnKilling(at: now, until: until, into: &actions) }
    }
  }

  private mutating func finish(at now: Instant, into actions: inout [WorkerAction]) {
    guard let held = current else { return }
    current?.wallMicroseconds = (now.nanoseconds - held.begin.nanoseconds) / 1000
    let end = Outcome(status: held.status, reason: held.reason)
    if !isOrphaned, recordsEnd(held.task, end) {
      current?.phase = .recording
      actions.append(.record(held.task, isSuccess: end.isSuccess))
    } else {
      finish(into: &actions)
    }
  }

  private mutating func noteRecorded(_ result: RecordResult, into actions: inout [WorkerAction]) {
    guard let held = current, case .recording = held.phase else { return }
    switch result {
    case .kept(let origin):
      if let origin {
        actions.append(.report(.recorded(held.task, attempt: held.attempt, origin: origin)))
      }
    case .discarded(let detail):
      actions.append(.report(.changed(held.task, attempt: held.attempt, detail: detail)))
    case .noOutput(let detail):
      current?.reason = .noOutput
      current?.fault = detail
    case .unwritten(let detail):
      current?.reason = .output
      current?.fault = detail
    }
    finish(into: &actions)
  }

  private mutating func leaveUnstarted(
    into actions: inout [WorkerAction], _ report: (TaskID, Int32) -> WorkerReport
  ) {
    guard let held = current else { return }
    actions.append(.report(report(held.task, held.attempt)))
    next(afterSuccess: false, into: &actions)
  }

  private mutating func endBeforeStart(
    _ reason: EndReason, _ detail: String, into actions: inout [WorkerAction]
  ) {
    guard let held = current else { return }
    let outcome = Outcome(status: .unknown, reason: reason)
    actions.append(.report(.fault(held.task, attempt: held.attempt, detail: detail)))
    actions.append(.report(.ended(held.task, attempt: held.attempt, outcome)))
    next(afterSuccess: false, into: &actions)
  }

  private mutating func finish(into actions: inout [WorkerAction]) {
    guard let held = current else { return }
    var outcome = Outcome(status: held.status, reason: held.reason, errorNumber: held.errorNumber)
    outcome.usage.wallMicroseconds = held.wallMicroseconds
    if let fault = held.fault {
      actions.append(.report(.fault(held.task, attempt: held.attempt, detail: fault)))
    }
    actions.append(.finish(held.task, attempt: held.attempt, outcome))
    next(afterSuccess: outcome.isSuccess, into: &actions)
  }

  private mutating func next(afterSuccess: Bool, into actions: inout [WorkerAction]) {
    current = nil
    hasEndedWell = afterSuccess
    if afterSuccess, !ahead.isEmpty {
      let given = ahead.removeFirst()
      start(given.task, given.attempt, into: &actions)
      return
    }
    giveBackAll(into: &actions)
    if isLeaving { actions.append(.leave) }
  }
}
