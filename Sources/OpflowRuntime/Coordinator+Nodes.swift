internal import OpflowEngine
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowViews
internal import OpflowWire
internal import OpflowWorker

extension Coordinator {
  // MARK: - Joining

  func attendNodes() {
    guard let nodes else { return }
    keepClaim()
    let now = Self.now
    if closing == nil { leaveEndingAllocations(nodes, now) }
    for index in nodes.places.indices {
      switch nodes.places[index].state {
      case .waiting(let until) where until <= now && !isDismissed: connect(index, nodes, now)
      case .connecting(let launcher, _) where launcher.exitDeadline.map { $0 <= now } ?? false:
        launcher.loseAtExitDeadline()
        hear(launcher, at: 0)
      case .connecting(let launcher, let by) where by <= now:
        lose(launcher, "no agent answered within \(Nodes.connectMilliseconds / 1_000) s")
      case .connecting(_, let by)
      where nodes.places[index].awaited == nil && Nodes.awaited(from: by) <= now:
        noteAwaited(
          "node \(nodes.places[index].plan.name) has not answered yet", place: index, nodes)
      case .joined(let launcher, let node) where !launcher.isDismissed && engine.isOver(node):
        launcher.dismiss()
      case .joined(let launcher, _) where nodes.end(ofLeaseHeardAt: launcher.heardAt) <= now:
        lose(launcher, "it sent nothing within the heartbeat timeout")
      case .lost(let launcher, let node, let until, let complaint)
      where until <= now && launcher.killerDeadline.map({ $0 <= now }) ?? true:
        if let next = endOrphans(index, behind: launcher, nodes, now) {
          nodes.places[index].state = .lost(launcher, node, until: next, complaint: complaint)
        } else {
          bury(index, launcher, node, complaint, nodes, now)
        }
      default: break
      }
    }
    if !nodes.isTold, nodes.areKnown {
      nodes.isTold = true
      tell(.nodesKnown)
    }
    if nodes.areExhausted, !nodes.isExhausted {
      nodes.isExhausted = true
      tell(.nodesExhausted(complaint: nodes.complaint))
    }
  }

  private func connect(_ index: Int, _ nodes: Nodes, _ now: Instant) {
    let plan = nodes.places[index].plan
    do throws(LaunchFailure) {
      let (number, watch) = (launchers.count, watch)
      let launcher = try NodeTransport.start(plan.words, complaints: nodes.complaints) {
        (transport, input, output) throws(Errno) in
        try RelayLauncher(
          node: number, watch: watch, name: plan.name, input: input, output: output,
          transport: transport, at: now)
      }
      launchers.append(launcher)
      nodes.places[index].state = .connecting(
        launcher, by: now.advanced(byMilliseconds: Nodes.connectMilliseconds))
      let settings = nodes.settings
      let fault = launcher.open(
        settings.opening, variables: settings.variables, arguments: settings.arguments)
      if let fault { lose(launcher, fault) }
    } catch {
      if error.isShortage, nodes.places[index].awaitProcess(at: now) {
        if nodes.places[index].shortages == 1 {
          warn("node \(plan.name) waits until opflow can start processes: \(error.detail)")
        }
        return
      }
      fail(index, error.detail, nodes, now)
    }
  }

  private func fail(_ index: Int, _ complaint: String, _ nodes: Nodes, _ now: Instant) {
    noteAwaited(nil, place: index, nodes)
    nodes.places[index].failures += 1
    nodes.places[index].complaint = complaint
    giveUpOrRetry(index, complaint, nodes, now)
  }

  /// Shows the reason for a node's delay; nil ends the delay.
  private func noteAwaited(_ detail: String?, place index: Int, _ nodes: Nodes) {
    if nodes.places[index].awaited == detail { return }
    nodes.places[index].awaited = detail
    let place = nodes.allocations.count + index
    show(.wait(place, for: detail, isNews: true))
    writeAwaited(nodes)
  }

