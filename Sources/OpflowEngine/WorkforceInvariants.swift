internal import OpflowPlan

extension Workforce {
  func checkInvariants() -> String? {
    for index in sites.indices {
      if let problem = check(sites[index], SiteID(Int32(truncatingIfNeeded: index))) {
        return problem
      }
    }
    let records = living.map { workers[$0.index] }
    if workers.all.count(where: { $0.phase != .gone }) != records.count {
      return "a worker lives nowhere"
    }
    for kind in WorkerKind.allCases {
      let own = records.filter { $0.kind == kind }
      if own.count != alive[kind] || own.count(where: { $0.idlePlace >= 0 }) != idle[kind]
        || own.count(where: { $0.phase == .launching }) != launching[kind]
      {
        return "workers of a kind are miscounted"
      }
      if own.contains(where: { $0.ahead.count > paces[kind].maxAhead }) {
        return "a worker was handed too many tasks ahead"
      }
    }
    let ahead = records.flatMap(\.ahead)
    if ahead.count != aheadCount { return "\(aheadCount) tasks ahead, \(ahead.count) found" }
    if ahead.count(where: \.isRevoking) != revokingCount {
      return "what is asked back is miscounted"
    }
    return watch.checkInvariants() ?? backlogs.checkInvariants(workers.all)
  }

  private func check(_ site: Site, _ id: SiteID) -> String? {
    for (place, worker) in site.workers.enumerated() {
      let record = workers[worker.index]
      if Int(record.place) != place || record.site != id { return "a worker is out of its place" }
      let isOffered = record.phase == .idle && !record.isDiscarded
      if (record.idlePlace >= 0) != isOffered { return "an idle worker hides, or is offered" }
      if isOffered, site.crews[record.kind].idle[Int(record.idlePlace)] != worker {
        return "an idle worker is out of its place"
      }
      let isHolding = !record.current.isNone || !record.ahead.isEmpty
      switch record.phase {
      case .gone: return "worker \(worker.rawValue) is gone and listed"
      case .idle: if isHolding { return "an idle worker holds a task" }
      case .launching:
        if !record.ahead.isEmpty { return "a launching worker was handed a task ahead" }
      case .busy: if !isHolding { return "a busy worker holds nothing" }
      }
      if isHolding != (record.share != nil) { return "a worker holds what it has no task for" }
      let isListened =
        record.phase != .launching && !record.isDiscarded && record.kind != .block
      if watch.isListenedTo(worker) != isListened { return "a worker is listened to in vain" }
    }
    if site.crews[.terminal].alive > (id == .local ? 1 : 0) {
      return "more than one worker at the terminal, or one elsewhere"
    }
    for kind in WorkerKind.allCases {
      let crew = site.crews[kind]
      let own = site.workers.filter { workers[$0.index].kind == kind }
      let launching = own.count { workers[$0.index].phase == .launching }
      if own.count != crew.alive || launching != crew.launching { return "a crew is miscounted" }
    }
    return nil
  }
}
