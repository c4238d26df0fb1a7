/// What changes while the run goes on: machines that come and go, capacities, priorities.
extension Scheduler {
  /// A further machine is there. Where nobody knows what it has, its first worker is to tell.
  mutating func join(
    _ site: SiteID, _ offer: SiteOffer?, at now: Instant, into actions: inout [EngineStep]
  ) {
    let joined = workforce.join(offer)
    precondition(joined == site, "machines are numbered in the order in which they join")
    resources.join(offer ?? SiteOffer(cpu: 0, memoryBytes: 0))
    scout(site, at: now, into: &actions)
  }

  /// Sends a worker to a machine of which nobody knows what it has, unless one is on its way.
  mutating func scout(_ site: SiteID, at now: Instant, into actions: inout [EngineStep]) {
    guard workforce.wantsScout(site), !phase.isKilled else { return }
    let worker = workforce.launch(.command, at: site, now: now)
    actions.append(.launch(worker, .command, site))
  }

  /// A worker told what its machine has, which matters where nobody else did.
  mutating func learn(_ told: WorkerOffer, from worker: WorkerID) {
    guard workforce.isAlive(worker) else { return }
    let site = workforce.workers[worker.index].site
    guard workforce.sites[site.index].isUnknown else { return }
    let offer = SiteOffer(
      cpu: UInt64(max(told.cores, 1)),
      memoryBytes: told.memoryBytes.map { UInt64(max($0, 0)) } ?? .max)
    workforce.setOffer(offer, of: site)
    resources.setOffer(offer, of: site)
  }

  /// A machine is gone with all its workers, and so is every process of theirs.
  mutating func leave(
    _ site: SiteID, complaint: String, at now: Instant, into actions: inout [EngineStep]
  ) {
    guard workforce.isThere(site), site != .local else { return }
    workforce.leave(site)
    resources.leave(site)
    for worker in workforce.sites[site.index].workers {
      lose(worker, complaint: complaint, at: now, into: &actions)
    }
  }

  /// Changes how much there is of a resource; of `cpu` and `memory`, on this machine. There may be as
  /// many workers as that asks for.
  mutating func setCapacity(
    _ amount: UInt64, of resource: Int, into actions: inout [EngineStep]
  ) {
    let isLess = amount < resources.capacity(of: resource)
    resources.setCapacity(amount, of: resource)
    // What is handed ahead would keep busy what is to drain.
    if isLess { for worker in workforce.living { takeBackAll(of: worker, into: &actions) } }
    switch UInt32(truncatingIfNeeded: resource) {
    case ResourceEntry.cpu: workforce.setLimit(of: .command, for: amount)
    case ResourceEntry.download: workforce.setLimit(of: .download, for: amount)
    default: break
    }
  }

  /// Gives tasks other priorities than those of the manifest, for as long as the drive lasts. What they
  /// wait for inherits them; what runs is not preempted.
  mutating func prioritise(_ tasks: [TaskPriority]) {
    for entry in tasks where plan.tasks.contains(entry.task.index) {
      priorities[entry.task] = entry.priority
    }
    let waiting = ready.removeAll().map { TaskID(ranking.task[Int($0)]) }
    ranking = Ranking(plan: plan, durations: durations, priorities: priorities)
    for task in waiting { enqueue(task) }
    rankAheadAnew()
  }
}
