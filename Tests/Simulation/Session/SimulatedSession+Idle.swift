import OpflowEngine
import OpflowPlan

/// Checks that services are stopped as soon as they are unneeded.
extension SimulatedSession {
  /// Called with no steps left. No service may run without open dependents, nor without running
  /// users on a node that takes no new tasks.
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

  /// True if a service that was started for users runs on a live worker and was not told to end.
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
