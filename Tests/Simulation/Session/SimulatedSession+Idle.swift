import OpflowEngine
import OpflowPlan

/// Services that are to end: whether they are told to as soon as nothing needs them.
extension SimulatedSession {
  /// Of what was told no step is left: no service goes on that nothing needs any more, nor one that
  /// nobody uses where nothing more starts.
  func checkIdleServices() throws(Finding) {
    guard plan.hasServices, hasBegun, !engine.isClosing, !hasJournalFailed, passing.isEmpty,
      !isToPassOn
    else { return }
    for task in plan.tasks.lazy.map({ TaskID($0) }) where isUntold(task) {
      let users = plan.dependents(task).map { plan.dependent($0) }
      if users.allSatisfy({ oracle.stand[$0.index] == .over }) {
        throw oracle.fault(task, "it goes on, and nothing needs it any more")
      }
      if oracle.far.isClosed(at: oracle.far.node(of: task)),
        !users.contains(where: { oracle.stand[$0.index] == .running })
      {
        throw oracle.fault(task, "it goes on without users where nothing more starts")
      }
    }
  }

  /// Whether a service runs that was started for others, whose worker is there, and nobody told it
  /// to end.
  private func isUntold(_ task: TaskID) -> Bool {
    guard oracle.isService(task), oracle.stand[task.index] == .running,
      !stoodAlone.contains(task),
      oracle.stopping[task] != oracle.attempt(task)
    else { return false }
    return workers.contains { worker in
      worker.commands.tree?.task == task && [.talking, .frozen].contains(worker.phase)
    }
  }
}
