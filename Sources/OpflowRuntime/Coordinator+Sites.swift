internal import OpflowEngine
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowViews
internal import OpflowWire
internal import OpflowWorker

extension Coordinator {
  // MARK: - Joining

  func attendSites() {
    guard let sites else { return }
    keepClaim()
    let now = Self.now
    if closing == nil { leaveEndingAllocations(sites, now) }
    for index in sites.places.indices {
      switch sites.places[index].state {
      case .waiting(let until) where until <= now && !isDismissed: connect(index, sites, now)
      case .connecting(let launcher, _) where launcher.exitDeadline.map { $0 <= now } ?? false:
        launcher.loseAtExitDeadline()
        hear(launcher, at: 0)
      case .connecting(let launcher, let by) where by <= now:
        lose(launcher, "no agent answered within \(Sites.connectMilliseconds / 1_000) s")
      case .connecting(_, let by)
      where sites.places[index].awaited == nil && Sites.awaited(from: by) <= now:
        noteAwaited("\(sites.places[index].plan.name) has not answered yet", place: index, sites)
      case .joined(let launcher, let site) where !launcher.isDismissed && engine.isOver(site):
        launcher.dismiss()
      case .joined(let launcher, _) where sites.end(ofLeaseHeardAt: launcher.heardAt) <= now:
        lose(launcher, "nothing was heard of it in time")
      case .lost(let launcher, let site, let until, let complaint)
      where until <= now && launcher.killerDeadline.map({ $0 <= now }) ?? true:
        if let next = endOrphans(index, behind: launcher, sites, now) {
          sites.places[index].state = .lost(launcher, site, until: next, complaint: complaint)
        } else {
          bury(index, launcher, site, complaint, sites, now)
        }
      default: break
      }
    }
    if !sites.isTold, sites.areKnown {
      sites.isTold = true
      tell(.sitesKnown)
    }
    if sites.areExhausted, !sites.isExhausted {
      sites.isExhausted = true
      tell(.sitesExhausted(complaint: sites.complaint))
    }
  }

  private func connect(_ index: Int, _ sites: Sites, _ now: Instant) {
    let plan = sites.places[index].plan
    do throws(LaunchFailure) {
      let (number, watch) = (launchers.count, watch)
      let launcher = try SiteTransport.start(plan.words, complaints: sites.complaints) {
        (transport, input, output) throws(Errno) in
        try RelayLauncher(
          site: number, watch: watch, name: plan.name, input: input, output: output,
          transport: transport, at: now)
      }
      launchers.append(launcher)
      sites.places[index].state = .connecting(
        launcher, by: now.advanced(byMilliseconds: Sites.connectMilliseconds))
      let settings = sites.settings
      let fault = launcher.open(
        settings.opening, variables: settings.variables, arguments: settings.arguments)
      if let fault { lose(launcher, fault) }
    } catch {
      if error.isShortage, sites.places[index].awaitProcess(at: now) {
        if sites.places[index].shortages == 1 {
          progress.warning("\(plan.name) waits until processes can be started: \(error.what)")
        }
        return
      }
      fail(index, error.what, sites, now)
    }
  }

  private func fail(_ index: Int, _ complaint: String, _ sites: Sites, _ now: Instant) {
    noteAwaited(nil, place: index, sites)
    sites.places[index].failures += 1
    sites.places[index].complaint = complaint
    giveUpOrRetry(index, complaint, sites, now)
  }

  /// Publishes what delays a node; nil for nothing.
  private func noteAwaited(_ what: String?, place index: Int, _ sites: Sites) {
    if sites.places[index].awaited == what { return }
    sites.places[index].awaited = what
    let place = sites.allocations.count + index
    show(.wait(place, for: what, isNews: true))
    writeAwaited(sites)
  }

