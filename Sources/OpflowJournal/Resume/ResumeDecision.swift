package import OpflowPlan

/// The decision of a session for each task, given the journal. Without a history, everything runs.
///
/// A result is *settled* if it is a success, an allowed failure, or a skip whose reason still
/// holds. A task is kept if its result is settled, its fingerprint is unchanged, its dependencies
/// are kept and settled before it started, its outputs exist, and the user did not request it. Else
/// it runs, for the first of these reasons: asked, interrupted, failed before, changed, output
/// missing, after rerun of another task, new.
///
/// Skips by `if` or `--skip` hold as long as these do; a skip because of a dependency, if kept
/// tasks make it certain. An interrupted task with `on_interrupted: fail` fails, and stays failed
/// until the user requests it. `finally` tasks run in each session that runs anything or owes them.
package struct ResumeDecision: Sendable {
  package enum Verdict: Equatable, Sendable {
    case outside
    /// Excluded by `--only`: the task keeps its state. `waiting` without a valid end: the run is
    /// incomplete.
    case leave(TaskState, SkipReason?)
    case keep(TaskState, SkipReason?)
    /// The task keeps its state if inputs and outputs are unchanged; checked when ready.
    case check
    /// The task keeps its state if all dependencies do, some of which are checked first; a
    /// `finally` task, if no task starts.
    case later(TaskState, SkipReason?)
    /// The engine decides whether the task is then skipped.
    case run(RerunReason)
    /// A running service of this process stays up unless a check makes one of its dependencies
    /// rerun.
    case stay
    /// Fails at once, with reason `interrupted`.
    case fail

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

  package private(set) var verdicts: [Verdict]
  /// Written directly after the `resume` line, in order: one per task that leaves the state of an
  /// earlier session or is new in the manifest.
  package private(set) var transitions: [Transition] = []
  package let removed: [String]
  package private(set) var keptCount = 0
  package private(set) var keepsFailures = false
  /// Includes tasks that will be skipped again.
  package private(set) var runCount = 0
  package private(set) var failCount = 0
  package private(set) var checkCount = 0
  /// As far as known.
  package private(set) var startsAnything = false
  /// `finally` tasks run even if nothing else starts: an earlier session ended before them.
  package private(set) var owesFinally = false

  private var leavesToChecks = false

  /// Per task: a dependency makes its skip certain.
  private(set) var lacksNeeds: [Bool]
  /// The same if all checked tasks keep their results. Empty in plans without checks.
  private(set) var lacksNeedsThen: [Bool]
  /// `finally` tasks that start only if a dependency does.
  private var followers: [TaskID] = []

  package init(plan: Plan, history: RunModel, request: ResumeRequest = ResumeRequest()) {
    self.init(deciding: Input(plan: plan, history: history, request: request))
    forgetNeeds()
  }

  /// The caller must free `lacksNeeds` and `lacksNeedsThen` with `forgetNeeds()`.
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

  mutating func forgetNeeds() { (lacksNeeds, lacksNeedsThen) = ([], []) }

  package subscript(task: TaskID) -> Verdict { verdicts[task.index] }

  package func complete(_ entry: inout ResumeEntry) {
    entry.reused = keptCount
    entry.retracted = transitions.count
    entry.removed = removed
  }

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
      case .keep(.skipped, .skipOption) where request.isSkippedOnce(TaskID(index)): return .leftOpen
      // Must not start even for a new dependent.
      case .keep(.skipped, .unused) where request.skips(TaskID(index)): return .skipped
      case .keep(let state, let reason):
        return request.keepsEnds
          ? Self.initialState(goingOn: state, reason) : Self.initialState(keeping: state, reason)
      }
    }
    for task in followers where states[task.index] == .run { states[task.index] = .afterNeeds }
    for task in followers where states[task.index] == .later {
      states[task.index] = .laterAfterNeeds
    }
    return states
  }

  package func results(_ history: RunModel) -> [TaskID: EarlierResult] {
    guard leavesToChecks else { return [:] }
    var results: [TaskID: EarlierResult] = [:]
    for index in verdicts.indices {
      let task = TaskID(index)
      let record = history[task]
      var result = EarlierResult(state: record.state, origin: history.origins[task])
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
    case .waiting, .ready, .checking, .prefetched, .running, .suspended, .cancelled: .leftOpen
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
    // Never kept.
    case .waiting, .ready, .checking, .prefetched, .running, .suspended, .cancelled: .run
    }
  }

  /// Tasks can be retried as in the crashed session that this one continues.
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

  /// The restart of a service is decided after its dependents.
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

  /// A service without a user is not a reason to run anything.
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
      // Certain ends of dependencies may exclude the task, whatever checks find.
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

  /// `tasks` are the selected `finally` tasks in topological order. `firstStarted` starts unless a
  /// check or an `if` prevents it; `firstCertain` starts in any case.
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
      // A failed task reruns if another task starts, which checks may decide.
      let mayBeDue = state == .failed && (follows ? mayFollow : firstStarted != nil)
      var verdict = verdict(for: task, input)
      if isDue, verdict.keepsEnd {
        verdict = .run(.afterRerun(firstCertain ?? .none))
      } else if !isDue, !mayBeDue, state.isTerminal, state != .cancelled {
        verdict = .keep(input.history[task])
      }
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

