internal import OpflowBase
internal import OpflowEngine
internal import OpflowJournal
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowViews
internal import OpflowWire
internal import OpflowWorker

extension Coordinator {
  /// The time from `bye` to SIGKILL.
  private static let dismissalMilliseconds: Int64 = 2_000

  // MARK: - Joining

  func launch(_ worker: WorkerID, _ kind: WorkerKind, on node: NodeID) {
    do throws(LaunchFailure) {
      let link = try launchers[launcherOfNode[node.index]].launch(worker, kind)
      while links.count <= worker.index { links.append(nil) }
      links[worker.index] = link
      if !request.secrets.isEmpty {
        for secret in request.secrets { link.enqueue(secret) }
        list(link)
      }
      if let entry = link.entry { tell(.launched(worker, entry)) }
    } catch {
      tell(.launchFailed(worker, complaint: error.detail, isShortage: error.isShortage))
      warnOfFewer(kind, detail: error.detail, waits: error.isShortage)
    }
  }

  /// Warns once per kind. `leaving` workers are about to go; `waits`: more may start soon.
  private func warnOfFewer(_ kind: WorkerKind, detail: String, leaving: Int = 0, waits: Bool) {
    let count = links.count { $0?.kind == kind } - leaving
    if count == 0, waits, shortKinds.insert(kind).inserted {
      warn("\(kind) tasks wait until opflow can start processes: \(detail)")
    }
    guard count > 0, kindsWithFewer.insert(kind).inserted else { return }
    warn(
      "the run continues with \(count) worker\(count == 1 ? "" : "s") for \(kind) tasks:"
        + " \(detail)")
  }

  // MARK: - Messages

  func enqueue(_ message: WorkerMessage, for worker: WorkerID) {
    if let program = slots[worker] { return enqueue(message, for: program) }
    guard links.indices.contains(worker.index), let link = links[worker.index] else { return }
    link.enqueue(message)
    list(link)
  }

  private func list(_ link: WorkerLink) {
    if link.isListed { return }
    link.isListed = true
    unsent.append(link)
  }

  func sendMessages() {
    sendToPrograms()
    guard !unsent.isEmpty else { return }
    for link in unsent {
      link.isListed = false
      send(to: link)
    }
    unsent.removeAll(keepingCapacity: true)
  }

  private func send(to link: WorkerLink) {
    guard case .talking = link.state else { return }
    do throws(Errno) {
      try launchers[link.node].send(to: link)
    } catch {
      lose(link, complaint: WorkerLink.unsendable(error))
    }
  }

  func hear(_ launcher: any Launcher, at place: UInt32) {
    while let news = launcher.next(at: place) {
      switch news {
      case .spoke(let link): takeReports(of: link)
      case .silent(let link, let complaint): lose(link, complaint: complaint)
      case .gone(let link, let complaint, let warnings, let survivors):
        for warning in warnings { warn(warning) }
        if let survivors { tell(.survived(link.id, survivors)) }
        forget(link, complaint: complaint)
      case .joined(let relay, let hello): join(relay, hello)
      case .leaving(let relay, let detail): noteLeaving(relay, detail)
      case .lost(let relay, let complaint): noteLost(relay, complaint)
      case .heard: break
      }
    }
  }

  private func takeReports(of link: WorkerLink) {
    while case .talking = link.state {
      switch link.inbox.lines.nextReport() {
      case .message(let report): take(link.alias?.own(report) ?? report, from: link)
      case .needsMore: return
      case .malformed: lose(link, complaint: "it sent an invalid line")
      }
    }
  }

