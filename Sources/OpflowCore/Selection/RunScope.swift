/// What a run is about: the tasks that any of its drives was to do, those that its journal speaks of, and those
/// that were added to it and not withdrawn. `--only` of a resume is of that drive alone, and adds to the run what it names.
package enum RunScope {
  /// Nil for all tasks, of which none is `manual`. Selectors that an edit of the manifest left without a
  /// task count for nothing; where none is left that names any, the run is about all tasks.
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
    // What a run of named tasks is about is fixed.
    let named = fitting(history.tasks, plan)
    if named.isEmpty, !plan.hasManual, history.selections.contains(where: { $0.only.isEmpty }) {
      return nil
    }
    var scope = TaskSet(taskCount: plan.taskCount)
    var isKnown = false
    for selection in history.selections {
      let only = fitting(selection.only, plan)
      // Nothing that it named is left; or it named nothing, and is about all but `manual` tasks.
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

  /// Adds those of the tasks that were added to a run that nobody has to name.
  static func add(_ added: Range<Int>, to scope: inout TaskSet, _ plan: Plan) {
    if added.isEmpty { return }
    let unnamed = plan.hasManual ? try? Selection(only: [], skip: [], of: plan) : nil
    for task in added.lazy.map({ TaskID($0) }) where unnamed?.included.contains(task) ?? true {
      scope.insert(task)
    }
  }

  /// What the run itself, and not one drive of it, skips.
  package static func skipped(by history: RunModel, _ plan: Plan) -> TaskSet {
    let selectors = fitting(history.skip, plan)
    return (try? Selector.tasks(selectors, of: plan)) ?? TaskSet(taskCount: plan.taskCount)
  }

  /// The tasks that a drive of the run is about for themselves; nil for all.
  ///
  /// - Parameters:
  ///   - only: what the drive selects.
  ///   - skip: likewise.
  package static func named(
    by history: RunModel, only: [String], skip: [String], _ plan: Plan
  ) -> TaskSet? {
    let tasks = fitting(history.tasks, plan)
    return (try? Selection(tasks: tasks, only: only, skip: skip, of: plan))?
      .namedForItself(of: plan)
  }

  /// Services that stay in a drive though nothing needs them.
  ///
  /// - Parameters:
  ///   - named: see above.
  ///   - selected: what the drive is about; nil for all.
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

  /// Those of a run's selectors that still name a task.
  ///
  /// - Throws: when an edit of the manifest left none of them with a task: the run would be about
  ///   something else.
  package static func remaining(
    of selectors: [String], _ plan: Plan
  ) throws(SelectionError) -> [String] {
    let remaining = fitting(selectors, plan)
    if remaining.isEmpty, !selectors.isEmpty { throw .nothingRemains(selectors) }
    return remaining
  }

  /// Those of some selectors that name a task.
  package static func fitting(_ selectors: [String], _ plan: Plan) -> [String] {
    selectors.filter { (try? Selector.tasks([$0], of: plan)) != nil }
  }
}
