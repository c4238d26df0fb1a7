/// Trying again what an order names, and what was skipped for want of it.
extension TaskGraph {
  /// Takes tasks out of the end that this drive saw, to be tried again, and what was skipped for want of
  /// them. What waits for them waits anew; what ran after their end stays.
  ///
  /// - Parameter tasks: none of which lacks a need (`lacksNeed`).
  /// - Returns: what was skipped and waits again; in topological order.
  mutating func reopen(_ tasks: [TaskID]) -> [TaskID] {
    wasReopened = true
    for task in tasks { takeBack(task) }
    var back: [TaskID] = []
    for task in skippedForWant(of: tasks) where !lacksNeed(task) {
      takeBack(task)
      back.append(task)
    }
    back = servicesToReopen(for: tasks + back) + back
    recountUsers(of: tasks + back)
    offerAnew(tasks + back)
    return back
  }

  /// Takes services out of their end that ended, or never began, since nothing needed them any more, and that
  /// are needed again by these tasks, directly or by others that have no end; in topological order.
  mutating func servicesToReopen(for tasks: [TaskID]) -> [TaskID] {
    guard plan.hasServices else { return [] }
    var found: Set<TaskID> = []
    var seen: Set<TaskID> = []
    var open = tasks
    while let task = open.popLast() {
      for service in plan.services(neededBy: task) where seen.insert(service).inserted {
        if isOver(service) { found.insert(service) } else if state(service).isTerminal { continue }
        open.append(service)
      }
    }
    if found.isEmpty { return [] }
    let services = plan.topologicalOrder.lazy.map { TaskID($0) }.filter { found.contains($0) }
    for service in services {
      takeBack(service)
      forgetEarlierEnd(of: service)
    }
    return Array(services)
  }

  /// Has what was taken out of its end wait anew for what it needs. Services count as there again for those that
  /// need them, as soon as they have that themselves; what they need may have come to an end that rules them out.
  mutating func offerAnew(_ tasks: [TaskID]) {
    if tasks.isEmpty { return }
    wasReopened = true
    for task in tasks { countNeeds(of: task) }
    for task in tasks where state(task) == .waiting {
      if let lacked = firstLackedNeed(of: task) {
        skip(task, for: lacked)
      } else if unmetNeeds(of: task) == 0 {
        release(task)
      }
    }
    if plan.hasServices { spreadSkips() }
  }

  /// A service that ended, or never began, since nothing needed it any more: not for its `if`, nor by anybody.
  func isOver(_ service: TaskID) -> Bool {
    plan.hasServices && plan.isService(service)
      && !plan.flags(service).contains(.conditionFalse)
      && (state(service) == .succeeded || state(service) == .skipped && has(.unused, service))
  }

  /// It did not begin in this drive and has no end.
  func isPending(_ task: TaskID) -> Bool { mayWait(task) && !has(.ran, task) }

  /// It waits for its needs, or has them and is still to begin, for the first time or once more. When a try's delay is
  /// over, its needs are looked at anew.
  func mayWait(_ task: TaskID) -> Bool {
    let state = state(task)
    return (state == .waiting || state == .ready || state == .checking) && !has(.delayed, task)
  }

  mutating func countNeeds(of task: TaskID) {
    let open = plan.needs(task).count {
      let need = TaskID(plan.needTargets[$0])
      return !state(need).isTerminal && !has(.offered, need)
    }
    let finally = plan.flags(task).contains(.finally) ? 1 : 0
    setUnmet(Int32(truncatingIfNeeded: open + finally), of: task)
  }

  /// Whether one of its needs has an end that rules it out.
  func lacksNeed(_ task: TaskID) -> Bool {
    plan.needs(task).contains { isLacked($0) }
  }

  /// Whether what is needed has an end that does not meet the need.
  func isLacked(_ edge: Int) -> Bool {
    let need = TaskID(plan.needTargets[edge])
    let state = state(need)
    return state.isTerminal
      && !state.meets(plan.needCondition(edge), skippedUpstream: has(.skippedUpstream, need))
  }

  /// What was skipped in this drive for want of these tasks, directly or by others of them; in
  /// topological order.
  func skippedForWant(of tasks: [TaskID]) -> [TaskID] {
    var found: Set<TaskID> = []
    var open = tasks
    while let task = open.popLast() {
      for edge in plan.dependents(task) {
        let dependent = plan.dependent(edge)
        guard state(dependent) == .skipped, has(.skippedUpstream, dependent),
          endedBefore?.contains(dependent) != true, found.insert(dependent).inserted
        else { continue }
        open.append(dependent)
      }
    }
    if found.isEmpty { return [] }
    return plan.topologicalOrder.lazy.map { TaskID($0) }.filter { found.contains($0) }
  }
}
