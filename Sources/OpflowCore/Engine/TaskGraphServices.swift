/// Services that an earlier drive left up, and what they need.
extension TaskGraph {
  /// What there is of what such a service needs.
  enum KeptNeeds: Equatable {
    /// Some of it is still to be looked at.
    case open
    /// All of it is as it was.
    case met
    /// That runs again, or has an end that does not meet it.
    case changed(TaskID)
  }

  /// How all that a service needs stands.
  ///
  /// - Parameter stays: of a service that it needs: whether that is there as it was, or is not known to be; nil
  ///   where it is not.
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

  /// All that such a service needs is as it was.
  mutating func meetAll(of service: TaskID) { setUnmet(0, of: service) }

  /// A task that had begun waits for what it needs as any other: a service that an earlier drive left up and that
  /// ended before that was known to be as it was, or what of its needs an order has tried again.
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

  /// Counts anew what those wait for that need these. A service that waits again is not there any more for what
  /// needs it.
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

  /// Whether a service that it needs waits itself.
  func lacksOffer(_ task: TaskID) -> Bool {
    plan.hasServices
      && plan.services(neededBy: task).contains { !state($0).isTerminal && !has(.offered, $0) }
  }

  /// Whether one of its needs has no end, and is not there.
  func waitsForNeed(_ task: TaskID) -> Bool {
    plan.needs(task).contains {
      let need = TaskID(plan.needTargets[$0])
      return !state(need).isTerminal && !has(.offered, need)
    }
  }

  /// The first need that has an end which does not meet it.
  func firstLackedNeed(of service: TaskID) -> TaskID? {
    plan.needs(service).first { isLacked($0) }.map { TaskID(plan.needTargets[$0]) }
  }
}