package struct ResumeRequest: Sendable {
  /// Includes dependencies; nil for all tasks.
  package var selected: TaskSet?
  /// The run's tasks: `selected` and the tasks of earlier sessions; nil for all tasks.
  package var scope: TaskSet?
  /// Run even if no other task does.
  package var namedFinally: TaskSet?
  /// With named tasks, a `finally` task runs only if a dependency ran.
  package var finallyFollowsNeeds = false
  package var rerun: TaskSet?
  package var skip: TaskSet?
  /// Tasks that the whole run skips; a later session can run the others of `skip`. nil if there are
  /// no others.
  package var runSkip: TaskSet?
  /// Keeps failures too: the session continues a crashed one, for a client that knows these ends.
  /// Requests stay in force. Services and `finally` tasks are treated as usual.
  package var keepsEnds = false
  package var added: TaskSet?
  package var outputMissing: TaskSet?

  /// Generators whose matrix tasks are missing from the plan.
  package var withoutInstances: TaskSet?

  /// The values of finished tasks, with the strings that an `if` may read.
  package var values: [TaskID: ValueSet] = [:]

  package var arguments: TaskArguments?
  /// Services that run until the user stops them, and are then done.
  package var standing: TaskSet?
  package var namedServices: TaskSet?

  /// Services that run under this process with an unchanged definition.
  package var held: TaskSet?

  package init() {}

  var singlesOutNone: Bool {
    rerun == nil && skip == nil && outputMissing == nil && withoutInstances == nil
      && arguments == nil && !keepsEnds
  }

  func isOfRun(_ task: TaskID) -> Bool { scope?.contains(task) ?? true }
  func namesFinally(_ task: TaskID) -> Bool { namedFinally?.contains(task) ?? false }
  package func selects(_ task: TaskID) -> Bool { selected?.contains(task) ?? true }
  func stays(_ service: TaskID) -> Bool { standing?.contains(service) ?? false }
  func names(_ service: TaskID) -> Bool { namedServices?.contains(service) ?? false }
  func holds(_ service: TaskID) -> Bool { held?.contains(service) ?? false }
  func reruns(_ task: TaskID) -> Bool { rerun?.contains(task) ?? false }
  package func skips(_ task: TaskID) -> Bool { skip?.contains(task) ?? false }
  func isSkippedOnce(_ task: TaskID) -> Bool { runSkip.map { !$0.contains(task) } ?? false }
  func isNew(_ task: TaskID) -> Bool { added?.contains(task) ?? false }
  func lacksInstances(_ task: TaskID) -> Bool { withoutInstances?.contains(task) ?? false }
  func missesOutput(_ task: TaskID) -> Bool { outputMissing?.contains(task) ?? false }
}

extension ResumeDecision {
  /// Decides until no running task reads missing values of a kept task: such a kept task reruns.
  /// Values may be lost, or not stored because no task read them. Adds to `outputMissing`.
  /// `areThere`: a task's values are unchanged; called at most once per task.
  package static func heedingValues(
    plan: Plan, history: RunModel, request: inout ResumeRequest, areThere: (TaskID) -> Bool
  ) -> ResumeDecision {
    guard plan.hasLateItems else {
      return ResumeDecision(plan: plan, history: history, request: request)
    }
    var asked: Set<TaskID> = []
    while true {
      let input = Input(plan: plan, history: history, request: request)
      var decision = ResumeDecision(deciding: input)
      var again: Set<TaskID> = []
      // Dependents first: a task that reruns reads values too.
      for index in plan.topologicalOrder.reversed() {
        let reader = TaskID(index)
        guard plan.flags(reader).contains(.readsValues),
          decision.mayStart(reader, input) || again.contains(reader)
        else { continue }
        for need in plan.valueSources(of: reader) {
          guard decision.keepsSuccess(need), asked.insert(need).inserted,
            !decision.willSkipByWish(need, input)
          else { continue }
          if let left = history.values.left[need] {
            if left.values.isEmpty || areThere(need) { continue }
          } else if !decision.starts(reader, input), !again.contains(reader),
            !history[reader].isChanged,
            plan.lateCondition(reader) == nil || history.state(reader) == .failedAllowed
          {
            // An unchanged reader got its result from the values; only a new `if` needs them again.
            continue
          }
          again.insert(need)
        }
      }
      if again.isEmpty {
        decision.forgetNeeds()
        return decision
      }
      var missing = request.outputMissing ?? TaskSet(taskCount: plan.taskCount)
      for task in again { missing.insert(task) }
      request.outputMissing = missing
    }
  }
}
