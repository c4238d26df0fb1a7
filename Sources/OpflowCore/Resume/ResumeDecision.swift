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
    /// It begins in `waiting`; whether it is skipped then is the scheduler's to say.
    case run(RerunReason)
    /// It fails at once, reason `interrupted`.
    case fail

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
  /// Tasks with verdict `run`, those that will be skipped again included.
  package private(set) var runCount = 0
  package private(set) var failCount = 0
  /// Whether any task will start, as far as can be told before.
  package private(set) var startsAnything = false
  /// `finally` tasks run though nothing else may start: an earlier drive that started tasks ended
  /// before them.
  package private(set) var owesFinally = false

  /// By task: its needs cannot be met, so it will be skipped.
  private(set) var lacksNeeds: [Bool]
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
    removed = history.removed
    var firstStarted: TaskID?
    for index in plan.topologicalOrder {
      let task = TaskID(index)
      guard request.selects(task) else {
        if request.isOfRun(task) { verdicts[task.index] = leftOut(task, input) }
        continue
      }
      guard !plan.flags(task).contains(.finally) else { continue }
      apply(verdict(for: task, input), to: task, input)
      if firstStarted == nil, starts(task, input) { firstStarted = task }
    }
    decideFinally(input, firstStarted: firstStarted)
  }

  /// Frees what only the decision itself looks at.
  mutating func forgetNeeds() { lacksNeeds = [] }

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
      case .run:
        guard request.skips(TaskID(index)) else { return .run }
        return request.isSkippedOnce(TaskID(index)) ? .skipOnce : .skipOption
      case .keep(.skipped, .skipOption) where request.isSkippedOnce(TaskID(index)):
        return .leftOpen
      case .keep(let state, let reason): return Self.initialState(keeping: state, reason)
      }
    }
    for task in followers where states[task.index] == .run { states[task.index] = .afterNeeds }
    return states
  }

  static func initialState(leaving state: TaskState, _ reason: SkipReason?) -> InitialState {
    switch state {
    case .succeeded, .upToDate, .failedAllowed: .leftDone
    case .skipped: reason?.isUpstream ?? false ? .leftUpstream : .excluded
    case .failed: .leftFailed
    case .waiting, .ready, .handed, .running, .suspended, .cancelled: .leftOpen
    }
  }

  static func initialState(keeping state: TaskState, _ reason: SkipReason?) -> InitialState {
    switch state {
    case .succeeded: .succeeded
    case .upToDate: .upToDate
    case .failedAllowed: .failedAllowed
    case .failed: .failed
    case .skipped: reason?.isUpstream ?? false ? .skippedUpstream : .skipped
    // Never kept: they are no ends.
    case .waiting, .ready, .handed, .running, .suspended, .cancelled: .run
    }
  }

  struct Input {
    let plan: Plan
    let history: RunModel
    let request: ResumeRequest
  }

  private mutating func apply(_ verdict: Verdict, to task: TaskID, _ input: Input) {
    verdicts[task.index] = verdict
    let reason: RerunReason
    switch verdict {
    case .outside, .leave: return
    case .keep:
      keptCount += 1
      return
    case .run(let why):
      runCount += 1
      reason = why
    case .fail:
      failCount += 1
      reason = .interrupted
    }
    lacksNeeds[task.index] = isCertainToLackNeeds(task, input)
    let record = input.history[task]
    let isTold = input.request.isNew(task) && reason == .new
    guard record.state != .waiting || record.isUnproven || isTold else { return }
    transitions.append(Transition(.resume(reason), task))
  }

  private mutating func decideFinally(_ input: Input, firstStarted: TaskID?) {
    var tasks: [TaskID] = []
    for index in input.plan.topologicalOrder {
      let task = TaskID(index)
      if input.plan.flags(task).contains(.finally), input.request.selects(task) {
        tasks.append(task)
      }
    }
    let owed = Set(tasks.filter { isOwed($0, input) })
    owesFinally = !owed.isEmpty
    startsAnything = firstStarted != nil || owesFinally
    for task in tasks {
      let follows = input.request.finallyFollowsNeeds && !owed.contains(task)
      let isDue = startsAnything && (!follows || firstNeedThatStarts(task, input) != nil)
      var verdict = verdict(for: task, input)
      if case .keep(let state, _) = verdict, state != .failed, isDue {
        verdict = .run(.afterRerun(firstStarted ?? .none))
      } else if !isDue, input.history[task].state.isTerminal,
        input.history[task].state != .cancelled
      {
        verdict = .keep(input.history[task])
      }
      apply(verdict, to: task, input)
      if follows { followers.append(task) }
    }
  }
}
