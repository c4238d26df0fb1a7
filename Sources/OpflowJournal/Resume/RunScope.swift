internal import OpflowBase
package import OpflowPlan

/// The tasks of a run: selected in any session, mentioned in the journal, or dynamic and not
/// retracted. `--only` of a resume selects for that session and adds to the run.
package enum RunScope {
  /// nil for all tasks if none is `manual`. Ignores selectors without a match; without any other,
  /// all tasks are in scope.
  package static func of(_ history: RunModel, _ plan: Plan) -> TaskSet? {
    let named = ofSelections(history, plan)
    if history.additions.isEmpty { return named }
    let retracted = plan.tasks.lazy.map { TaskID($0) }.filter {
      history[$0].why == .skipped(.retracted)
    }
    if retracted.isEmpty { return named }
    var scope = named ?? .all(taskCount: plan.taskCount)
    for task in retracted { scope.remove(task) }
    return scope
  }

  private static func ofSelections(_ history: RunModel, _ plan: Plan) -> TaskSet? {
    let named = fitting(history.tasks, plan)
    if named.isEmpty, !plan.hasManual, history.selections.contains(where: { $0.only.isEmpty }) {
      return nil
    }
    var scope = TaskSet(taskCount: plan.taskCount)
    var isKnown = false
    for selection in history.selections {
      let only = fitting(selection.only, plan)
      // All selectors of the session are gone, or it had none and selects all tasks that are not
      // `manual`.
      if only.isEmpty, named.isEmpty, !selection.only.isEmpty || !plan.hasManual { continue }
      let skip = fitting(selection.skip, plan)
      guard let tasks = try? Selection(tasks: named, only: only, skip: skip, of: plan) else {
        continue
      }
      isKnown = true
      scope.formUnion(tasks.included)
    }
    guard isKnown else {
      return plan.hasManual ? try? Selection(only: [], skip: [], of: plan).included : nil
    }
    for index in plan.tasks where history.tells(of: TaskID(index)) { scope.insert(TaskID(index)) }
    add(plan.firstTaskCount..<plan.taskCount, to: &scope, plan)
    return scope
  }

  static func add(_ added: Range<Int>, to scope: inout TaskSet, _ plan: Plan) {
    if added.isEmpty { return }
    let unnamed = plan.hasManual ? try? Selection(only: [], skip: [], of: plan) : nil
    for task in added.lazy.map({ TaskID($0) }) where unnamed?.included.contains(task) ?? true {
      scope.insert(task)
    }
  }

  package static func skipped(by history: RunModel, _ plan: Plan) -> TaskSet {
    let selectors = fitting(history.skip, plan)
    return (try? Selector.tasks(selectors, of: plan)) ?? TaskSet(taskCount: plan.taskCount)
  }

  /// Excludes dependencies; nil if the user did not name tasks.
  package static func named(
    by history: RunModel, only: [String], skip: [String], _ plan: Plan
  ) -> TaskSet? {
    let tasks = fitting(history.tasks, plan)
    return (try? Selection(tasks: tasks, only: only, skip: skip, of: plan))?
      .namedForItself(of: plan)
  }

  /// Services that run until the user stops them. The user selected `named`; nil `selected` means
  /// all tasks.
  package static func standing(_ named: TaskSet?, selected: TaskSet?, _ plan: Plan) -> TaskSet {
    var standing = TaskSet(taskCount: plan.taskCount)
    for index in plan.tasks {
      let task = TaskID(index)
      guard plan.isService(task), selected?.contains(task) ?? true else { continue }
      if plan.stays(task, named: named) { standing.insert(task) }
    }
    return standing
  }

  /// The selectors that still match a task. Throws if none is left: the run would have other tasks.
  package static func remaining(
    of selectors: [String], _ plan: Plan
  ) throws(SelectionError) -> [String] {
    let remaining = fitting(selectors, plan)
    if remaining.isEmpty, !selectors.isEmpty { throw .nothingRemains(selectors) }
    return remaining
  }

  package static func fitting(_ selectors: [String], _ plan: Plan) -> [String] {
    selectors.filter { (try? Selector.tasks([$0], of: plan)) != nil }
  }
}

