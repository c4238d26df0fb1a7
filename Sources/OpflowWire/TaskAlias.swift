package import OpflowPlan

/// A task that the session's plan numbers differently than its worker's plan.
package struct TaskAlias: Equatable, Sendable {
  package var own: TaskID
  package let told: TaskID

  package init(own: TaskID, told: TaskID) {
    self.own = own
    self.told = told
  }

  package func told(_ order: WorkerOrder) -> WorkerOrder {
    switch order {
    case .stop(own, let attempt, let reason): .stop(told, attempt: attempt, reason: reason)
    case .suspend(own, let attempt): .suspend(told, attempt: attempt)
    case .proceed(own, let attempt): .proceed(told, attempt: attempt)
    case .watch(own, let isOn): .watch(told, on: isOn)
    // A running task gets no other commands.
    case .stop, .suspend, .proceed, .watch, .run, .follow, .revoke, .conclude, .check, .pulse,
      .values, .value, .ports, .tokens, .jobs, .devices, .bye:
      order
    }
  }

  package func own(_ report: WorkerReport) -> WorkerReport {
    switch report {
    case .started(let task, let attempt, let pid):
      .started(own(task), attempt: attempt, pid: pid)
    case .left(let task, let attempt, let left): .left(own(task), attempt: attempt, left)
    case .value(let task, let attempt, let value): .value(own(task), attempt: attempt, value)
    case .fault(let task, let attempt, let what): .fault(own(task), attempt: attempt, what: what)
    case .ended(let task, let attempt, let outcome): .ended(own(task), attempt: attempt, outcome)
    case .refused(let task, let attempt, let errorNumber, let what):
      .refused(own(task), attempt: attempt, errorNumber: errorNumber, what: what)
    case .revoked(let task, let attempt): .revoked(own(task), attempt: attempt)
    case .lacks(let task, let attempt, let what): .lacks(own(task), attempt: attempt, what: what)
    case .ready(let task, let attempt, let ports):
      .ready(own(task), attempt: attempt, ports: ports)
    // A service does not send these.
    case .hello, .progress, .fetched, .kept, .checked, .awaits, .recorded, .changed, .restored,
      .tokens, .warning, .pulse:
      report
    }
  }

  /// The worker may report on no other task.
  private func own(_ task: TaskID) -> TaskID { task == told ? own : .none }
}
