/// Which tasks a run is about, from `--only` and `--skip`.
package struct Selection: Equatable, Sendable {
  /// What runs or is skipped; the other tasks are no part of the run.
  package private(set) var included: TaskSet
  /// Named by `--skip`: dependents run as if it had succeeded.
  package private(set) var skipped: TaskSet

  /// All tasks of a plan.
  package init(all plan: Plan) {
    included = .all(taskCount: plan.taskCount)
    skipped = TaskSet(taskCount: plan.taskCount)
  }

  /// - Parameters:
  ///   - only: with any, just these tasks, what they need, and the `finally` tasks.
  ///   - skip: wins over `only`; what a skipped task needs is not taken along for it.
  /// - Throws: the flag and what is wrong with a selector that names no task.
  package init(only: [String], skip: [String], of plan: Plan) throws(UsageError) {
    skipped = try Self.tasks("--skip", skip, plan)
    guard !only.isEmpty else {
      included = .all(taskCount: plan.taskCount)
      return
    }
    var included = try Self.tasks("--only", only, plan)
    var open = plan.tasks.map { TaskID($0) }.filter { included.contains($0) }
    while let task = open.popLast() {
      if skipped.contains(task) { continue }
      for edge in plan.needs(task) {
        let need = TaskID(plan.needTargets[edge])
        if included.insert(need) { open.append(need) }
      }
    }
    for index in plan.tasks where plan.flags(TaskID(index)).contains(.finally) {
      included.insert(TaskID(index))
    }
    self.included = included
  }

  /// The tasks that selectors name, with the flag told in the error.
  package static func tasks(
    _ flag: String, _ selectors: [String], _ plan: Plan
  ) throws(UsageError) -> TaskSet {
    do throws(SelectionError) {
      return try Selector.tasks(selectors, of: plan)
    } catch {
      throw UsageError(error.message(of: flag))
    }
  }

  /// How a task enters the first drive of a run.
  package func initialState(_ task: TaskID) -> InitialState {
    if !included.contains(task) { return .excluded }
    return skipped.contains(task) ? .skipOption : .run
  }
}
