/// On which machine services are, and what needs them (`Services`).
extension Scheduler {
  /// - Parameter staying: services that stay, or went on from the drive before, on this machine.
  static func groups(_ plan: Plan, staying: Set<TaskID>) -> ServiceGroups {
    ServiceGroups(plan) { staying.contains($0) }
  }

  /// Where a service, or a task that needs one, is to start: where its group is, and where that is nowhere, on one
  /// of the machines that are best for it.
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

  /// The machines in use on which a task may run with its services: where it fits, or where it does nowhere, the
  /// largest; of these the ones that have the time.
  ///
  /// - Returns: none where no machine has its GPUs, or none the time; and whether it is that.
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

  /// Those of them that are best for what is to be bound, the least loaded first: where nothing of it was lost, where the
  /// largest of the group fits, and first of all where what it needs ran.
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

  /// Whether the group of a service is bound to a machine where no more of it starts, so that it is to end there: that
  /// is out of use, or what is ready of it may only run elsewhere.
  ///
  /// What is silent is waited for: no order reaches it, and it is lost before long.
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

  /// Where room is made for a task that needs no service: where it is held back already, or where least is held.
  func roomiest(for task: TaskID, _ lane: Int, at now: Instant) -> SiteID? {
    if let reserved = resources.reservedElsewhere?.site { return reserved }
    let limits = limits(of: task, lane, at: now)
    return machines.inUse.filter {
      allows(limits, $0, at: now) && resources.isWithinCapacity(lane, at: $0)
    }.min { resources.load(of: $0) < resources.load(of: $1) }
  }

  /// In the order in which they are lost together: what needs a service goes before that, and is not told to end for it.
  func usersFirst(_ workers: [WorkerID]) -> [WorkerID] {
    if !plan.hasServices { return workers }
    let depths = Dictionary(uniqueKeysWithValues: services.all.enumerated().map { ($1, $0) })
    return workers.map { worker in
      (worker: worker, depth: depths[workforce.workers[worker.index].current] ?? .max)
    }.sorted { ($1.depth, $0.worker.rawValue) < ($0.depth, $1.worker.rawValue) }.map(\.worker)
  }

  /// Gives back what is taken there, where nothing new starts any more.
  mutating func withdrawTaken(at site: SiteID) {
    if services.waiting.isEmpty { return }
    let there = Set(services.waiting.lazy.filter { $0.share.site == site }.map(\.task))
    withdrawTaken { there.contains($0) }
  }

  /// Gives back what is taken where meanwhile less time is left than the task takes.
  mutating func withdrawWithoutTime(at now: Instant) {
    let late = services.waiting.filter { entry in
      let site = entry.share.site
      return site != .local && !isService(entry.task)
        && !machines.hasTime(for: timeNeed(of: entry.task), at: site, now)
    }.map(\.task)
    if !late.isEmpty { withdrawTaken { late.contains($0) } }
  }
}
