internal import OpflowPlan

extension TaskGraph {
  enum KeptNeeds: Equatable {
    /// Some are not settled.
    case open
    case met
    /// This one runs again, or has ended without meeting its condition.
    case changed(TaskID)
  }

  /// Whether a service's dependencies are unchanged; `stays` is asked for services among them.
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

  /// For a service that was taken over, or a task with a retried dependency.
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

  /// A service that waits again is not there for its users.
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
