/// What a drive of a run does with each task, given what the journal says; for a new run, whose
/// history is empty, everything runs.
///
/// A result is *settled* when it is a success, an allowed failure, or a skip whose verdict still
/// holds. A task is kept when its result is settled, its fingerprint is the same, every task that it
/// needs is kept and had settled before it started, its outputs exist, and nobody asked for it.
/// Otherwise it runs, with the first reason that applies of: asked, interrupted, failed before,
/// changed, output missing, after rerun of another, new.
///
/// A false `if` and `--skip` hold while they are so, whatever the task's needs do. A skip for lack of
/// needs holds when tasks that are kept make it certain. A task with `on_interrupted: fail` that was
/// cut short fails, and stays failed until it is asked for.
///
/// `finally` tasks run at the end of every drive that runs anything, and when an earlier drive owes
/// them; else they keep what they have.
package struct ResumeDecision: Sendable {
  package enum Verdict: Equatable, Sendable {
    /// It is no part of the run.
    case outside
    /// `--only` leaves it out of this drive: it stays what it is. `waiting` where it has no end, or one
    /// that does not hold any more, so that the run is not done without it.
    case leave(TaskState, SkipReason?)
    /// It keeps the state that it is in, and why it was skipped where it was.
    case keep(TaskState, SkipReason?)
    /// It keeps its state if its inputs and outputs are as they were, which is seen when it is ready.
    case check
    /// It keeps the state that it is in, and why it was skipped where it was, if all that it needs does, some
    /// of which is to be checked; a `finally` task if nothing starts.
    case later(TaskState, SkipReason?)
    /// It begins in `waiting`; whether it is skipped then is the scheduler's to say.
    case run(RerunReason)
    /// A service that is up, in the hands of this process, and stays so, unless something that it needs runs
    /// again by what checks find.
    case stay
    /// It fails at once, reason `interrupted`.
    case fail

    /// It keeps an end, or may, that is no failure.
    fileprivate var keepsEnd: Bool {
      switch self {
      case .keep(let state, _), .later(let state, _): state != .failed
      case .outside, .leave, .check, .run, .fail, .stay: false
      }
    }

    static func keep(_ record: TaskRecord) -> Verdict {
      .keep(record.state, record.why?.skipReason)
    }
  }

  /// By task.
  package private(set) var verdicts: [Verdict]
  /// Written right after the run's own `resume`, in this order, with nothing between: one for each
  /// task that leaves a state which an earlier drive left it in, or is new in the manifest.
  package private(set) var transitions: [Transition] = []
  /// Ids of tasks that the manifest no longer has.
  package let removed: [String]
  package private(set) var keptCount = 0
  /// Whether any of those that it keeps has failed.
  package private(set) var keepsFailures = false
  /// Tasks with verdict `run`, those that will be skipped again included.
  package private(set) var runCount = 0
  package private(set) var failCount = 0
  /// Tasks with verdict `check`.
  package private(set) var checkCount = 0
  /// Whether any task will start, as far as can be told before.
  package private(set) var startsAnything = false
  /// `finally` tasks run though nothing else may start: an earlier drive that started tasks ended
  /// before them.
  package private(set) var owesFinally = false

  /// Whether some task keeps what it has only if a check finds so, or nothing starts.
  private var leavesToChecks = false

  /// By task: its needs cannot be met, so it will be skipped.
  private(set) var lacksNeeds: [Bool]
  /// The same, if all that is to be checked keeps what it has. Empty for a plan without checks.
  private(set) var lacksNeedsThen: [Bool]
  /// `finally` tasks that start only when one of their needs does.
  private var followers: [TaskID] = []

  package init(plan: Plan, history: RunModel, request: ResumeRequest = ResumeRequest()) {
    self.init(deciding: Input(plan: plan, history: history, request: request))
    forgetNeeds()
  }

  /// Still knows which tasks lack their needs.
  init(deciding input: Input) {
    let (plan, history, request) = (input.plan, input.history, input.request)
    verdicts = [Verdict](repeating: .outside, count: plan.taskCount)
    lacksNeeds = [Bool](repeating: false, count: plan.taskCount)
    lacksNeedsThen = plan.hasChecks ? lacksNeeds : []
    removed = history.removed
    var firstStarted: TaskID?
    var firstCertain: TaskID?
    var finallyTasks: [TaskID] = []
    let isPlain = request.singlesOutNone && !plan.hasChecks && !plan.hasServices
    for index in plan.topologicalOrder {
      let task = TaskID(index)
      guard request.selects(task) else {
        if request.isOfRun(task) { verdicts[task.index] = leftOut(task, input) }
        continue
      }
      if plan.flags(task).contains(.finally) {
        finallyTasks.append(task)
        continue
      }
      if isPlain, keepsPlainly(task, input) {
        assert(verdict(for: task, input) == .keep(.succeeded, nil))
        verdicts[task.index] = .keep(.succeeded, nil)
        keptCount += 1
        continue
      }
      if plan.hasServices, plan.isService(task) {
        decideService(task, input)
      } else {
        apply(verdict(for: task, input), to: task, input)
      }
      guard case .run = verdicts[task.index] else { continue }
      if firstStarted == nil, starts(task, input) { firstStarted = task }
      if firstCertain == nil, startsForCertain(task, input) { firstCertain = task }
    }
    decide(finallyTasks, input, firstStarted: firstStarted, firstCertain: firstCertain)
    if plan.hasServices { keepServices(input) }
  }

  /// Frees what only the decision itself looks at.
  mutating func forgetNeeds() { (lacksNeeds, lacksNeedsThen) = ([], []) }

  package subscript(task: TaskID) -> Verdict { verdicts[task.index] }

  /// Fills in what a run's `resume` line says of the decision.
  package func complete(_ entry: inout ResumeEntry) {
    entry.reused = keptCount
    entry.withdrawn = transitions.count
    entry.removed = removed
  }

  /// How each task enters the scheduler.
  package func initialStates(_ request: ResumeRequest) -> [InitialState] {
    var states = verdicts.indices.map { (index) -> InitialState in
      switch verdicts[index] {
      case .outside: return .excluded
      case .leave(let state, let reason): return Self.initialState(leaving: state, reason)
      case .fail: return .interrupted
      case .stay: return .stays
      case .check: return .recheck
      case .later: return .later
      case .run:
        guard request.skips(TaskID(index)) else { return .run }
        return request.isSkippedOnce(TaskID(index)) ? .skipOnce : .skipOption
      case .keep(.skipped, .skipOption) where request.isSkippedOnce(TaskID(index)):
        return .leftOpen
      // It is not to start for anything that comes.
      case .keep(.skipped, .unused) where request.skips(TaskID(index)): return .skipped
      case .keep(let state, let reason):
        return request.keepsEnds
          ? Self.initialState(goingOn: state, reason) : Self.initialState(keeping: state, reason)
      }
    }
    for task in followers where states[task.index] == .run { states[task.index] = .afterNeeds }
    for task in followers where [.later, .recheck].contains(states[task.index]) {
      states[task.index] = .laterAfterNeeds
    }
    return states
  }

  /// What tasks have that may come to keep it.
  package func results(_ history: RunModel) -> [TaskID: EarlierResult] {
    guard leavesToChecks else { return [:] }
    var results: [TaskID: EarlierResult] = [:]
    for index in verdicts.indices {
      let task = TaskID(index)
      let record = history[task]
      var result = EarlierResult(
        state: record.state, origin: history.origins[task])
      switch verdicts[index] {
      case .check: break
      case .later(let state, let reason):
        result.state = state
        result.isSkippedUpstream = reason?.isUpstream ?? false
      case .outside, .leave, .keep, .run, .fail, .stay: continue
      }
      results[task] = result
    }
    return results
  }

  static func initialState(leaving state: TaskState, _ reason: SkipReason?) -> InitialState {
    switch state {
    case .succeeded, .upToDate, .failedAllowed: .leftDone
    case .skipped: reason?.isUpstream ?? false ? .leftUpstream : .excluded
    case .failed: .leftFailed
    case .waiting, .ready, .checking, .handed, .running, .suspended, .cancelled: .leftOpen
    }
  }

  static func initialState(keeping state: TaskState, _ reason: SkipReason?) -> InitialState {
    switch state {
    case .succeeded: .succeeded
    case .upToDate: .upToDate
    case .failedAllowed: .failedAllowed
    case .failed: .failed
    case .skipped where reason == .unused: .unused
    case .skipped: reason?.isUpstream ?? false ? .skippedUpstream : .skipped
    // Never kept: they are no ends.
    case .waiting, .ready, .checking, .handed, .running, .suspended, .cancelled: .run
    }
  }

  /// With the ends of a drive that was lost: what may be retried there may be here.
  private static func initialState(goingOn state: TaskState, _ reason: SkipReason?) -> InitialState
  {
    switch state {
    case .failed: .stillFailed
    case .cancelled: .stillCancelled
    case .skipped where reason?.isUpstream ?? false: .stillUpstream
    default: initialState(keeping: state, reason)
    }
  }

  struct Input {
    let plan: Plan
    let history: RunModel
    let request: ResumeRequest
  }

  private mutating func noteNeeds(of task: TaskID, _ input: Input) {
    lacksNeeds[task.index] = isCertainToLackNeeds(task, input)
    if input.plan.hasChecks {
      lacksNeedsThen[task.index] = isCertainToLackNeeds(task, input, ifChecksHold: true)
    }
  }

  /// Whether it starts again is told when all is decided that needs it.
  private mutating func decideService(_ task: TaskID, _ input: Input) {
    let verdict = verdict(for: task, input)
    if verdict == .run(.interrupted), mayStayUp(task, input) {
      return apply(.stay, to: task, input)
    }
    if input.plan.dependents(task).isEmpty {
      let holds = verdict == .run(.service) && !isWanted(task, input)
      return apply(holds ? .keep(input.history[task]) : verdict, to: task, input)
    }
    verdicts[task.index] = verdict
    noteNeeds(of: task, input)
  }

  /// Services keep what they are that nothing is to need; they are no reason to run anything.
  private mutating func keepServices(_ input: Input) {
    for index in input.plan.topologicalOrder.reversed() {
      let task = TaskID(index)
      guard input.plan.isService(task), input.request.selects(task),
        !input.plan.dependents(task).isEmpty
      else { continue }
      var verdict = verdicts[task.index]
      if verdict == .stay {
        if isStaying(task, input) { continue }
        keptCount -= 1
        verdict = .run(.interrupted)
      }
      let holds = verdict == .run(.service) && !isWanted(task, input)
      apply(holds ? .keep(input.history[task]) : verdict, to: task, input)
    }
  }

  private mutating func apply(_ verdict: Verdict, to task: TaskID, _ input: Input) {
    verdicts[task.index] = verdict
    let reason: RerunReason
    switch verdict {
    case .outside, .leave: return
    case .later, .check:
      leavesToChecks = true
      if verdict == .check { checkCount += 1 }
      // What it needs may rule it out, whatever checks find.
      return noteNeeds(of: task, input)
    case .keep, .stay:
      keptCount += 1
      if case .keep(.failed, _) = verdict { keepsFailures = true }
      return
    case .run(let why):
      runCount += 1
      reason = why
    case .fail:
      failCount += 1
      reason = .interrupted
    }
    noteNeeds(of: task, input)
    let record = input.history[task]
    let isTold = input.request.isNew(task) && reason == .new
    guard record.state != .waiting || record.isUnproven || isTold else { return }
    transitions.append(Transition(.resume(reason), task))
  }

  /// - Parameters:
  ///   - tasks: the `finally` tasks that are selected, in the topological order.
  ///   - firstStarted: the first task that starts, unless a check finds it up to date, or its `if` to be false.
  ///   - firstCertain: the first that starts whatever is found.
  private mutating func decide(
    _ tasks: [TaskID], _ input: Input, firstStarted: TaskID?, firstCertain: TaskID?
  ) {
    let owed = Set(tasks.filter { isOwed($0, input) })
    owesFinally = !owed.isEmpty
    startsAnything = firstStarted != nil || owesFinally
    for task in tasks {
      let follows = input.request.finallyFollowsNeeds && !owed.contains(task)
      let isDue =
        (firstCertain != nil || owesFinally)
        && (!follows || firstNeedThatStarts(task, input) != nil)
      let state = input.history[task].state
      let mayFollow = follows && needsWhatMayStart(task, input)
      // One that failed before anything had started runs where something does, which checks may tell.
      let mayBeDue = state == .failed && (follows ? mayFollow : firstStarted != nil)
      var verdict = verdict(for: task, input)
      if isDue, verdict.keepsEnd {
        verdict = .run(.afterRerun(firstCertain ?? .none))
      } else if !isDue, !mayBeDue, state.isTerminal, state != .cancelled {
        verdict = .keep(input.history[task])
      }
      // Whether anything starts, checks are to tell, or an `if`.
      let mayStart =
        firstStarted != nil && (input.plan.hasChecks || firstCertain == nil || mayFollow)
      if case .keep(let state, let reason) = verdict, state != .failed, !isDue,
        checkCount > 0 || mayStart
      {
        verdict = .later(state, reason)
      }
      apply(verdict, to: task, input)
      if follows { followers.append(task) }
    }
  }
}
