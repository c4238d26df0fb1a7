/// Which tasks a run is about: those that are named, `--only` and `--skip`.
package struct Selection: Equatable, Sendable {
  /// What runs or is skipped; the other tasks are no part of the run.
  package private(set) var included: TaskSet
  /// Named by `--skip`: dependents run as if it had succeeded.
  package private(set) var skipped: TaskSet
  /// `finally` tasks that are named, and so run though no other does; nil for none.
  package private(set) var namedFinally: TaskSet?
  /// Tasks are named, so that a `finally` task runs when one of its needs ran.
  private var followers: TaskSet
  /// What the tasks that are named are; nil where none is.
  private var named: TaskSet?
  /// What `--only` names.
  private var onlyNamed: TaskSet?
  /// Nothing is named, so that `manual` tasks which nothing needs are no part of the run.
  private var leavesManualOut = false

  /// All tasks of a plan.
  package init(all plan: Plan) {
    included = .all(taskCount: plan.taskCount)
    skipped = TaskSet(taskCount: plan.taskCount)
    followers = TaskSet(taskCount: plan.taskCount)
  }

  /// - Parameters:
  ///   - tasks: with any, just these tasks and what they need, and of the `finally` tasks those that
  ///     need one of them. Without, and without `only`, all but the `manual` tasks that nothing needs.
  ///   - only: with any, just these tasks, what they need, and the `finally` tasks. With `tasks`, what
  ///     is in both.
  ///   - skip: wins over both; what a skipped task needs is not taken along for it.
  /// - Throws: the flag and what is wrong with a selector that names no task.
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

  /// Called while just what is named is in.
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

  /// The `finally` tasks one of whose needs is in, and in turn those that need one of these. What
  /// else they need is not taken along.
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

  /// What was named for itself: services among it stay though what needs them ends. One that `--only`
  /// names is when nothing else of the run needs it. Nil for nothing.
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

  /// The tasks that selectors name, with the flag told in the error.
  package static func tasks(
    _ flag: String, _ selectors: [String], _ plan: Plan
  ) throws(SelectionError) -> TaskSet {
    do throws(UnfitSelector) {
      return try Selector.tasks(selectors, of: plan)
    } catch {
      throw .unfit(flag: flag, error)
    }
  }

  /// - Throws: when nothing would run, since `--skip` takes away all that is named, or since what is
  ///   named and `--only` have nothing in common.
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

  /// How a task enters the first drive of a run.
  package func initialState(_ task: TaskID) -> InitialState {
    if !included.contains(task) { return .excluded }
    if skipped.contains(task) { return .skipOption }
    return followers.contains(task) ? .afterNeeds : .run
  }
}
