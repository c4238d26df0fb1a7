internal import OpflowCore

extension CommandWorker {
  /// - Returns: the control group that a task is to start in; nil for this process's own.
  func beginLimit(of task: TaskID) -> Int32? {
    limit.begin(limitBytes: plan.record(task).processes[.memoryLimit])
  }

  /// The task and all that it started are gone: sees whether that was for want of memory.
  func endLimit(of task: TaskID, _ attempt: Int32, _ outcome: inout Outcome) {
    defer { limit.end() }
    guard !outcome.isSuccess, outcome.reason == nil, let what = limit.overrun() else { return }
    outcome.reason = .memory
    frame.say(.fault(task, attempt: attempt, what: what))
  }
}
