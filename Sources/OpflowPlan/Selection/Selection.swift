/// The tasks of a run, selected by names, `--only` and `--skip`.
package struct Selection: Equatable, Sendable {
  /// Run or are skipped; the others are not part of the run.
  package private(set) var included: TaskSet
  /// By `--skip`: dependents run as if these had succeeded.
  package private(set) var skipped: TaskSet
  /// Named `finally` tasks: they run even if no other task does.
  package private(set) var namedFinally: TaskSet?
  /// `finally` tasks that run only if a dependency ran, because tasks were named.
  private var followers: TaskSet
  private var named: TaskSet?
  private var onlyNamed: TaskSet?
  /// Nothing is named, so `manual` tasks run only if needed.
  private var leavesManualOut = false

  package init(all plan: Plan) {
    included = .all(taskCount: plan.taskCount)
    skipped = TaskSet(taskCount: plan.taskCount)
    followers = TaskSet(taskCount: plan.taskCount)
  }

  /// Selects tasks with their dependencies.
  ///
  /// - Parameters:
  ///   - tasks: if any, only these and the `finally` tasks that depend on one of them. Without
  ///     these and `only`, all tasks but `manual` ones.
  ///   - only: if any, only these and all `finally` tasks; intersected with `tasks`.
  ///   - skip: overrides both, and does not select dependencies.
  package init(
    tasks: [String] = [], only: [String], skip: [String], of plan: Plan
  ) throws(SelectionError) {
    skipped = try Self.tasks("--skip", skip, plan)
    included = .all(taskCount: plan.taskCount)
    followers = TaskSet(taskCount: plan.taskCount)
    if !only.isEmpty {
      included = try Self.tasks("--only", only, plan)
      onlyNamed = included
      noteNamedFinally(of: plan)
      includeNeeds(of: plan)
      for index in plan.tasks where plan.flags(TaskID(index)).contains(.finally) {
        included.insert(TaskID(index))
      }
    }
    guard !tasks.isEmpty else {
      if only.isEmpty, plan.hasManual { leaveManualOut(of: plan) }
      return
    }
    let before = included
    included = try Self.tasks("run", tasks, plan)
    named = included
    noteNamedFinally(of: plan)
    includeNeeds(of: plan)
    includeFinally(of: plan)
    if !only.isEmpty { included = included.intersection(before) }
    for index in plan.tasks where plan.flags(TaskID(index)).contains(.finally) {
      if namedFinally?.contains(TaskID(index)) != true { followers.insert(TaskID(index)) }
    }
  }

  private mutating func leaveManualOut(of plan: Plan) {
    leavesManualOut = true
    included = TaskSet(taskCount: plan.taskCount)
    for index in plan.tasks where !plan.flags(TaskID(index)).contains(.manual) {
      included.insert(TaskID(index))
    }
    includeNeeds(of: plan)
  }

  /// Call it while `included` holds only named tasks.
  private mutating func noteNamedFinally(of plan: Plan) {
    for index in plan.tasks
    where included.contains(TaskID(index)) && plan.flags(TaskID(index)).contains(.finally) {
      if namedFinally == nil { namedFinally = TaskSet(taskCount: plan.taskCount) }
      namedFinally?.insert(TaskID(index))
    }
  }

  private mutating func includeNeeds(of plan: Plan) {
    let skipped = skipped
    included.addNeeds(of: plan) { !skipped.contains($0) }
  }

  /// Those that directly or indirectly depend on a selected task, without their other dependencies.
  private mutating func includeFinally(of plan: Plan) {
    var open = plan.tasks.map { TaskID($0) }.filter { included.contains($0) }
    while let task = open.popLast() {
      for edge in plan.dependents(task) {
        let dependent = plan.dependent(edge)
        guard plan.flags(dependent).contains(.finally) else { continue }
        if included.insert(dependent) { open.append(dependent) }
      }
    }
  }

  /// Selected by the user. Services among them outlive their dependents. Of `--only`, services
  /// count that no other task of the run needs.
  package func namedForItself(of plan: Plan) -> TaskSet? {
    guard let onlyNamed, plan.hasServices else { return named }
    var all = named ?? TaskSet(taskCount: plan.taskCount)
    for index in plan.tasks {
      let task = TaskID(index)
      guard onlyNamed.contains(task), plan.isService(task) else { continue }
      let isNeeded = plan.dependents(task).contains { edge in
        let user = plan.dependent(edge)
        return included.contains(user) && !plan.flags(user).contains(.finally)
      }
      if !isNeeded { all.insert(task) }
    }
    return all
  }

  /// An error names the flag.
  package static func tasks(
    _ flag: String, _ selectors: [String], _ plan: Plan
  ) throws(SelectionError) -> TaskSet {
    do throws(UnfitSelector) {
      return try Selector.tasks(selectors, of: plan)
    } catch {
      throw .unfit(flag: flag, error)
    }
  }

  /// Throws if nothing would run: `--skip` excludes all selected tasks, or `--only` all named ones.
  package func expectSomething(of plan: Plan) throws(SelectionError) {
    let isLeft = plan.tasks.contains { index in
      let task = TaskID(index)
      guard included.contains(task), !skipped.contains(task) else { return false }
      return !plan.flags(task).contains(.finally) || namedFinally?.contains(task) ?? false
    }
    if isLeft { return }
    if skipped.isEmpty, leavesManualOut { throw .onlyManual }
    throw skipped.isEmpty ? .nothingInCommon : .allSkipped
  }

  package func initialState(_ task: TaskID) -> InitialState {
    if !included.contains(task) { return .excluded }
    if skipped.contains(task) { return .skipOption }
    return followers.contains(task) ? .afterNeeds : .run
  }
}