  func join(_ launcher: RelayLauncher, _ hello: AgentHello) {
    guard let nodes, let index = nodes.index(of: launcher) else { return }
    let node = NodeID(Int32(truncatingIfNeeded: launcherOfNode.count))
    launcherOfNode.append(launcher.number)
    nodes.places[index].state = .joined(launcher, node)
    nodes.places[index].failures = 0
    nodes.places[index].shortages = 0
    noteAwaited(nil, place: index, nodes)
    var identity = NodeIdentity(
      machine: nodes.machine(of: hello.host), host: hello.host, incarnation: hello.incarnation,
      leaseMilliseconds: nodes.settings.leaseMilliseconds)
    if plan.gpuResource != nil { identity.devicesHere = AgentMachine().devices(alsoOf: hello) }
    var offer = NodeOffer(hello, at: Self.now)
    // The job's time limit may have changed since the agent read it.
    if let allocation = nodes.places[index].allocation {
      offer.endsAt = nodes.allocations[allocation].leavesAt ?? offer.endsAt
    }
    tell(.nodeJoined(node, offer, identity))
  }

  // MARK: - Leaving

  private func lose(_ launcher: RelayLauncher, _ complaint: String) {
    launcher.lose(complaint)
    hear(launcher, at: 0)
  }

  /// Stops giving tasks to a node whose agent ends its workers.
  func noteLeaving(_ launcher: RelayLauncher, _ detail: String) {
    guard let nodes, let index = nodes.index(of: launcher),
      case .joined(_, let node) = nodes.places[index].state
    else { return }
    tell(.nodeLeaving(node, complaint: detail))
  }

  /// Workers of a lost stream keep their tasks until they are certainly gone.
  func noteLost(_ launcher: RelayLauncher, _ complaint: String) {
    guard let nodes, let index = nodes.index(of: launcher) else { return }
    let now = Self.now
    guard case .joined(_, let node) = nodes.places[index].state else {
      launcher.killTransport()
      let words = launcher.lastWords
      let said = words.isEmpty ? complaint : "\(complaint); it printed: \(words)"
      fail(index, said, nodes, now)
      return
    }
    let until = launcher.saidBye ? now : max(now, nodes.end(ofWorkersHeardAt: launcher.heardAt))
    nodes.places[index].state = .lost(launcher, node, until: until, complaint: complaint)
    tell(.nodeSilent(node, complaint: complaint))
    if !launcher.saidBye, let hello = launcher.hello,
      let words = nodes.places[index].plan.killWords?(hello)
    {
      launcher.endAgent(words, complaints: nodes.complaints, at: now)
    }
  }

  /// The time for workers to end their tasks after the heartbeat timeout.
  private static let leavingMilliseconds: Int64 = 4_000
  private static let orphanIntervalMilliseconds: Int64 = 20