  func join(_ launcher: RelayLauncher, _ hello: AgentHello) {
    guard let sites, let index = sites.index(of: launcher) else { return }
    let site = SiteID(Int32(truncatingIfNeeded: launcherOfSite.count))
    launcherOfSite.append(launcher.number)
    sites.places[index].state = .joined(launcher, site)
    sites.places[index].failures = 0
    sites.places[index].shortages = 0
    noteAwaited(nil, place: index, sites)
    var identity = SiteIdentity(
      machine: sites.machine(of: hello.host), host: hello.host, incarnation: hello.incarnation,
      leaseMilliseconds: sites.settings.leaseMilliseconds)
    if plan.gpuResource != nil { identity.devicesHere = AgentMachine().devices(alsoOf: hello) }
    var offer = SiteOffer(hello, at: Self.now)
    // The job's time limit may have changed since the agent read it.
    if let allocation = sites.places[index].allocation {
      offer.endsAt = sites.allocations[allocation].leavesAt ?? offer.endsAt
    }
    tell(.siteJoined(site, offer, identity))
  }

  // MARK: - Leaving

  private func lose(_ launcher: RelayLauncher, _ complaint: String) {
    launcher.lose(complaint)
    hear(launcher, at: 0)
  }

  /// Stops giving tasks to a node whose agent is ending its workers.
  func noteLeaving(_ launcher: RelayLauncher, _ what: String) {
    guard let sites, let index = sites.index(of: launcher),
      case .joined(_, let site) = sites.places[index].state
    else { return }
    tell(.siteLeaving(site, complaint: what))
  }

  /// Handles the loss of a stream. Its workers keep their tasks until they are certainly gone.
  func noteLost(_ launcher: RelayLauncher, _ complaint: String) {
    guard let sites, let index = sites.index(of: launcher) else { return }
    let now = Self.now
    guard case .joined(_, let site) = sites.places[index].state else {
      launcher.killTransport()
      let words = launcher.lastWords
      let said = words.isEmpty ? complaint : "\(complaint), and printed: \(words)"
      fail(index, said, sites, now)
      return
    }
    let until = launcher.saidBye ? now : max(now, sites.end(ofWorkersHeardAt: launcher.heardAt))
    sites.places[index].state = .lost(launcher, site, until: until, complaint: complaint)
    tell(.siteSilent(site, complaint: complaint))
    if !launcher.saidBye, let hello = launcher.hello,
      let words = sites.places[index].plan.killWords?(hello)
    {
      launcher.endAgent(words, complaints: sites.complaints, at: now)
    }
  }

  /// How long workers may take to end their tasks after the heartbeat timeout.
  private static let leavingMilliseconds: Int64 = 4_000
  private static let orphanIntervalMilliseconds: Int64 = 20

  /// Ends what the workers of a lost agent left on this machine, in steps.
  ///
  /// - Returns: When to continue; nil once it is over and the engine knows the survivors.
  private func endOrphans(
    _ index: Int, behind launcher: RelayLauncher, _ sites: Sites, _ now: Instant
  ) -> Instant? {
    let notes = SurvivorFiles.read(request.folder.path)
    let lost = links.compactMap { link -> (WorkerLink, Orphans.Lost, [SurvivorNote])? in
      guard let link, link.site == launcher.number, let entry = link.entry else { return nil }
      let task = engine.runningTask(of: link.id)
      if task.isNone { return (link, Orphans.Lost(entry: entry, attempt: nil, noted: []), []) }
      let attempt = engine.attempt(of: task)
      let own = notes.filter { $0.isAbout(task, attempt, of: entry) }
      let mark = AttemptAround(
        run: request.folder.id.description, task: plan.nameString(task), attempt: attempt)
      return (link, Orphans.Lost(entry: entry, attempt: mark, noted: own.flatMap(\.processes)), own)
    }
    if lost.isEmpty { return nil }
    let next = now.advanced(byMilliseconds: Self.orphanIntervalMilliseconds)
    let leaveBy = sites.end(ofWorkersHeardAt: launcher.heardAt)
      .advanced(byMilliseconds: Self.leavingMilliseconds)
    if now < leaveBy, Orphans.areAlive(lost.map(\.1.entry)) { return next }
    var search = sites.places[index].orphans ?? OrphanSearch()
    let isOver = Orphans.end(
      lost.map(\.1), sparing: children(beside: launcher), &search)
    sites.places[index].orphans = isOver ? nil : search
    guard isOver else { return next }
    for (link, worker, notes) in lost {
      let here = Orphans.survivors(search.survivors, of: worker, among: lost.map(\.1))
      let elsewhere = notes.last { !Orphans.isHere($0.worker) }
      if let left = LeftBehind(alive: here) ?? elsewhere?.left { tell(.survived(link.id, left)) }
    }
    (launchers[0] as? LocalLauncher)?.spare(search.survivors.map(\.mark.pid))
    return nil
  }

