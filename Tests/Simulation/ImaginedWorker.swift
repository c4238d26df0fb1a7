import OpflowCore
import OpflowRuntime

/// A worker with the real one's decisions, over an imagined process tree.
struct ImaginedWorker {
  enum Phase {
    /// It has yet to say hello.
    case launching
    case talking
    /// It was stopped: it does nothing, and cannot know that it does nothing.
    case frozen
    /// It was killed, or has left; what it said before is still to be read, and what ran below it
    /// has yet to be ended.
    case dead
    /// The coordinator has done with it: nothing of it is left.
    case gone
  }

  let id: WorkerID
  private let plan: Plan
  var phase = Phase.launching
  var state: WorkerState
  /// Orders that it has not read, reports that nobody has read.
  var inbox: [WorkerOrder] = []
  var outbox: [WorkerReport] = []
  var tree: ImaginedTree?
  private var actions: [WorkerAction] = []

  init(id: WorkerID, plan: Plan) {
    self.id = id
    self.plan = plan
    state = WorkerState(policy: { plan.policy($0) })
  }

  /// It is killed, and nobody reads what it said.
  mutating func die() {
    phase = .dead
    outbox.removeAll()
  }

  /// Tells the worker a fact and performs what it decides, as far as that is its own affair.
  ///
  /// - Returns: how a tree of its ended, where the event ended one.
  mutating func tell(_ event: WorkerEvent, at now: Instant) -> [ImaginedTree.End] {
    actions.removeAll(keepingCapacity: true)
    state.handle(event, at: now, into: &actions)
    var ends: [ImaginedTree.End] = []
    for action in actions {
      switch action {
      case .start(let task, let attempt): tree = ImaginedTree(task: task, attempt: attempt)
      case .report(let report):
        if case .refused = report { tree = nil }
        outbox.append(report)
      case .signal: tree?.isAskedToEnd = true
      case .proceed: tree?.isStopped = false
      case .suspend: tree?.isStopped = true
      case .kill: tree?.isKilled = true
      case .abandon, .noteLeft: break
      case .finish(let task, let attempt, let outcome):
        // The next one may have been started by the same decision.
        if tree?.task == task { tree = nil }
        if plan.kind(task) == .download, outcome.reason == .none {
          outbox.append(.fetched(task, attempt: attempt, ImaginedTree.record(ofTry: attempt)))
        }
        outbox.append(.ended(task, attempt: attempt, outcome))
        ends.append(ImaginedTree.End(task: task, attempt: attempt, outcome: outcome))
      case .leave: phase = .dead
      }
    }
    return ends
  }

  /// The next report, as its line says it.
  mutating func takeReport(overWire: Bool) throws(Finding) -> WorkerReport {
    let report = outbox.removeFirst()
    guard overWire else { return report }
    var writer = FieldWriter()
    MessageCodec.encode(report, into: &writer)
    let decoded = writer.bytes.withUnsafeBytes {
      MessageCodec.report(UnsafeRawBufferPointer(rebasing: $0.dropLast()))
    }
    guard decoded == report else { throw Finding("the wire turned \(report) into another report") }
    return report
  }

  mutating func takeOrder(overWire: Bool) throws(Finding) -> WorkerOrder {
    let order = inbox.removeFirst()
    guard overWire else { return order }
    var writer = FieldWriter()
    MessageCodec.encode(order, into: &writer)
    let decoded = writer.bytes.withUnsafeBytes {
      MessageCodec.order(UnsafeRawBufferPointer(rebasing: $0.dropLast()))
    }
    guard decoded == order else { throw Finding("the wire turned \(order) into another order") }
    return order
  }
}

/// The processes of one try.
struct ImaginedTree {
  struct End {
    var task: TaskID
    var attempt: Int32
    var outcome: Outcome
  }

  let task: TaskID
  let attempt: Int32
  /// Its first process exists.
  var exists = false
  var isAskedToEnd = false
  var isKilled = false
  var isStopped = false
  /// Its own process has ended; what it left behind has not.
  var hasLeftovers = false

  /// What a download did, marked with the number of the try.
  static func record(ofTry attempt: Int32) -> FetchRecord {
    var report = FetchReport()
    report.resumedBytes = Int64(attempt)
    return FetchRecord(report)
  }
}
