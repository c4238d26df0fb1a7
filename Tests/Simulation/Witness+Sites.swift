import OpflowCore

/// What an outside observer sees of machines.
extension Witness {
  /// Downloads, and what comes after all others, run on the coordinator's machine.
  func isBoundHere(_ task: TaskID) -> Bool {
    plan.kind(task) == .download || isGate(task) || plan.record(task).isLocal
      || plan.flags(task).contains(.finally)
      || isInteractive(task)
      || isService(task) || !plan.services(neededBy: task).isEmpty
  }

  func isInteractive(_ task: TaskID) -> Bool { plan.flags(task).contains(.interactive) }

  /// - Returns: whether the task may fail for that, and whether it must.
  mutating func noteLoss(of task: TaskID) -> (may: Bool, must: Bool) {
    losses[task.index] += 1
    let isSure = began.contains(task)
    if usesSites, !isBoundHere(task) { return far.lose(task, isSure: isSure, at: lastMoment) }
    if isSure { sureLosses[task, default: 0] += 1 }
    return (
      losses[task.index] > Self.allowedLosses,
      isSure && sureLosses[task, default: 0] > Self.allowedLosses
    )
  }

  /// What ends badly on a machine that leaves costs nothing.
  func checkCost(of line: Transition) throws(Finding) {
    guard usesSites, far.isExcused(line.task), !isBoundHere(line.task) else { return }
    switch line.outcome.reason {
    case nil, .refused, .interrupted:
      throw fault(line.task, "it is charged for a machine that left")
    default: break
    }
  }
}