  /// The children of this process that carry streams or keep allocations.
  var startedChildren: [Int32] {
    launchers.flatMap { ($0 as? RelayLauncher)?.children ?? [] }
      + (sites?.allocations ?? []).compactMap { $0.allocation?.pid }
  }

  /// The children of this process that are not orphans of this agent; nil if its orphans cannot be
  /// children, since it runs under another kernel.
  private func children(beside launcher: RelayLauncher) -> Set<Int32>? {
    guard let bootID = launcher.hello?.bootID, !bootID.isEmpty, bootID == Machine.bootID else {
      return nil
    }
    let others = links.compactMap { link in
      link?.site == launcher.number ? nil : link?.entry
    }
    return ((launchers[0] as? LocalLauncher)?.children ?? [])
      .union(Orphans.children(of: others))
  }

  private func bury(
    _ index: Int, _ launcher: RelayLauncher, _ site: SiteID, _ complaint: String, _ sites: Sites,
    _ now: Instant
  ) {
    forgetAll(behind: launcher)
    tell(.siteLost(site, complaint: complaint))
    sites.places[index].losses += 1
    giveUpOrRetry(index, complaint, sites, now)
  }

  private func forgetAll(behind launcher: RelayLauncher) {
    for (place, link) in links.enumerated() where link?.site == launcher.number {
      links[place] = nil
    }
    ending.removeAll { $0.site == launcher.number }
    launcher.killTransport()
  }

  private func giveUpOrRetry(_ index: Int, _ complaint: String, _ sites: Sites, _ now: Instant) {
    guard !isDismissed else {
      sites.places[index].state = .givenUp(complaint)
      return
    }
    if let why = sites.retry(index, complaint: complaint, at: now), !sites.areExhausted {
      // If no other node is left, the run reports this when it stops.
      progress.warning(why)
    }
  }

  // MARK: - The end

  /// A transport may hang for good in a network file system.
  private static let killedMilliseconds: Int64 = 3_000

  func dismissSites() {
    for absentee in sites?.absentees ?? [] { progress.warning(absentee) }
    for place in sites?.places ?? [] {
      switch place.state {
      case .connecting(let launcher, _): launcher.killTransport()
      case .joined(let launcher, _): launcher.dismiss()
      // The tasks of its workers no longer matter.
      case .lost(let launcher, _, _, _): forgetAll(behind: launcher)
      case .waiting, .givenUp: break
      }
    }
  }

  /// Whether all transports have ended, or the time to wait for them is over.
  var sitesAreOver: Bool {
    sitesDeadline.map { $0 <= Self.now } ?? false || liveRelays.isEmpty
  }

  func tellLeftTransports() {
    for relay in liveRelays {
      progress.warning("the transport to \(relay.name) was killed, and does not end")
    }
  }

  /// Also those of places that were given up.
  private var liveRelays: [RelayLauncher] {
    launchers.compactMap { $0 as? RelayLauncher }.filter { !$0.isOver }
  }

  /// Kills nodes that did not leave in time. Their streams may never end, since another process may
  /// hold the other end.
  func killSites() {
    sitesDeadline = Self.now.advanced(byMilliseconds: Self.killedMilliseconds)
    for case let launcher? in (sites?.places ?? []).map(\.launcher) {
      launcher.lose("it did not leave in time")
      forgetAll(behind: launcher)
    }
  }
}

extension SiteOffer {
  init(_ hello: AgentHello, at now: Instant) {
    self.init(
      cpu: UInt64(max(hello.cores, 1)), memoryBytes: UInt64(max(hello.memoryBytes, 0)),
      gpus: UInt64(hello.gpus.count),
      endsAt: hello.secondsLeft.map {
        now.advanced(byMilliseconds: $0 * 1_000 - SiteAllocation.marginMilliseconds)
      })
  }
}