  private func take(_ report: WorkerReport, from link: WorkerLink) {
    switch report {
    case .hello(let hello): greet(hello, from: link)
    case .started(let task, let attempt, _): tell(.started(link.id, task, attempt: attempt))
    case .fetched(let task, let attempt, let record):
      tell(.fetched(link.id, task, attempt: attempt, record))
    case .left(let task, let attempt, let left): tell(.left(link.id, task, attempt: attempt, left))
    case .value(let task, let attempt, let value):
      tell(.value(link.id, task, attempt: attempt, value))
    case .fault(let task, let attempt, let detail):
      tell(.fault(link.id, task, attempt: attempt, detail: detail))
    case .ended(let task, let attempt, var outcome):
      // A signal to all processes of the run may be the cause and still be unread here.
      if !outcome.isSuccess { takeSignals() }
      heedInterruption(task, &outcome)
      tell(.ended(link.id, task, attempt: attempt, outcome))
    case .refused(let task, let attempt, let errorNumber, let detail):
      tell(
        .refused(link.id, task, attempt: attempt, errorNumber: errorNumber, detail: detail))
    case .revoked(let task, let attempt): tell(.revoked(link.id, task, attempt: attempt))
    case .lacks(let task, let attempt, let detail):
      warnOfFewer(link.kind, detail: detail, leaving: 1, waits: true)
      tell(.lacks(link.id, task, attempt: attempt, detail: detail))
    case .kept(let task, let serial, let value):
      tell(.keptValue(link.id, task, serial: serial, value))
    case .checked(let task, let serial, let result):
      tell(.checked(link.id, task, serial: serial, result))
    case .recorded(let task, let attempt, let origin):
      tell(.recorded(link.id, task, attempt: attempt, origin: origin))
    case .changed(let task, let attempt, let detail):
      tell(.discarded(link.id, task, attempt: attempt, detail: detail))
      request.serving?.noteDiscarded()
    case .warning(let detail):
      tell(.heard(link.id))
      // Several workers may send the same warning.
      if warned.count < Self.mostWarnings, warned.insert(detail).inserted {
        warn(detail)
      }
    case .restored(let task, let attempt): tell(.restored(link.id, task, attempt: attempt))
    case .ready(let task, let attempt, let ports):
      tell(.ready(link.id, task, attempt: attempt, ports: ports))
    case .tokens(let task, let count): tell(.tokens(link.id, task, count))
    case .awaits(let task, _):
      tell(.heard(link.id))
      if plan.tasks.contains(task.index), awaited.insert(task).inserted {
        warn(
          "task \(plan.nameString(task)) waits: another run in this state folder is running it")
      }
    case .progress(let report):
      tell(.heard(link.id))
      show(report)
    case .pulse: tell(.heard(link.id))
    }
  }

  /// Used for views only, never for a decision.
  private func show(_ report: WorkerProgress) {
    let wall = Clock.wallMilliseconds
    guard let progress = downloads.running.take(report, atMilliseconds: wall) else { return }
    show(.download(report.task, progress))
  }

  private func greet(_ hello: WorkerHello, from link: WorkerLink) {
    if let fault = hello.fault(planKey: plan.key.description, kind: link.kind) {
      lose(link, complaint: fault)
      return
    }
    if link.entry == nil {
      let agent = (launchers[link.node] as? RelayLauncher)?.hello
      let entry = WorkerEntry(behindStream: hello, bootID: agent?.bootID ?? "")
      link.entry = entry
      tell(.launched(link.id, entry))
    }
    tell(.workerReady(link.id, hello.offer))
  }

  // MARK: - Leaving

  /// Ends a useless worker. The engine learns of it when all its processes are gone: a task never
  /// runs beside its own orphan.
  func lose(_ link: WorkerLink, complaint: String?) {
    let giveUpAt = launchers[link.node].end(link, at: Self.now)
    guard case .talking = link.state else {
      // The channel broke while the worker was ending: allow the longer time.
      link.giveUpAt = max(link.giveUpAt, giveUpAt)
      return
    }
    link.state = .ending(complaint: complaint)
    link.giveUpAt = giveUpAt
    ending.append(link)
  }

  private static let wordless = "it exited without an error message"