/// The state of each task at the start of the newest session, for a client that attaches later.
/// Results that were not discarded are kept or left alone; the rest of the selection is to run.
package enum EnteredSession {
  package static func states(_ history: RunModel, _ plan: Plan) -> [InitialState] {
    let ofRun = RunScope.of(history, plan)
    let asked = history.selections.last ?? SessionSelection(only: [], skip: [])
    // A resume without its own `--only` has all tasks of the run.
    let isWhole = history.sessions > 1 && asked.only == history.only
    var selected = isWhole ? ofRun : selection(asked, history, plan)?.included
    if var named = selected {
      RunScope.add(history.addedInSession(plan), to: &named, plan)
      selected = named
    }
    let skippedOnce = skippedOnce(asked, history, plan)
    return plan.tasks.map { index in
      let task = TaskID(index)
      let record = history[task]
      if record.why == .skipped(.retracted) { return .excluded }
      let isEarlier = record.settleSequence > 0 && record.settleSequence < history.sessionSequence
      if selected?.contains(task) ?? true {
        guard isEarlier else { return .run }
        if record.state == .skipped, record.why?.skipReason == .skipOption,
          skippedOnce?.contains(task) == true
        {
          return .leftOpen
        }
        return ResumeDecision.initialState(keeping: record.state, record.why?.skipReason)
      }
      guard history.sessions > 1, ofRun?.contains(task) ?? true else { return .excluded }
      return ResumeDecision.initialState(
        leaving: record.isChanged ? .waiting : record.state, record.why?.skipReason)
    }
  }

  package static func states(ofAdded tasks: Range<Int>, _ plan: Plan) -> [InitialState] {
    var entered = TaskSet(taskCount: plan.taskCount)
    RunScope.add(tasks, to: &entered, plan)
    return tasks.map { entered.contains(TaskID($0)) ? .run : .excluded }
  }

  private static func selection(
    _ asked: SessionSelection, _ history: RunModel, _ plan: Plan
  ) -> Selection? {
    try? Selection(
      tasks: RunScope.fitting(history.tasks, plan), only: RunScope.fitting(asked.only, plan),
      skip: RunScope.fitting(asked.skip, plan), of: plan)
  }

  private static func skippedOnce(
    _ asked: SessionSelection, _ history: RunModel, _ plan: Plan
  ) -> TaskSet? {
    if history.sessions < 2 || asked.skip == history.skip { return nil }
    guard let skipped = selection(asked, history, plan)?.skipped else { return nil }
    let always = RunScope.skipped(by: history, plan)
    var once = TaskSet(taskCount: plan.taskCount)
    for task in plan.tasks.lazy.map({ TaskID($0) })
    where skipped.contains(task) && !always.contains(task) { once.insert(task) }
    return once
  }
}

extension RunModel {
  package func isContinued(by request: ResumeRequest) -> Bool {
    request.keepsEnds && close == nil
  }

  /// The attempts of unfinished tasks and the rest of their retry delays; services restart at once.
  /// `wall` is milliseconds since the epoch. If that clock was set back, delays are capped.
  package func triesUsed(
    _ plan: Plan, for request: ResumeRequest, at wall: Int64
  ) -> [TaskID: TriesUsed] {
    guard isContinued(by: request) else { return [:] }
    var used: [TaskID: TriesUsed] = [:]
    for (task, count) in tries.used where !request.reruns(task) {
      used[task, default: TriesUsed()].count = count
    }
    for (task, next) in tries.next
    where self[task].state == .waiting && !request.reruns(task) && !plan.isService(task) {
      let most = Int64(plan.policy(task).retryMaxDelayMilliseconds)
      used[task, default: TriesUsed()].delayMilliseconds = min(max(0, next.minus(wall)), most)
    }
    return used
  }

  /// The requests in force. A cancel request counts only if the task has not ended or was
  /// cancelled, and the user does not rerun it.
  package func standing(_ plan: Plan, for request: ResumeRequest) -> StandingRequests {
    guard isContinued(by: request) else { return StandingRequests() }
    var standing = requests.standing(plan)
    standing.cancelled.removeAll { task in
      let state = self[task].state
      return request.reruns(task) || state.isTerminal && state != .cancelled
    }
    return standing
  }
}
