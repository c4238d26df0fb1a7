import OpflowPlan
import OpflowWire
import OpflowWorker

/// A command worker with a simulated process tree.
struct SimulatedCommands {
  var state: WorkerState
  var tree: SimulatedTree?
  /// The task whose result is being recorded.
  private(set) var recording = TaskID.none
  private(set) var recordsSuccess = true
  private var actions: [WorkerAction] = []
  /// The valid values according to its messages.
  private(set) var told: [TaskID: Int32?] = [:]
  private let source: PlanSource
  private var plan: Plan { source.plan }

  init(_ source: PlanSource) {
    self.source = source
    state = WorkerState(
      policy: { source.plan.policy($0) },
      recordsEnd: {
        source.plan.hasChecks && source.plan.isChecked($0) && source.plan.recordsEnd($0, $1)
      })
  }

  /// Passes an event to the worker and performs its own actions. Returns the trees that the event
  /// ended, and whether the worker leaves.
  mutating func tell(
    _ event: WorkerEvent, at now: Instant, into outbox: inout [WorkerReport]
  ) -> (ends: [SimulatedTree.End], leaves: Bool) {
    actions.removeAll(keepingCapacity: true)
    if case .message(.values(let task, let attempt)) = event {
      told.updateValue(attempt, forKey: task)
    }
    state.handle(event, at: now, into: &actions)
    if case .recorded = event { recording = .none }
    var ends: [SimulatedTree.End] = []
    var leaves = false
    for action in actions {
      switch action {
      case .start(let task, let attempt): tree = SimulatedTree(task: task, attempt: attempt)
      case .report(let report):
        if case .refused = report { tree = nil }
        if case .lacks = report { tree = nil }
        if case .revoked(let task, _) = report, tree?.task == task { tree = nil }
        if case .ended = report { tree = nil }
        outbox.append(report)
      case .signal: tree?.isAskedToEnd = true
      case .proceed: tree?.isStopped = false
      case .suspend: tree?.isStopped = true
      case .kill: tree?.isKilled = true
      case .abandon:
        guard let tree else { break }
        self.tree?.isAbandoned = true
        outbox.append(.left(tree.task, attempt: tree.attempt, SimulatedTree.survivors))
      case .noteLeft: break
      case .launch: tree?.isBroughtBack = false
      case .record(let task, let isSuccess): (recording, recordsSuccess) = (task, isSuccess)
      // Recording ends at once.
      case .stopRecording: break
      case .finish(let task, let attempt, let outcome):
        let outlives = tree?.task == task && tree?.isAbandoned == true
        // The same decision may have started the next task.
        if tree?.task == task { tree = nil }
        if outcome.isSuccess, plan.flags(task).contains(.leavesValues) {
          let keepsTexts = plan.flags(task).contains(.decidesOthers)
          for value in source.tasks[task.index].values(keepsTexts: keepsTexts) {
            outbox.append(.value(task, attempt: attempt, value))
          }
        }
        outbox.append(.ended(task, attempt: attempt, outcome))
        ends.append(
          SimulatedTree.End(task: task, attempt: attempt, outcome: outcome, outlives: outlives))
      case .leave: leaves = true
      }
    }
    return (ends, leaves)
  }
}

/// The processes of one attempt.
struct SimulatedTree {
  struct End {
    var task: TaskID
    var attempt: Int32
    var outcome: Outcome
    /// A process could not be killed.
    var outlives = false
  }

  static let survivors = LeftBehind(count: 1, names: "4711 (daemon, user root)", areAlive: true)

  let task: TaskID
  let attempt: Int32
  /// Its first process exists, or its result is being restored instead.
  var exists = false
  var isBroughtBack = false
  var isAskedToEnd = false
  var isKilled = false
  var isStopped = false
  /// Its main process has ended, its descendants have not.
  var hasLeftovers = false
  /// Its descendants could not be killed.
  var isAbandoned = false
  /// A service that has reported readiness.
  var isReady = false
  /// Tokens lent to its jobserver, and how many of them are requested back.
  var lent: Int32 = 0
  var owed: Int32 = 0
}
