internal import OpflowPlan
internal import OpflowWire

/// Running tasks with a jobserver, by start. The tokens lent to each are part of its `Share`, so
/// that they come back however the task ends.
///
/// Idle `cpu` is lent evenly. When a task waits for it, it is recalled, and is counted as used
/// until it is returned, since a program may use it. Tokens unused for a while are returned too;
/// their task then borrows nothing for some time, so that others have the machine.
struct Loans {
  struct Loan {
    let worker: WorkerID
    let task: TaskID
    /// Recalled and not yet back.
    var asked: Int32 = 0
    /// The task did not use its tokens.
    var restsUntil: Instant?
  }

  private(set) var open: [Loan] = []
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
      open[place].restsUntil = now.advanced(byMilliseconds: SchedulerOptions.loanRestMilliseconds)
    }
    open[place].asked -= min(count, open[place].asked)
  }

  mutating func endRest(at place: Int) { open[place].restsUntil = nil }
}

struct Lacking {
  var here: UInt64 = 0
  var elsewhere: UInt64 = 0
}

extension Scheduler {
  /// The grant may be limited, so the worker needs the task's own tokens. The first job needs no
  /// token.
  mutating func beginLoan(of task: TaskID, on worker: WorkerID) {
    guard plan.jobserver(of: task) != nil, let share = workforce.workers[worker.index].share else {
      return
    }
    loans.begin(task, on: worker)
    let own = Int32(clamping: max(1, resources.processors(of: share)))
    let node = workforce.workers[worker.index].node
    let all = Int32(clamping: resources.processors(at: node))
    send(.jobs(task, own: own - 1, all: max(own, all)), to: worker)
  }

  func hasJobserver(_ worker: WorkerID) -> Bool {
    let task = workforce.workers[worker.index].current
    return !task.isNone && plan.jobserver(of: task) != nil
  }

  mutating func returned(_ count: Int32, by task: TaskID, on worker: WorkerID) {
    guard plan.tasks.contains(task.index) else {
      return breach(worker, "tokens", task)
    }
    guard holds(worker, task, attempt[task.index], "tokens") else {
      return
    }
    let lent = workforce.workers[worker.index].share?.lent ?? 0
    guard count > 0, count <= lent else { return breach(worker, "tokens", task) }
    resources.takeBack(count, at: workforce.workers[worker.index].node)
    workforce.noteLent(-count, to: worker)
    loans.noteReturned(count, by: worker, at: now)
  }

  mutating func noteLacking(_ demandClass: Int, _ task: TaskID, at home: NodeID) {
    if resources.serviceClasses.contains(demandClass) {
      guard let amounts = amountsTogether(task, at: home) else { return }
      let lacks = resources.lackingProcessors(amounts, at: home)
      if home == .local { lacking.here += lacks } else { lacking.elsewhere += lacks }
    } else if resources.isLocal(demandClass) {
      let nodes = Resources.here.filter { hasWorker(for: task, at: $0) }
      lacking.here += resources.lackingProcessors(demandClass, at: nodes)
    } else {
      let limits = limits(of: task, demandClass)
      let nodes = machines.inUse.filter { allows(limits, $0) && hasWorker(for: task, at: $0) }
      lacking.elsewhere += resources.lackingProcessors(demandClass, at: nodes)
    }
  }

  private func hasWorker(for task: TaskID, at node: NodeID) -> Bool {
    let kind = workerKind(of: task)
    return kind == .block || workforce.canTake(kind, at: node)
  }

  mutating func lend() {
    loans.keepRunning(on: workforce)
    loans.wake = nil
    guard options.lendsTokens else { return }
    var nodes: [NodeID] = []
    for loan in loans.open {
      let node = workforce.workers[loan.worker.index].node
      if !nodes.contains(node) { nodes.append(node) }
    }
    var elsewhere = lacking.elsewhere
    for node in nodes {
      let waitedFor = node == .local ? lacking.here : elsewhere
      let wanted = max(waitedFor, resources.overdrawnProcessors(at: node))
      if wanted > 0 {
        let asked = askBack(wanted, at: node)
        if node != .local { elsewhere -= min(elsewhere, asked) }
      } else {
        lend(at: node)
      }
    }
  }

