internal import OpflowJournal
internal import OpflowPlan

extension Scheduler {
  static func groups(_ plan: Plan, staying: Set<TaskID>) -> ServiceGroups {
    ServiceGroups(plan) { staying.contains($0) }
  }

  /// Prefers the node of the group, then the best ones.
  func jointPlace(_ task: TaskID, _ lane: Int, at now: Instant) -> Place {
    if resources.isLocal(lane) { return room(for: task, atOneOf: Resources.here) }
    let (homes, lacksTime) = homes(of: task, lane, at: now)
    if lacksTime { return .noTime }
    if let bound = resources.binding(of: lane) {
      return homes.contains(bound) ? room(for: task, atOneOf: [bound]) : .notYet
    }
    return room(for: task, atOneOf: bestHomes(homes, for: task, lane))
  }

  private func room(for task: TaskID, atOneOf sites: [SiteID]) -> Place {
    guard let toStart = servicesToStart(with: task), let first = sites.first else { return .notYet }
    let lanes = (toStart + [task]).map { resources.lane(of: $0) }
    let held = sharesOfServices(of: task)
    for site in sites
    where resources.fit(resources.together(lanes, with: held, at: site), at: site) {
      return .site(site)
    }
    return .noRoom(first)
  }

  /// Returns the nodes in use where the task fits with its services and has time; if it fits on
  /// none, the largest.
  private func homes(
    of task: TaskID, _ lane: Int, at now: Instant
  ) -> (sites: [SiteID], lackTime: Bool) {
    let able = machines.inUse.filter { resources.hasDevices(for: lane, at: $0) }
    let whole = able.filter { resources.isWhole(lane, at: $0) }
    let fitting = whole.isEmpty ? resources.largest(of: able) : whole
    guard machines.haveEnds else { return (fitting, false) }
    let need = timeNeed(of: task)
    let inTime = fitting.filter { machines.hasTime(for: need, at: $0, now) }
    return (inTime, inTime.isEmpty && !fitting.isEmpty)
  }

  /// By load; prefers nodes without losses of the task or its services, then with room for the
  /// largest task of the group, then where its dependencies ran.
  private func bestHomes(_ homes: [SiteID], for task: TaskID, _ lane: Int) -> [SiteID] {
    var best = homes
    func prefer(_ isBetter: (SiteID) -> Bool) {
      let better = best.filter(isBetter)
      if !better.isEmpty { best = better }
    }
    for member in [task] + servicesWanted(by: task) {
      guard let lost = machines.losses[member] else { continue }
      prefer { !lost.contains(machines[$0].identity.machine) }
    }
    prefer { resources.isWholeForGroup(of: lane, at: $0) }
    let near = siteOfNeeds(of: task)
    return best.map { (site: $0, load: $0 == near ? -1 : resources.load(of: $0)) }
      .sorted { ($0.load, $0.site.rawValue) < ($1.load, $1.site.rawValue) }.map(\.site)
  }

  // MARK: - Moving

  /// The node is out of use, or the group's ready tasks can only run elsewhere. A silent node is
  /// lost soon, and gets no command before.
  func isStranded(_ service: TaskID, at now: Instant) -> Bool {
    guard let site = resources.binding(of: resources.lane(of: service)) else { return false }
    let machine = machines[site]
    if !machine.isInUse { return machine.isThere && machine.state != .silent }
    var mayGo = false
    for lane in resources.serviceLanes.lanes(ofGroupOf: service) {
      guard let rank = ready.head(lane) else { continue }
      let task = TaskID(ranking.task[Int(rank)])
      let homes = homes(of: task, lane, at: now).sites
      if homes.contains(site) { return false }
      if !homes.isEmpty { mayGo = true }
    }
    return mayGo
  }

  /// Returns the reserved node, or the least loaded.
  func roomiest(for task: TaskID, _ lane: Int, at now: Instant) -> SiteID? {
    if let reserved = resources.reservedElsewhere?.site { return reserved }
    let limits = limits(of: task, lane, at: now)
    return machines.inUse.filter {
      allows(limits, $0, at: now) && resources.isWithinCapacity(lane, at: $0)
    }.min { resources.load(of: $0) < resources.load(of: $1) }
  }

  /// They are lost together with services, and must not be stopped for that.
  func usersFirst(_ workers: [WorkerID]) -> [WorkerID] {
    if !plan.hasServices { return workers }
    let depths = Dictionary(uniqueKeysWithValues: services.all.enumerated().map { ($1, $0) })
    return workers.map { worker in
      (worker: worker, depth: depths[workforce.workers[worker.index].current] ?? .max)
    }.sorted { ($1.depth, $0.worker.rawValue) < ($0.depth, $1.worker.rawValue) }.map(\.worker)
  }

  mutating func withdrawTaken(at site: SiteID) {
    withdrawTaken(services.taken.all.filter { $0.share.site == site }.map(\.task))
  }

  mutating func withdrawWithoutTime(at now: Instant) {
    let late = services.taken.all.filter { entry in
      let site = entry.share.site
      return site != .local && !isService(entry.task)
        && !machines.hasTime(for: timeNeed(of: entry.task), at: site, now)
    }.map(\.task)
    withdrawTaken(late)
  }
}
