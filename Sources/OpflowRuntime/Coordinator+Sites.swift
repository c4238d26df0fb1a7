internal import OpflowCore
internal import OpflowSystem

extension Coordinator {
  // MARK: - Coming

  /// Reaches for machines, and lets go of those whose time is over.
  func attendSites() {
    guard let sites else { return }
    keepClaim()
    let now = Self.now
    if closing == nil { leaveEndingAllocations(sites, now) }
    for index in sites.places.indices {
      switch sites.places[index].state {
      case .waiting(let until) where until <= now && !isDismissed: connect(index, sites, now)
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
        bury(index, launcher, site, complaint, sites, now)
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
      fail(index, error.what, sites, now)
    }
  }

  /// An attempt to reach a machine came to nothing.
  private func fail(_ index: Int, _ complaint: String, _ sites: Sites, _ now: Instant) {
    noteAwaited(nil, place: index, sites)
    sites.places[index].failures += 1
    sites.places[index].complaint = complaint
    giveUpOrRetry(index, complaint, sites, now)
  }

  /// Notes what is waited for so that a machine joins; nil for nothing.
  private func noteAwaited(_ what: String?, place index: Int, _ sites: Sites) {
    if sites.places[index].awaited == what { return }
    sites.places[index].awaited = what
    let place = sites.allocations.count + index
    progress.wait(place, for: what, isNews: true, atMilliseconds: wall)
    writeAwaited(sites)
  }

  /// The agent on a machine is there: it is one more site.
  func join(_ launcher: RelayLauncher, _ hello: AgentHello) {
    guard let sites, let index = sites.index(of: launcher) else { return }
    let site = SiteID(Int32(truncatingIfNeeded: launcherOfSite.count))
    launcherOfSite.append(launcher.number)
    sites.places[index].state = .joined(launcher, site)
    sites.places[index].failures = 0
    noteAwaited(nil, place: index, sites)
    var identity = SiteIdentity(
      machine: sites.machine(of: hello.host), host: hello.host, incarnation: hello.incarnation,
      leaseMilliseconds: sites.settings.leaseMilliseconds)
    if plan.gpuResource != nil { identity.devicesHere = AgentMachine().devices(alsoOf: hello) }
    var offer = SiteOffer(hello, at: Self.now)
    // What the job had left when the agent began may be another time by now.
    if let allocation = sites.places[index].allocation {
      offer.endsAt = sites.allocations[allocation].leavesAt ?? offer.endsAt
    }
    tell(.siteJoined(site, offer, identity))
  }

  // MARK: - Going

  /// Nothing on that stream is believed any more.
  private func lose(_ launcher: RelayLauncher, _ complaint: String) {
    launcher.lose(complaint)
    hear(launcher, at: 0)
  }

  /// The agent ends its workers: nothing is to be started there.
  func noteLeaving(_ launcher: RelayLauncher, _ what: String) {
    guard let sites, let index = sites.index(of: launcher),
      case .joined(_, let site) = sites.places[index].state
    else { return }
    tell(.siteLeaving(site, complaint: what))
  }

  /// A stream is over. What its workers had stays theirs until they are gone for certain.
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

  /// Nothing is left of a site and its workers.
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
      // Where nothing else is left, the run says so as it stops.
      progress.warning(why)
    }
  }

  // MARK: - The end

  /// From KILL to the end of what carries a stream. One that hangs in a network's file system may never end.
  private static let killedMilliseconds: Int64 = 3_000

  func dismissSites() {
    for absentee in sites?.absentees ?? [] { progress.warning(absentee) }
    for place in sites?.places ?? [] {
      switch place.state {
      case .connecting(let launcher, _): launcher.killTransport()
      case .joined(let launcher, _): launcher.dismiss()
      // Nobody waits for what its workers had.
      case .lost(let launcher, _, _, _): forgetAll(behind: launcher)
      case .waiting, .givenUp: break
      }
    }
  }

  /// Whether all transports have ended, or nobody is to wait for them any more.
  var sitesAreOver: Bool {
    sitesDeadline.map { $0 <= Self.now } ?? false || liveRelays.isEmpty
  }

  /// Warns of transports that could not be ended.
  func tellLeftTransports() {
    for relay in liveRelays {
      progress.warning("the transport to \(relay.name) was killed, and does not end")
    }
  }

  /// Those whose transport has not ended, of places that were given up too.
  private var liveRelays: [RelayLauncher] {
    launchers.compactMap { $0 as? RelayLauncher }.filter { !$0.isOver }
  }

  /// Ends what did not leave in time. Its stream may never end: somebody else may have the other end of it.
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
