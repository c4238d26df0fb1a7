internal import OpflowCore

/// Running tasks and resource use over time.
struct ResourceUse {
  struct Step {
    /// Since the epoch.
    let milliseconds: Int64
    let running: Int
    /// Per resource, in the unit of the plan.
    let amounts: [UInt64]
  }

  private(set) var steps: [Step] = []

  private struct Change {
    let milliseconds: Int64
    let isEnd: Bool
    let task: TaskID
  }

  init(_ status: RunStatus, _ entries: [AttemptLanes.Entry]) {
    let (plan, attempts) = (status.plan, status.history.attempts.all)
    var changes: [Change] = []
    changes.reserveCapacity(entries.count * 2)
    // An attempt of no length uses nothing, nor does an approval.
    for entry in entries where entry.end > entry.begin {
      let task = attempts[entry.attempt].task
      if plan.kind(task) == .approve { continue }
      changes.append(Change(milliseconds: entry.begin, isEnd: false, task: task))
      changes.append(Change(milliseconds: entry.end, isEnd: true, task: task))
    }
    changes.sort { $0.milliseconds < $1.milliseconds }
    var demands = [[DemandItem]?](repeating: nil, count: plan.demandCount)
    var running = 0
    var amounts = [UInt64](repeating: 0, count: plan.resources.count)
    for change in changes {
      let number = Int(plan.demand[change.task.index])
      let demand = demands[number] ?? RunQueue.demand(of: change.task, status)
      demands[number] = demand
      running += change.isEnd ? -1 : 1
      for item in demand where amounts.indices.contains(Int(item.resource)) {
        if change.isEnd {
          amounts[Int(item.resource)] &-= item.amount
        } else {
          amounts[Int(item.resource)] &+= item.amount
        }
      }
      if steps.last?.milliseconds == change.milliseconds { steps.removeLast() }
      steps.append(Step(milliseconds: change.milliseconds, running: running, amounts: amounts))
    }
  }
}
