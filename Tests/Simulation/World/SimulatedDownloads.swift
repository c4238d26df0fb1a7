import OpflowDownload
import OpflowPlan
import OpflowWire

/// A download worker with simulated transfers.
struct SimulatedDownloads {
  /// The download of one attempt.
  struct Transfer {
    let task: TaskID
    let attempt: Int32
    var isSettling = false
    /// It has ended, but the end was not reported.
    var isOver = false
  }

  /// Events that an outside observer sees.
  enum Sight {
    case start(TaskID, attempt: Int32)
    case end(SimulatedTree.End)
    case leave
  }

  var state: DownloadWorkerState
  /// In start order.
  var transfers: [Transfer] = []
  private var actions: [DownloadWorkerAction] = []

  init(_ source: PlanSource) {
    state = DownloadWorkerState(
      pid: 4000, timeoutMilliseconds: { source.plan.policy($0).timeoutMilliseconds })
  }

  var active: Transfer? {
    guard let task = state.active else { return nil }
    return transfers.first { $0.task == task }
  }

  /// The first file that is being put in place: in order, and not while the run is suspended.
  var settling: Transfer? {
    guard !state.isSuspended, let first = transfers.first(where: { !$0.isOver }),
      first.isSettling
    else { return nil }
    return first
  }

  mutating func tell(
    _ event: DownloadWorkerEvent, at now: Instant, into outbox: inout [WorkerReport]
  ) throws(Finding) -> [Sight] {
    switch event {
    case .settles(let task): change(task) { $0.isSettling = true }
    case .ended(let task, _): change(task) { $0.isOver = true }
    case .message, .endOfMessages, .timer: break
    }
    actions.removeAll(keepingCapacity: true)
    state.handle(event, at: now, into: &actions)
    var sights: [Sight] = []
    for action in actions { try perform(action, into: &outbox, &sights) }
    return sights
  }

  private mutating func perform(
    _ action: DownloadWorkerAction, into outbox: inout [WorkerReport], _ sights: inout [Sight]
  ) throws(Finding) {
    switch action {
    case .begin(let task, let attempt):
      if transfers.contains(where: { !$0.isSettling && !$0.isOver }) {
        throw Finding("a worker transfers two files at once")
      }
      if transfers.contains(where: { $0.task == task }) {
        throw Finding("a worker begins a download that it holds")
      }
      transfers.append(Transfer(task: task, attempt: attempt))
    case .cut(let task):
      guard try find(task).isSettling == false else {
        throw Finding("a file was left while it was put in place")
      }
      change(task) { $0.isOver = true }
    case .abandon(let task): try forget(task)
    case .proceed(let task): _ = try find(task)
    case .tellEnd(let task, let attempt, let outcome):
      guard try find(task).isOver else { throw Finding("an end was told that is none") }
      try forget(task)
      outbox.append(.fetched(task, attempt: attempt, Self.record(ofTry: attempt)))
      outbox.append(.ended(task, attempt: attempt, outcome))
      sights.append(.end(SimulatedTree.End(task: task, attempt: attempt, outcome: outcome)))
    case .report(let report):
      outbox.append(report)
      switch report {
      case .started(let task, let attempt, _): sights.append(.start(task, attempt: attempt))
      case .revoked(let task, let attempt):
        if transfers.contains(where: { $0.task == task && $0.attempt == attempt }) {
          throw Finding("a download was given back that goes on")
        }
      case .hello, .progress, .fetched, .left, .value, .kept, .fault, .ended, .refused, .lacks,
        .pulse,
        .checked, .awaits, .recorded, .changed, .restored, .ready,
        .tokens, .warning:
        break
      }
    case .leave:
      if !transfers.isEmpty { throw Finding("a worker leaves with downloads that go on") }
      sights.append(.leave)
    }
  }

  private func find(_ task: TaskID) throws(Finding) -> Transfer {
    guard let transfer = transfers.first(where: { $0.task == task }) else {
      throw Finding("a worker decides over a download that it does not hold")
    }
    return transfer
  }

  private mutating func forget(_ task: TaskID) throws(Finding) {
    _ = try find(task)
    transfers.removeAll { $0.task == task }
  }

  private mutating func change(_ task: TaskID, _ body: (inout Transfer) -> Void) {
    guard let place = transfers.firstIndex(where: { $0.task == task }) else { return }
    body(&transfers[place])
  }

  /// Returns a report that is marked with the attempt's number.
  private static func record(ofTry attempt: Int32) -> FetchRecord {
    var report = FetchReport()
    report.resumedBytes = Int64(attempt)
    return FetchRecord(report)
  }
}

extension Behaviour {
  /// Returns how an attempt ends by itself; nil if it does not.
  func outcome(ofDownload attempt: Int32) -> Outcome? {
    switch self {
    case .succeeds: return Outcome(status: .success)
    // A server that may recover.
    case .fails(1), .failsThrough:
      if status(attempt: attempt) == .success { return Outcome(status: .success) }
      return Outcome(status: .unknown, reason: .fetch)
    case .fails, .crashes, .isRefused: return Outcome(status: .unknown, reason: .fetchFinal)
    // A server that never answers.
    case .hangs: return nil
    }
  }
}
