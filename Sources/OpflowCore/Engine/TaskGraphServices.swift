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

  /// Such a service has ended before that was known: it waits for what it needs as any task.
  mutating func waitAnew(_ service: TaskID) {
    countNeeds(of: service)
    if let lacked = firstLackedNeed(of: service) {
      skip(service, for: lacked)
    } else if unmetNeeds(of: service) == 0 {
      release(service)
    }
    spreadSkips()
  }

  /// The first need that has an end which does not meet it.
  private func firstLackedNeed(of service: TaskID) -> TaskID? {
    for edge in plan.needs(service) {
      let need = TaskID(plan.needTargets[edge])
      let isMet = state(need).meets(
        plan.needCondition(edge), skippedUpstream: has(.skippedUpstream, need))
      if state(need).isTerminal, !isMet { return need }
    }
    return nil
  }
}
