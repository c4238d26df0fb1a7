internal import OpflowPlan
internal import OpflowWire

extension CommandWorker {
  /// The folder of a task's memory cgroup; nil for the worker's own group.
  func beginLimit(of task: TaskID) -> Int32? {
    limit.begin(limitBytes: plan.record(task).processes[.memoryLimit])
  }

  /// The task is gone and may have exceeded its limit.
  func endLimit(of task: TaskID, _ attempt: Int32, _ outcome: inout Outcome) {
    defer { limit.end() }
    guard !outcome.isSuccess, outcome.reason == nil, let what = limit.overrun() else { return }
    outcome.reason = .memory
    frame.say(.fault(task, attempt: attempt, what: what))
  }
}