  /// Recalls from the tasks with most; returns the number on their way back.
  private mutating func askBack(_ count: UInt64, at node: NodeID) -> UInt64 {
    var coming = loans.open.reduce(0 as UInt64) { sum, loan in
      workforce.workers[loan.worker.index].node == node ? sum + UInt64(loan.asked) : sum
    }
    var asked = [Int32](repeating: 0, count: loans.open.count)
    while coming < count {
      var most: (place: Int, left: Int32)?
      for (place, loan) in loans.open.enumerated() {
        let record = workforce.workers[loan.worker.index]
        guard record.node == node, !record.isDiscarded else { continue }
        let left = (record.share?.lent ?? 0) - loan.asked - asked[place]
        if left > most?.left ?? 0 { most = (place, left) }
      }
      guard let most else { break }
      asked[most.place] += 1
      coming += 1
    }
    for (place, count) in asked.enumerated() where count > 0 {
      loans.noteAsked(count, at: place)
      let loan = loans.open[place]
      send(.tokens(loan.task, -count), to: loan.worker)
    }
    return coming
  }

  private mutating func lend(at node: NodeID) {
    var idle = min(resources.idleProcessors(at: node), Self.mostLent)
    if idle == 0 { return }
    let able = loans.open.indices.filter { mayBorrow(loans.open[$0], at: node) }
    var places = able.filter { loans.open[$0].restsUntil.map { $0 <= now } ?? true }
    guard !places.isEmpty else {
      let next = able.compactMap { loans.open[$0].restsUntil }.min()
      loans.wake = [loans.wake, next].compactMap { $0 }.min()
      return
    }
    var lent = [Int32](repeating: 0, count: loans.open.count)
    while idle > 0 {
      // The first to start wins ties.
      places.sort { (has(loans.open[$0]) + lent[$0], $0) < (has(loans.open[$1]) + lent[$1], $1) }
      lent[places[0]] += 1
      idle -= 1
    }
    for (place, count) in lent.enumerated() where count > 0 {
      let loan = loans.open[place]
      loans.endRest(at: place)
      resources.lend(count, at: node)
      workforce.noteLent(count, to: loan.worker)
      send(.tokens(loan.task, count), to: loan.worker)
    }
  }

  /// A pipe can always hold as many.
  private static let mostLent: UInt64 = 4096

  private func has(_ loan: Loans.Loan) -> Int32 {
    guard let share = workforce.workers[loan.worker.index].share else { return 0 }
    return Int32(clamping: resources.processors(of: share)) &+ share.lent
  }

  private func mayBorrow(_ loan: Loans.Loan, at node: NodeID) -> Bool {
    let record = workforce.workers[loan.worker.index]
    return record.node == node && !record.isStopping && !record.standsStill && !record.isDiscarded
      && loan.asked == 0
  }

  // MARK: - Sharing with other runs

  func processorShare(at now: Instant) -> (wanted: UInt64, spare: UInt64) {
    let idle = resources.idleProcessors(at: .local)
    if lacking.here > 0 { return (min(lacking.here, resources.away), 0) }
    let borrows = loans.open.contains {
      mayBorrow($0, at: .local) && ($0.restsUntil.map { $0 <= now } ?? true)
    }
    return (borrows && idle == 0 ? min(1, resources.away) : 0, idle)
  }

  func checkLoans() -> String? {
    for worker in workforce.living {
      let record = workforce.workers[worker.index]
      guard let lent = record.share?.lent, lent != 0 else { continue }
      guard lent > 0, record.state == .busy, record.ahead.isEmpty,
        let loan = loans.open.first(where: { $0.worker == worker }), loan.task == record.current
      else { return "a task without jobserver has a loan" }
      if loan.asked > lent { return "opflow asks for more than it lent" }
    }
    return nil
  }
}