  private func forget(_ link: WorkerLink, complaint: String?) {
    // The worker was given up and ended later.
    guard links[link.id.index] === link else { return }
    links[link.id.index] = nil
    ending.removeAll { $0 === link }
    var known: String?
    if case .ending(let complaint) = link.state { known = complaint }
    link.state = .ending(complaint: known)
    tell(.workerLost(link.id, complaint: known ?? complaint ?? Self.wordless))
  }

  func removeValues(of transition: Transition) {
    let task = transition.task
    guard transition.outcome.reason == .workerLost, transition.attempt > 0,
      plan.flags(task).contains(.leavesValues) || !request.secrets.isEmpty
    else { return }
    do throws(Errno) {
      try LeftValues(folder: request.folder.values)
        .remove(of: plan.nameBytes(task), attempt: transition.attempt)
    } catch {
      warn(
        "cannot remove the files of task \(plan.nameString(task)) in $OPFLOW_VALUES: \(error)")
    }
  }

  var nextGiveUp: Instant? { ending.lazy.map { $0.giveUpAt }.min() }

  func giveUpOnEnds() {
    guard !ending.isEmpty else { return }
    let now = Self.now
    for link in ending where link.giveUpAt <= now {
      for warning in launchers[link.node].giveUp(link) { warn(warning) }
      forget(link, complaint: nil)
    }
  }

  /// Keeps workers of services that the next session takes over.
  func dismiss() {
    isDismissed = true
    dismissalDeadline = Self.now.advanced(byMilliseconds: Self.dismissalMilliseconds)
    for held in engine.passesOn {
      guard let link = links[held.worker.index] else { continue }
      launchers[link.node].release(link)
      links[held.worker.index] = nil
      passed.append(link)
    }
    for link in links.compactMap({ $0 }) {
      guard case .talking = link.state, link.node == 0 else { continue }
      enqueue(.bye, for: link.id)
    }
    dismissPrograms()
    dismissNodes()
  }

  /// Ends workers that were to be passed on: the run ends after all.
  func regainPassed() {
    for link in passed {
      links[link.id.index] = link
      launchers[link.node].regain(link)
      lose(link, complaint: "")
    }
    passed.removeAll()
  }

  func endWorkersAtOnce() {
    for launcher in launchers {
      launcher.endAll()
      launcher.cleanUp()
    }
  }

  func enforceDismissal() {
    guard let deadline = dismissalDeadline, deadline <= Self.now else { return }
    dismissalDeadline = nil
    for case let link? in links {
      if case .talking = link.state { lose(link, complaint: "") }
    }
    killNodes()
  }
}

extension Coordinator {
  func attach(_ hello: WorkerHello, of connection: ConnectionID) {
    guard let found = control.detach(connection) else { return }
    if let fault = fault(of: hello) {
      return control.dismiss(found, fault, at: Self.now)
    }
    do throws(Errno) {
      let link = try ProgramLink(found, watch: watch)
      programs[link.id] = link
      tell(.block(link.id, .joined))
      take(from: link)
    } catch {
      warn("cannot read from a client with external tasks: \(error)")
    }
  }

  private func fault(of hello: WorkerHello) -> String? {
    // The plan may have grown since the client read it.
    hello.fault(
      planKey: formerKeys.contains(hello.planKey) ? hello.planKey : plan.key.description,
      kind: .block)
  }

  func hearProgram(at place: UInt32) {
    guard let link = programs[ClientID(Int32(bitPattern: place))] else { return }
    do throws(Errno) {
      try control.room.withUnsafeMutableBufferPointer { room throws(Errno) in
        try link.read(through: UnsafeMutableRawBufferPointer(room))
      }
    } catch {
      return lose(link, complaint: "its connection failed: \(error)")
    }
    take(from: link)
    list(link)
  }

