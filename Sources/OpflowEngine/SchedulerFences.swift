internal import OpflowPlan

extension Scheduler {
  /// Holds the request's tasks until it is decided.
  mutating func fence(_ order: Order, into actions: inout StepQueue) {
    var tasks = (order.tasks + order.among).filter { !graph.state($0).isTerminal }
    tasks += order.verb.effect.fenced(with: order.tasks + order.among, in: self)
    orders.fence(tasks)
    if tasks.isEmpty { return }
    for task in tasks { graph.mark(task, .fenced) }
    pull(tasks, into: &actions)
  }

  /// Takes tasks out of all queues and holds them.
  mutating func pull(_ tasks: [TaskID], into actions: inout StepQueue) {
    returnSetAside()
    var ranks: Set<Int32> = []
    var lanes: Set<Int> = []
    var isAway: Set<TaskID> = []
    for task in tasks {
      switch graph.state(task) {
      case .ready where isGate(task):
        if graph.has(.held, task) { break }
        gates.removeReady(task)
        graph.mark(task, .held)
      case .ready where blocks.stopWaiting(task): graph.mark(task, .held)
      case .checking: withdrawCheck(of: task)
      case .ready where wantsCheck(task):
        if !graph.has(.held, task) { withdrawCheck(of: task) }
      case .ready where services.taken[task] != nil: withdrawToHold(task)
      case .ready where isService(task) && !stands(task): break
      case .ready where !graph.has(.held, task):
        ranks.insert(ranking.rank[task.index])
        lanes.insert(resources.lane(of: task))
        isAway.insert(task)
      case .handed: isAway.insert(task)
      default: break
      }
    }
    if isAway.isEmpty { return }
    ready.remove(ranks, of: lanes)
    takeBack(isAway, into: &actions)
    for task in isAway where graph.state(task) == .ready { graph.mark(task, .held) }
  }

  private mutating func withdrawToHold(_ task: TaskID) {
    let users = takenUsers(of: task)
    if let entry = services.taken.remove(task) { release(entry.share, of: task) }
    withdrawTaken(users)
    if !isService(task) || stands(task) { graph.mark(task, .held) }
  }

  private mutating func takeBack(_ tasks: Set<TaskID>, into actions: inout StepQueue) {
    for worker in workforce.living {
      let record = workforce.workers[worker.index]
      if record.phase == .launching, tasks.contains(record.current) {
        let freed = workforce.withdraw(worker)
        release(freed.share, of: freed.task)
      }
      if record.isDiscarded { continue }
      for place in record.ahead.indices where tasks.contains(record.ahead[place].task) {
        revokeAhead(place, of: worker, into: &actions)
      }
    }
  }
}
