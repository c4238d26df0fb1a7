/// A task as two plans number it: that of the drive, and an earlier one, which the worker knows that has the task
/// since then.
package struct TaskAlias: Equatable, Sendable {
  /// As the drive has it.
  package var own: TaskID
  /// As the worker has it.
  package let told: TaskID

  package init(own: TaskID, told: TaskID) {
    self.own = own
    self.told = told
  }

  /// An order about the task, as the worker is to read it.
  package func told(_ order: WorkerOrder) -> WorkerOrder {
    switch order {
    case .stop(own, let attempt, let reason): .stop(told, attempt: attempt, reason: reason)
    case .suspend(own, let attempt): .suspend(told, attempt: attempt)
    case .proceed(own, let attempt): .proceed(told, attempt: attempt)
    case .watch(own, let isOn): .watch(told, on: isOn)
    // Nothing else is ordered of what a worker has already.
    case .stop, .suspend, .proceed, .watch, .run, .follow, .revoke, .conclude, .check, .pulse,
      .values, .value, .ports, .tokens, .jobs, .devices, .bye:
      order
    }
  }

  /// What the worker says, as the drive is to read it.
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
    // A service says nothing of this kind.
    case .hello, .progress, .fetched, .kept, .checked, .awaits, .recorded, .changed, .restored,
      .tokens, .warning, .pulse:
      report
    }
  }

  /// Of no other task may it speak.
  private func own(_ task: TaskID) -> TaskID { task == told ? own : .none }
}