/// Slurm allocations: requested by opflow, or around it.
extension Coordinator {
  func beginAllocations() {
    guard let sites else { return }
    for (index, want) in sites.settings.allocations.enumerated() {
      do throws(LaunchFailure) {
        let allocation = try SlurmAllocation(
          want, watch: watch, owner: .coordinator,
          place: Place.allocations + UInt32(truncatingIfNeeded: index),
          error: sites.complaints.rawDescriptor)
        sites.allocations.append(SiteAllocation(allocation))
      } catch {
        sites.allocations.append(SiteAllocation(nil))
        end(index, sites, error.what)
      }
    }
  }

  func hearAllocation(_ index: Int) {
    guard let sites, sites.allocations.indices.contains(index) else { return }
    while let news = sites.allocations[index].allocation?.next() {
      switch news {
      case .pending(let job, let reason):
        let what = reason.map { "job \(job) of Slurm waits: \($0)" } ?? "job \(job) of Slurm waits"
        // Slurm gives no reason before it has scheduled the job, which may start at once.
        show(.wait(index, for: what, isNews: reason != nil))
        noteAwaited(what, of: index, sites)
      case .granted(let job, let left): begin(job, left, index, sites)
      case .left(let seconds):
        if sites.allocations[index].setTimeLeft(seconds, at: Self.now) { tellEnd(of: index, sites) }
      case .over(let complaint): end(index, sites, complaint)
      }
    }
  }

  /// Adds a place for an agent on each node.
  private func begin(_ job: SlurmJob, _ left: Int64?, _ index: Int, _ sites: Sites) {
    sites.allocations[index].setTimeLeft(left, at: Self.now)
    sites.allocations[index].isGranted = true
    tellEnd(of: index, sites)
    if sites.allocations[index].awaited != nil {
      let nodes = job.nodes.map(\.name).joined(separator: ", ")
      show(.waitEnded(index, "job \(job.id) of Slurm runs on \(nodes)"))
      noteAwaited(nil, of: index, sites)
    }
    let plans =
      sites.allocations[index].allocation?
      .transports(job, program: sites.settings.program) ?? []
    for plan in plans { sites.add(plan, of: index, at: Self.now) }
  }

  /// When the allocation's nodes, perhaps this machine too, run out of time.
  private func tellEnd(of index: Int, _ sites: Sites) {
    let end = sites.allocations[index].leavesAt
    for place in sites.places where place.allocation == index {
      if case .joined(_, let site) = place.state { tell(.siteEnds(site, end)) }
    }
    let isHere = sites.settings.allocations[index] == .inside && SlurmAllocation.isOnItsNode
    if isHere { tell(.siteEnds(.local, end)) }
  }

  private func end(_ index: Int, _ sites: Sites, _ complaint: String) {
    show(.wait(index, for: nil, isNews: false))
    noteAwaited(nil, of: index, sites)
    for (_, site) in sites.close(index, complaint: complaint) {
      tell(.siteLeaving(site, complaint: complaint))
    }
    // If no other node is left, the run reports this when it stops.
    if closing == nil, !sites.areExhausted { progress.warning(complaint) }
  }

  /// For views in other processes.
  private func noteAwaited(_ what: String?, of index: Int, _ sites: Sites) {
    sites.allocations[index].awaited = what
    writeAwaited(sites)
  }

  func writeAwaited(_ sites: Sites) {
    let all = sites.allocations.compactMap(\.awaited) + sites.places.compactMap(\.awaited)
    if all.isEmpty {
      request.folder.removeAwaited()
    } else {
      request.folder.writeAwaited(all.joined(separator: "; "))
    }
  }

  /// Stops tasks by their own stop rules before Slurm kills them.
  func leaveEndingAllocations(_ sites: Sites, _ now: Instant) {
    for index in sites.allocations.indices where sites.allocations[index].isNearEnd(at: now) {
      for (launcher, site) in sites.close(index, complaint: Sites.overText) {
        tell(.siteLeaving(site, complaint: Sites.overText))
        launcher.dismiss()
      }
    }
  }
}
