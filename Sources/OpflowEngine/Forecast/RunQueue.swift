package import OpflowJournal
package import OpflowPlan

/// The use of a live run's resources, and the order of ready tasks, by the journal.
package struct RunQueue {
  private let status: RunStatus
  private let plan: Plan
  package let running: [TaskID]
  package let ready: [TaskID]
  private let held: [UInt64]

  package init(_ status: RunStatus, durations: TaskDurations, nowMilliseconds: Int64) {
    self.status = status
    let plan = status.plan
    self.plan = plan
    var running: [TaskID] = []
    var ready: [TaskID] = []
    let finallyIsDue = status.openBeforeFinally == 0
    for index in plan.tasks where status.included.contains(TaskID(index)) {
      let task = TaskID(index)
      switch status.state(task) {
      case .running, .suspended: running.append(task)
      case .waiting, .ready, .checking:
        let isLater = plan.flags(task).contains(.finally) && !finallyIsDue
        if isLater || (status.nextTry(task) ?? 0) > nowMilliseconds { continue }
        if status.waitsFor(task).isEmpty { ready.append(task) }
      case .prefetched, .succeeded, .upToDate, .failedAllowed, .failed, .skipped, .cancelled: break
      }
    }
    let priorities = status.history.requests.priorities
    let rank =
      ready.count > 1
      ? Ranking(plan: plan, durations: durations, priorities: priorities).rank.all : []
    self.ready = ready.count > 1 ? ready.sorted { rank[$0.index] < rank[$1.index] } : ready
    self.running = running
    var held = [UInt64](repeating: 0, count: plan.resources.count)
    for task in running {
      for item in Self.demand(of: task, status) where Int(item.resource) < held.count {
        held[Int(item.resource)] &+= item.amount
      }
    }
    self.held = held
  }

  /// The demand, limited to the `cpu` and `memory` that exist where the task runs.
  package static func demand(of task: TaskID, _ status: RunStatus) -> [DemandItem] {
    let plan = status.plan
    let node = status.history.node(of: task)
    return plan.demandList(plan.demand[task.index]).map { item in
      var item = item
      if item.resource <= ResourceEntry.memory,
        let capacity = node?.capacity(of: item.resource)
          ?? status.history.capacity(of: Int(item.resource), plan)
      {
        item.amount = min(item.amount, capacity)
      }
      return item
    }
  }

  package struct Lack {
    package let resource: UInt32
    package let wanted: UInt64
    package let free: UInt64
    package let capacity: UInt64
    /// In manifest order, with their amounts.
    package let holders: [(task: TaskID, amount: UInt64)]
  }

  /// Returns lacking resources, and those of unknown capacity.
  package func lacks(of task: TaskID) -> (lacks: [Lack], unknown: [UInt32]) {
    var lacks: [Lack] = []
    var unknown: [UInt32] = []
    for item in Self.demand(of: task, status) where Int(item.resource) < held.count {
      guard let capacity = status.history.capacity(of: Int(item.resource), plan) else {
        unknown.append(item.resource)
        continue
      }
      let free = capacity - min(capacity, held[Int(item.resource)])
      if item.amount <= free { continue }
      lacks.append(
        Lack(
          resource: item.resource, wanted: item.amount, free: free, capacity: capacity,
          holders: holders(of: item.resource)))
    }
    return (lacks, unknown)
  }

  private func holders(of resource: UInt32) -> [(task: TaskID, amount: UInt64)] {
    running.compactMap { task in
      Self.demand(of: task, status).first { $0.resource == resource && $0.amount > 0 }.map {
        (task, $0.amount)
      }
    }
  }
}

extension RunStatus {
  /// Unfinished tasks that precede `finally` tasks.
  package var openBeforeFinally: Int {
    plan.tasks.count {
      let task = TaskID($0)
      return included.contains(task) && !plan.flags(task).contains(.finally)
        && !state(task).isTerminal
    }
  }

  /// Failures that fail the run.
  package var failuresOfSession: [TaskID] {
    plan.tasks.lazy.map { TaskID($0) }.filter {
      included.contains($0) && history.state($0) == .failed
        && history.settleSequence($0) > history.sessionSequence
    }
  }
}