  private func take(from link: ProgramLink) {
    do throws(ProgramFault) {
      while let report = try link.nextReport() {
        guard case .fact(let fact) = report else { continue }
        if case .offers(let task) = fact, !plan.tasks.contains(task.index) {
          throw .noSuchTask(task)
        }
        tell(.block(link.id, masked(fact)))
      }
    } catch {
      return lose(link, complaint: error.detail)
    }
    if link.hasEnded { lose(link, complaint: "its client closed the connection") }
  }

  private func masked(_ fact: ExternalTaskFact) -> ExternalTaskFact {
    guard case .ended(let task, let attempt, let outcome, let detail) = fact else { return fact }
    return .ended(task, attempt: attempt, outcome, detail: masked(detail))
  }

  private func lose(_ link: ProgramLink, complaint: String) {
    guard programs.removeValue(forKey: link.id) != nil else { return }
    link.close()
    slots = slots.filter { $0.value !== link }
    tell(.block(link.id, .gone(complaint: complaint)))
  }

  // MARK: - Messages

  /// The engine learns separately of a lost program.
  func slot(_ worker: WorkerID, in program: ClientID) {
    if let link = programs[program] { slots[worker] = link }
  }

  func enqueue(_ message: WorkerMessage, for link: ProgramLink) {
    link.enqueue(message)
    list(link)
  }

  private func list(_ link: ProgramLink) {
    if link.isListed { return }
    link.isListed = true
    unsentPrograms.append(link)
  }

  func sendToPrograms() {
    if unsentPrograms.isEmpty { return }
    let links = unsentPrograms
    unsentPrograms.removeAll()
    for link in links {
      link.isListed = false
      guard programs[link.id] === link else { continue }
      do throws(ProgramFault) {
        try link.send()
      } catch {
        lose(link, complaint: error.detail)
      }
    }
  }

  func dismissPrograms() {
    for link in programs.values { enqueue(.bye, for: link) }
  }
}

extension Coordinator {
  func attendServices() {
    if engine.isServing {
      if display.view.isLive { display.showServing() }
      tellOfLackingRoom()
    }
    attendChanges()
  }

  private func attendChanges() {
    guard let serving = request.serving else { return }
    guard mayTakeUpChanges else {
      if serving.isLooking {
        listen(to: serving.foldersDescriptor, nil)
        listen(to: serving.scanDescriptor, nil)
        serving.end()
      }
      return
    }
    if !serving.isLooking {
      serving.begin(at: Self.now)
      listen(to: serving.scanDescriptor, Place.look)
    }
    if engine.servicesAreUp, let note = serving.takeNote() { show(.note(note)) }
    guard let due = serving.nextLook, due <= Self.now else { return }
    listen(to: serving.foldersDescriptor, nil)
    let held = HeldServices(plan: plan, services: engine.heldServices)
    if serving.beginLook(held) { takeLook() }
  }

  /// While paused or stopping, a new session would start held tasks.
  private var mayTakeUpChanges: Bool {
    engine.isServing && !engine.isPaused && stopsAsked == 0
  }

  func takeLook() {
    // If this session no longer serves, the scan is collected after it.
    guard let serving = request.serving, mayTakeUpChanges, serving.isLookDone() else { return }
    let kept = serving.takeLook(at: Self.now, engine.heldServices) { show(.passage($0)) }
    listen(to: serving.foldersDescriptor, Place.changes)
    guard let kept else { return }
    tell(.endServices(but: kept))
    performSteps()
  }

  /// A nil `place` stops watching. If the descriptor cannot be watched, the timer remains.
  private func listen(to descriptor: Int32?, _ place: UInt32?) {
    guard let descriptor else { return }
    if let place {
      try? watch.add(descriptor, .coordinator, place)
    } else {
      try? watch.remove(descriptor)
    }
  }

  private func tellOfLackingRoom() {
    for service in engine.servicesWithoutRoom where lackRoom.insert(service).inserted {
      warn(
        "service \(plan.nameString(service)) waits for resources that running services hold;"
          + " see `opflow why \(plan.nameString(service))`")
    }
  }
}
