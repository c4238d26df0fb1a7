/// Tasks that run with a jobserver, in the order in which they began. What each of them was lent stands with
/// the rest of what it holds (`Share`), so that it comes back with that, however the task ends.
///
/// `cpu` that nobody holds and nothing waits for is lent, to all alike. It is asked back when something
/// waits for it, and counts as held until the worker says that it came back: a program that has a token
/// may be at work with it. A worker also gives back what nobody took for a while, and the task is lent
/// nothing for some time then: while one of them compiles and another links, the first has the machine.
struct Loans {
  struct Loan {
    let worker: WorkerID
    let task: TaskID
    /// How many tokens were asked back that have not come yet.
    var asked: Int32 = 0
    /// It had no use for what it was lent, and is lent nothing before.
    var restsUntil: Instant?
  }

  private(set) var open: [Loan] = []
  /// When what idles may be lent to those who had no use for it.
  var wake: Instant?

  var isEmpty: Bool { open.isEmpty }

  mutating func begin(_ task: TaskID, on worker: WorkerID) {
    open.removeAll { $0.worker == worker }
    open.append(Loan(worker: worker, task: task))
  }

  /// Forgets those whose tasks have ended.
  mutating func keepRunning(on workforce: Workforce) {
    func runs(_ loan: Loan) -> Bool { workforce.workers[loan.worker.index].current == loan.task }
    if !open.allSatisfy(runs) { open.removeAll { !runs($0) } }
  }

  mutating func noteAsked(_ count: Int32, at place: Int) { open[place].asked += count }

  /// So many came back.
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