  /// Ends, in steps, processes of a lost agent's workers on this machine. Returns when to continue;
  /// nil once the engine knows the survivors.
  private func endOrphans(
    _ index: Int, behind launcher: RelayLauncher, _ nodes: Nodes, _ now: Instant
  ) -> Instant? {
    let notes = SurvivorFiles.read(request.folder.path)
    let lost = links.compactMap { link -> (WorkerLink, Orphans.Lost, [SurvivorNote])? in
      guard let link, link.node == launcher.number, let entry = link.entry else { return nil }
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
    let leaveBy = nodes.end(ofWorkersHeardAt: launcher.heardAt)
      .advanced(byMilliseconds: Self.leavingMilliseconds)
    if now < leaveBy, Orphans.areAlive(lost.map(\.1.entry)) { return next }
    var search = nodes.places[index].orphans ?? OrphanSearch()
    let isOver = Orphans.end(lost.map(\.1), sparing: children(beside: launcher), &search)
    nodes.places[index].orphans = isOver ? nil : search
    guard isOver else { return next }
    for (link, worker, notes) in lost {
      let here = Orphans.survivors(search.survivors, of: worker, among: lost.map(\.1))
      let elsewhere = notes.last { !Orphans.isHere($0.worker) }
      if let left = LeftBehind(alive: here) ?? elsewhere?.left { tell(.survived(link.id, left)) }
    }
    (launchers[0] as? LocalLauncher)?.spare(search.survivors.map(\.mark.pid))
    return nil
  }

  var startedChildren: [Int32] {
    launchers.flatMap { ($0 as? RelayLauncher)?.children ?? [] }
      + (nodes?.allocations ?? []).compactMap { $0.allocation?.pid }
  }

  /// The children of this process except the agent's orphans; nil if the agent runs under another
  /// kernel, so its orphans cannot be children.
  private func children(beside launcher: RelayLauncher) -> Set<Int32>? {
    guard let bootID = launcher.hello?.bootID, !bootID.isEmpty, bootID == Machine.bootID else {
      return nil
    }
    let others = links.compactMap { link in
      link?.node == launcher.number ? nil : link?.entry
    }
    return ((launchers[0] as? LocalLauncher)?.children ?? [])
      .union(Orphans.children(of: others))
  }

  private func bury(
    _ index: Int, _ launcher: RelayLauncher, _ node: NodeID, _ complaint: String, _ nodes: Nodes,
    _ now: Instant
  ) {
    forgetAll(behind: launcher)
    tell(.nodeLost(node, complaint: complaint))
    nodes.places[index].losses += 1
    giveUpOrRetry(index, complaint, nodes, now)
  }

  private func forgetAll(behind launcher: RelayLauncher) {
    for (place, link) in links.enumerated() where link?.node == launcher.number {
      links[place] = nil
    }
    ending.removeAll { $0.node == launcher.number }
    launcher.killTransport()
  }

  private func giveUpOrRetry(_ index: Int, _ complaint: String, _ nodes: Nodes, _ now: Instant) {
    guard !isDismissed else {
      nodes.places[index].state = .givenUp(complaint)
      return
    }
    if let why = nodes.retry(index, complaint: complaint, at: now), !nodes.areExhausted {
      // If no other node is left, the run reports this when it stops.
      warn(why)
    }
  }

  // MARK: - The end

  /// A transport may hang forever in a network file system.
  private static let killedMilliseconds: Int64 = 3_000

  func dismissNodes() {
    for absentee in nodes?.absentees ?? [] { warn(absentee) }
    for place in nodes?.places ?? [] {
      switch place.state {
      case .connecting(let launcher, _): launcher.killTransport()
      case .joined(let launcher, _): launcher.dismiss()
      // The tasks of its workers no longer matter.
      case .lost(let launcher, _, _, _): forgetAll(behind: launcher)
      case .waiting, .givenUp: break
      }
    }
  }

  var nodesAreOver: Bool {
    nodesDeadline.map { $0 <= Self.now } ?? false || liveRelays.isEmpty
  }

  func tellLeftTransports() {
    for relay in liveRelays {
      warn("opflow killed the connection command of node \(relay.name), but it has not ended")
    }
  }

  private var liveRelays: [RelayLauncher] {
    launchers.compactMap { $0 as? RelayLauncher }.filter { !$0.isOver }
  }

  /// Kills nodes that did not leave in time. Their streams may never end: another process may hold
  /// the other end.
  func killNodes() {
    nodesDeadline = Self.now.advanced(byMilliseconds: Self.killedMilliseconds)
    for case let launcher? in (nodes?.places ?? []).map(\.launcher) {
      launcher.lose("it did not exit in time")
      forgetAll(behind: launcher)
    }
  }
}

extension NodeOffer {
  init(_ hello: AgentHello, at now: Instant) {
    self.init(
      cpu: UInt64(max(hello.cores, 1)), memoryBytes: UInt64(max(hello.memoryBytes, 0)),
      gpus: UInt64(hello.gpus.count),
      endsAt: hello.secondsLeft.map {
        now.advanced(byMilliseconds: $0 * 1_000 - NodeAllocation.marginMilliseconds)
      })
  }
}

extension Coordinator {
  func beginAllocations() {
    guard let nodes else { return }
    for (index, want) in nodes.settings.allocations.enumerated() {
      do throws(LaunchFailure) {
        let allocation = try SlurmAllocation(
          want, watch: watch, owner: .coordinator,
          place: Place.allocations + UInt32(truncatingIfNeeded: index),
          error: nodes.complaints.rawDescriptor)
        nodes.allocations.append(NodeAllocation(allocation))
      } catch {
        nodes.allocations.append(NodeAllocation(nil))
        end(index, nodes, error.detail)
      }
    }
  }

