import OpflowJournal
import OpflowPlan

/// What an outside observer sees of machines.
extension Oracle {
  /// Downloads, and what comes after all others, run on the coordinator's machine.
  func isBoundHere(_ task: TaskID) -> Bool {
    plan.kind(task) == .download || isApproval(task) || isExternal(task)
      || plan.record(task).processes.isLocal
      || plan.flags(task).contains(.finally)
      || isInteractive(task) || boundHere.contains(task)
  }

  /// Services that are on the coordinator's machine, and what needs them, since one that such a
  /// group holds together is to be there.
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

  /// All that services tie to a task, itself included; nothing where it neither is one nor needs
  /// one.
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

  /// A task may start there, and what services tie to it runs nowhere else.
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

  /// A task is started there by the journal, and so is all that services tie to it and that has no
  /// end yet.
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

  /// - Returns: whether the task may fail for that, and whether it must.
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

  /// What ends badly on a machine that leaves costs nothing, unless something of it may still run
  /// there.
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
