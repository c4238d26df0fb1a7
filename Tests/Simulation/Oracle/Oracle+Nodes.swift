import OpflowJournal
import OpflowPlan

/// Nodes as an outside observer sees them.
extension Oracle {
  /// True for tasks that run on the coordinator's host: downloads, `finally` tasks, approvals and
  /// others.
  func isBoundHere(_ task: TaskID) -> Bool {
    plan.kind(task) == .download || isApproval(task) || isExternal(task)
      || plan.record(task).processes.isLocal
      || plan.flags(task).contains(.finally)
      || isInteractive(task) || boundHere.contains(task)
  }

  /// Returns services that run on the coordinator's host, and the tasks in their groups: a group
  /// runs on one node.
  static func boundHere(_ plan: Plan, held: Set<TaskID>) -> Set<TaskID> {
    var found: Set<TaskID> = []
    for index in plan.tasks {
      let task = TaskID(index)
      let stays =
        plan.isService(task) && (plan.dependents(task).isEmpty || held.contains(task))
        || plan.kind(task) == .download || plan.record(task).processes.isLocal
        || plan.flags(task).contains(.finally) || plan.flags(task).contains(.interactive)
      if stays { found.formUnion(group(of: task, plan)) }
    }
    return found
  }

  /// Returns the tasks that services tie to a task, with the task itself; empty without services.
  static func group(of task: TaskID, _ plan: Plan) -> Set<TaskID> {
    if !plan.isService(task) && plan.services(neededBy: task).isEmpty { return [] }
    var found: Set<TaskID> = [task]
    var open = [task]
    while let next = open.popLast() {
      var tied = plan.services(neededBy: next)
      if plan.isService(next) {
        tied += plan.dependents(next).map { plan.dependent($0) }
      }
      for other in tied where found.insert(other).inserted { open.append(other) }
    }
    return found
  }

  /// Checks that the task may run on this node, and that its group runs nowhere else.
  func checkPlace(of task: TaskID, at node: NodeID) throws(Finding) {
    if isBoundHere(task) != (node == .local) {
      throw fault(task, "it runs on site \(node.rawValue)")
    }
    for other in Self.group(of: task, plan) {
      guard let worker = live[other], self.node(of: worker) != node else { continue }
      throw fault(
        task, "it runs on site \(node.rawValue), and \(plan.nameString(other)) on another one")
    }
  }

  /// Checks that all running tasks of the group were started on this node, according to the
  /// journal.
  func checkGroup(of task: TaskID, at node: NodeID) throws(Finding) {
    guard plan.hasServices else { return }
    for other in Self.group(of: task, plan)
    where other != task && stand[other.index] == .running && far.node(of: other) != node {
      throw fault(
        task,
        "it starts on site \(node.rawValue), and \(plan.nameString(other)) is on site"
          + " \(far.node(of: other).rawValue)")
    }
  }

  func isInteractive(_ task: TaskID) -> Bool { plan.flags(task).contains(.interactive) }

  /// Returns whether the task may fail for this loss, and whether it must.
  mutating func noteLoss(of task: TaskID) -> (may: Bool, must: Bool) {
    losses[task.index] += 1
    let isSure = began.contains(task)
    if usesNodes, !isBoundHere(task) { return far.lose(task, isSure: isSure, at: lastMoment) }
    if isSure { sureLosses[task, default: 0] += 1 }
    return (
      losses[task.index] > Self.allowedLosses,
      isSure && sureLosses[task, default: 0] > Self.allowedLosses
    )
  }

  /// Checks that failures on a leaving node cost no attempt, unless processes may still run there.
  func checkCost(of line: Transition) throws(Finding) {
    guard usesNodes, far.isExcused(line.task), !isBoundHere(line.task), !line.leavesAlive else {
      return
    }
    switch line.outcome.reason {
    case nil, .refused, .interrupted, .ended, .stopped(.serviceLost), .stopped(.timeOver):
      throw fault(line.task, "it is charged for a machine that left")
    default: break
    }
  }
}