  func hearAllocation(_ index: Int) {
    guard let nodes, nodes.allocations.indices.contains(index) else { return }
    while let news = nodes.allocations[index].allocation?.next() {
      switch news {
      case .pending(let job, let reason):
        let detail =
          reason.map { "Slurm job \(job) is pending: \($0)" } ?? "Slurm job \(job) is pending"
        // Slurm gives no reason until it has scheduled the job, which may start at once.
        show(.wait(index, for: detail, isNews: reason != nil))
        noteAwaited(detail, of: index, nodes)
      case .granted(let job, let left): begin(job, left, index, nodes)
      case .left(let seconds):
        if nodes.allocations[index].setTimeLeft(seconds, at: Self.now) { tellEnd(of: index, nodes) }
      case .over(let complaint): end(index, nodes, complaint)
      }
    }
  }

  private func begin(_ job: SlurmJob, _ left: Int64?, _ index: Int, _ nodes: Nodes) {
    nodes.allocations[index].setTimeLeft(left, at: Self.now)
    nodes.allocations[index].isGranted = true
    tellEnd(of: index, nodes)
    if nodes.allocations[index].awaited != nil {
      let names = job.nodes.map(\.name).joined(separator: ", ")
      show(.waitEnded(index, "Slurm job \(job.id) runs on \(names)"))
      noteAwaited(nil, of: index, nodes)
    }
    let plans =
      nodes.allocations[index].allocation?
      .transports(job, program: nodes.settings.program) ?? []
    for plan in plans { nodes.add(plan, of: index, at: Self.now) }
  }

  /// Reports when the allocation's nodes, perhaps this machine too, run out of time.
  private func tellEnd(of index: Int, _ nodes: Nodes) {
    let end = nodes.allocations[index].leavesAt
    for place in nodes.places where place.allocation == index {
      if case .joined(_, let node) = place.state { tell(.nodeEnds(node, end)) }
    }
    let isHere = nodes.settings.allocations[index] == .inside && SlurmAllocation.isOnItsNode
    if isHere { tell(.nodeEnds(.local, end)) }
  }

  private func end(_ index: Int, _ nodes: Nodes, _ complaint: String) {
    show(.wait(index, for: nil, isNews: false))
    noteAwaited(nil, of: index, nodes)
    for (_, node) in nodes.close(index, complaint: complaint) {
      tell(.nodeLeaving(node, complaint: complaint))
    }
    if closing == nil, !nodes.areExhausted { warn(complaint) }
  }

  private func noteAwaited(_ detail: String?, of index: Int, _ nodes: Nodes) {
    nodes.allocations[index].awaited = detail
    writeAwaited(nodes)
  }

  func writeAwaited(_ nodes: Nodes) {
    let all = nodes.allocations.compactMap(\.awaited) + nodes.places.compactMap(\.awaited)
    if all.isEmpty {
      request.folder.removeAwaited()
    } else {
      request.folder.writeAwaited(all.joined(separator: "; "))
    }
  }

  /// Lets tasks end by their stop rules before Slurm kills them.
  func leaveEndingAllocations(_ nodes: Nodes, _ now: Instant) {
    for index in nodes.allocations.indices where nodes.allocations[index].isNearEnd(at: now) {
      for (launcher, node) in nodes.close(index, complaint: Nodes.overText) {
        tell(.nodeLeaving(node, complaint: Nodes.overText))
        launcher.dismiss()
      }
    }
  }
}
