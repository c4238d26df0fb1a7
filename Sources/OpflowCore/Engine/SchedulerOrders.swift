/// What changes while the run goes on: capacities, priorities.
extension Scheduler {
  /// Changes how much there is of a resource; of `cpu` and `memory`, on this machine. There may be as
  /// many workers as that asks for.
  mutating func setCapacity(
    _ amount: UInt64, of resource: Int, into actions: inout StepQueue
  ) {
    let isLess = amount < resources.capacity(of: resource)
    resources.setCapacity(amount, of: resource)
    returnSetAside()
    // What is handed ahead would keep busy what is to drain.
    if isLess { for worker in workforce.living { takeBackAll(of: worker, into: &actions) } }
    switch UInt32(truncatingIfNeeded: resource) {
    case ResourceEntry.cpu: workforce.setLimit(of: .command, for: amount)
    case ResourceEntry.download: workforce.setLimit(of: .download, for: amount)
    default: break
    }
  }

  /// Gives tasks other priorities than those of the manifest, for as long as the drive lasts. What they
  /// wait for inherits them; what runs is not preempted.
  mutating func prioritise(_ tasks: [TaskPriority]) {
    for entry in tasks where plan.tasks.contains(entry.task.index) {
      priorities[entry.task] = entry.priority
    }
    rankAll()
  }

  /// Orders what waits by the plan and the priorities as they are by now.
  mutating func rankAll() {
    let waiting = takeQueued()
    ranking = Ranking(plan: plan, durations: durations, priorities: priorities)
    queueAgain(waiting)
  }

  /// The same where tasks from a number on were added.
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
