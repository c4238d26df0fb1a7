internal import OpflowPlan

extension TaskGraph {
  /// Reopens tasks and their skipped dependents; pending ones wait again.
  ///
  /// - Parameter tasks: Tasks without failed dependencies.
  /// - Returns: Reopened dependents and services in topological order.
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

  /// Returns unneeded services that the tasks need, also indirectly, in topological order.
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

  /// A dependency may have failed since.
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

  /// True for a service that ended, or never began, because no task needed it.
  func isOver(_ service: TaskID) -> Bool {
    plan.hasServices && plan.isService(service)
      && !plan.flags(service).contains(.conditionFalse)
      && (state(service) == .succeeded || state(service) == .skipped && has(.unused, service))
  }

  func isPending(_ task: TaskID) -> Bool { mayWait(task) && !has(.ran, task) }

  /// True if a task waits or is ready. After a retry delay, dependencies are counted again.
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

  func lacksNeed(_ task: TaskID) -> Bool {
    plan.needs(task).contains { isLacked($0) }
  }

  func isLacked(_ edge: Int) -> Bool {
    let need = TaskID(plan.needTargets[edge])
    let state = state(need)
    return state.isTerminal
      && !state.meets(plan.needCondition(edge), skippedUpstream: has(.skippedUpstream, need))
  }

  /// Returns tasks skipped for these in this session, also indirectly; in topological order.
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

extension TaskGraph {
  enum KeptNeeds: Equatable {
    case open
    case met
    /// The dependency runs again, or has ended without meeting its condition.
    case changed(TaskID)
  }

  /// - Parameter stays: Asked for services among the dependencies.
  func needsOfKept(_ service: TaskID, stays: (TaskID) -> KeptNeeds) -> KeptNeeds {
    var found = KeptNeeds.met
    for edge in plan.needs(service) {
      let need = TaskID(plan.needTargets[edge])
      let state = state(need)
      if state.isTerminal {
        let isMet = state.meets(
          plan.needCondition(edge), skippedUpstream: has(.skippedUpstream, need))
        if !isMet { return .changed(need) }
        continue
      }
      switch plan.isService(need) ? stays(need) : has(.mayKeep, need) ? .open : .changed(need) {
      case .met: break
      case .open: found = .open
      case .changed(let need): return .changed(need)
      }
    }
    return found
  }

  mutating func meetAll(of service: TaskID) { setUnmet(0, of: service) }

  /// Makes a task wait again: a service that was taken over, or a task with a retried dependency.
  mutating func waitAnew(_ task: TaskID) {
    countNeeds(of: task)
    if let lacked = firstLackedNeed(of: task) {
      skip(task, for: lacked)
    } else if unmetNeeds(of: task) == 0 {
      release(task)
    } else if has(.offered, task) {
      unmark(task, .offered)
      recountUsers(of: [task])
    }
    spreadSkips()
  }

  /// A service that waits again is not available to its users.
  mutating func recountUsers(of tasks: [TaskID]) {
    var open = tasks
    while let task = open.popLast() {
      for edge in plan.dependents(task) {
        let user = plan.dependent(edge)
        guard mayWait(user) else { continue }
        let wasOffered = has(.offered, user)
        countNeeds(of: user)
        if wasOffered, !has(.offered, user) { open.append(user) }
      }
    }
  }

  func lacksOffer(_ task: TaskID) -> Bool {
    plan.hasServices
      && plan.services(neededBy: task).contains { !state($0).isTerminal && !has(.offered, $0) }
  }

  func waitsForNeed(_ task: TaskID) -> Bool {
    plan.needs(task).contains {
      let need = TaskID(plan.needTargets[$0])
      return !state(need).isTerminal && !has(.offered, need)
    }
  }

  func firstLackedNeed(of service: TaskID) -> TaskID? {
    plan.needs(service).first { isLacked($0) }.map { TaskID(plan.needTargets[$0]) }
  }
}
