internal import OpflowPlan

extension Scheduler {
  /// `cpu` and `memory`: of the local node. Sets the number of workers too.
  mutating func setCapacity(
    _ amount: UInt64, of resource: Int, into actions: inout StepQueue
  ) {
    let isLess = amount < resources.capacity(of: resource)
    resources.setCapacity(amount, of: resource)
    ready.wakeAll()
    returnSetAside()
    // Prefetched tasks would delay the drain.
    if isLess { for worker in workforce.living { takeBackAll(of: worker, into: &actions) } }
    switch UInt32(truncatingIfNeeded: resource) {
    case ResourceEntry.cpu: workforce.setLimit(of: .command, for: amount)
    case ResourceEntry.download: workforce.setLimit(of: .download, for: amount)
    default: break
    }
  }

  /// Until the session ends. Dependencies inherit them; running tasks are not preempted.
  mutating func prioritise(_ tasks: [TaskPriority]) {
    for entry in tasks where plan.tasks.contains(entry.task.index) {
      priorities[entry.task] = entry.priority
    }
    rankAll()
  }

  mutating func rankAll() {
    let waiting = takeQueued()
    ranking = Ranking(plan: plan, durations: durations, priorities: priorities)
    queueAgain(waiting)
  }

  mutating func rankAdded(from first: Int, hasLegs: Bool) {
    let waiting = takeQueued()
    ranking.rankAnew(adding: first, hasLegs: hasLegs, plan, durations, priorities, graph)
    queueAgain(waiting)
  }

  private mutating func takeQueued() -> [TaskID] {
    ready.removeAll().map { TaskID(ranking.task[Int($0)]) }
  }

  private mutating func queueAgain(_ waiting: [TaskID]) {
    for task in waiting { enqueue(task) }
    rankAheadAnew()
  }
}
