package import OpflowPlan

/// The tasks of a run: selected in any session, mentioned in the journal, or dynamic and not
/// retracted. `--only` of a resume selects for that session and adds to the run.
package enum RunScope {
  /// Nil for all tasks if none is `manual`. Ignores selectors that no task matches any more;
  /// without any other, all tasks are in scope.
  package static func of(_ history: RunModel, _ plan: Plan) -> TaskSet? {
    let named = ofSelections(history, plan)
    if history.additions.isEmpty { return named }
    let withdrawn = plan.tasks.lazy.map { TaskID($0) }.filter {
      history[$0].why == .skipped(.withdrawn)
    }
    if withdrawn.isEmpty { return named }
    var scope = named ?? .all(taskCount: plan.taskCount)
    for task in withdrawn { scope.remove(task) }
    return scope
  }

  private static func ofSelections(_ history: RunModel, _ plan: Plan) -> TaskSet? {
    // The same for all sessions.
    let named = fitting(history.tasks, plan)
    if named.isEmpty, !plan.hasManual, history.selections.contains(where: { $0.only.isEmpty }) {
      return nil
    }
    var scope = TaskSet(taskCount: plan.taskCount)
    var isKnown = false
    for selection in history.selections {
      let only = fitting(selection.only, plan)
      // All its selectors are gone; or it had none and means all tasks that are not `manual`.
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

  /// Adds those that run without being named.
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

  /// Selected by the user for this session, without dependencies; nil if no tasks were named.
  package static func named(
    by history: RunModel, only: [String], skip: [String], _ plan: Plan
  ) -> TaskSet? {
    let tasks = fitting(history.tasks, plan)
    return (try? Selection(tasks: tasks, only: only, skip: skip, of: plan))?
      .namedForItself(of: plan)
  }

  /// The services that run until the user stops them.
  ///
  /// - Parameters:
  ///   - named: selected by the user; nil for none.
  ///   - selected: the tasks of the session; nil for all.
  package static func standing(
    _ named: TaskSet?, selected: TaskSet?, _ plan: Plan
  ) -> TaskSet {
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
