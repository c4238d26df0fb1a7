internal import OpflowPlan

/// Running tasks with a jobserver, by start. The tokens lent to each are part of its `Share`, so
/// that they come back however the task ends.
///
/// Idle `cpu` is lent to all alike. When a task waits for it, it is recalled, and counts as used
/// until it is returned, since a program may use it. Tokens unused for a while are returned too;
/// their task is then lent nothing for some time, so that others have the machine.
struct Loans {
  struct Loan {
    let worker: WorkerID
    let task: TaskID
    /// Recalled tokens that have not come back.
    var asked: Int32 = 0
    /// The task is lent nothing before, since it did not use its tokens.
    var restsUntil: Instant?
  }

  private(set) var open: [Loan] = []
  /// When resting tasks may borrow again.
  var wake: Instant?

  var isEmpty: Bool { open.isEmpty }

  mutating func begin(_ task: TaskID, on worker: WorkerID) {
    open.removeAll { $0.worker == worker }
    open.append(Loan(worker: worker, task: task))
  }

  mutating func keepRunning(on workforce: Workforce) {
    func runs(_ loan: Loan) -> Bool { workforce.workers[loan.worker.index].current == loan.task }
    if !open.allSatisfy(runs) { open.removeAll { !runs($0) } }
  }

  mutating func noteAsked(_ count: Int32, at place: Int) { open[place].asked += count }

  mutating func noteReturned(_ count: Int32, by worker: WorkerID, at now: Instant) {
    guard let place = open.firstIndex(where: { $0.worker == worker }) else { return }
    if count > open[place].asked {
      open[place].restsUntil =
        now.advanced(byMilliseconds: SchedulerOptions.loanRestMilliseconds)
    }
    open[place].asked -= min(count, open[place].asked)
  }

  mutating func endRest(at place: Int) { open[place].restsUntil = nil }
}
