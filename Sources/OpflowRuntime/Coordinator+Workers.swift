internal import OpflowCore
internal import OpflowSystem
internal import OpflowWorker

extension Coordinator {
  /// From `bye` to the end of a worker, before it is killed.
  private static let dismissalMilliseconds: Int64 = 2_000

  // MARK: - Coming

  func launch(_ worker: WorkerID, _ kind: WorkerKind, on site: SiteID) {
    do throws(LaunchFailure) {
      let link = try launchers[launcherOfSite[site.index]].launch(worker, kind)
      while links.count <= worker.index { links.append(nil) }
      links[worker.index] = link
      if !request.secrets.isEmpty {
        for secret in request.secrets { link.enqueue(secret) }
        list(link)
      }
      if let entry = link.entry { tell(.launched(worker, entry)) }
    } catch {
      tell(.launchFailed(worker, complaint: error.what))
      warnOfFewer(kind, what: error.what)
    }
  }

  /// Where there are others of its kind, the run goes on with those: once somebody is told why it is
  /// slower than it could be.
  ///
  /// - Parameter leaving: how many of those that are there leave.
  private func warnOfFewer(_ kind: WorkerKind, what: String, leaving: Int = 0) {
    let count = links.count { $0?.kind == kind } - leaving
    if count == 0, leaving > 0, shortKinds.insert(kind).inserted {
      progress.warning("\(kind)s wait until processes can be started: \(what)")
    }
    guard count > 0, kindsWithFewer.insert(kind).inserted else { return }
    progress.warning(
      "the run goes on with \(count) worker\(count == 1 ? "" : "s") for \(kind)s: \(what)")
  }

  // MARK: - Talking

  func enqueue(_ order: WorkerOrder, for worker: WorkerID) {
    if let program = seats[worker] { return enqueue(order, for: program) }
    guard links.indices.contains(worker.index), let link = links[worker.index] else { return }
    link.enqueue(order)
    list(link)
  }

  private func list(_ link: WorkerLink) {
    if link.isListed { return }
    link.isListed = true
    unsent.append(link)
  }

  func sendOrders() {
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
      try launchers[link.site].send(to: link)
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
        for warning in warnings { progress.warning(warning) }
        if let survivors { tell(.survived(link.id, survivors)) }
        forget(link, complaint: complaint)
      case .joined(let relay, let hello): join(relay, hello)
      case .leaving(let relay, let what): noteLeaving(relay, what)
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
      case .malformed: lose(link, complaint: "it sent a line that is no message")
      }
    }
  }

  private func take(_ report: WorkerReport, from link: WorkerLink) {
    switch report {
    case .hello(let hello): greet(hello, from: link)
    case .started(let task, let attempt, _):
      tell(.started(link.id, task, attempt: attempt))
    case .fetched(let task, let attempt, let record):
      tell(.fetched(link.id, task, attempt: attempt, record))
    case .left(let task, let attempt, let left):
      tell(.left(link.id, task, attempt: attempt, left))
    case .value(let task, let attempt, let value):
      tell(.value(link.id, task, attempt: attempt, value))
    case .fault(let task, let attempt, let what):
      tell(.fault(link.id, task, attempt: attempt, what: what))
    case .ended(let task, let attempt, var outcome):
      // Who sends a signal to all processes of a run sent it to this one too, and it may not be read yet.
      if !outcome.isSuccess { takeSignals() }
      heedInterruption(task, &outcome)
      tell(.ended(link.id, task, attempt: attempt, outcome))
    case .refused(let task, let attempt, let errorNumber, let what):
      tell(
        .refused(link.id, task, attempt: attempt, errorNumber: errorNumber, what: what))
    case .revoked(let task, let attempt): tell(.revoked(link.id, task, attempt: attempt))
    case .lacks(let task, let attempt, let what):
      warnOfFewer(link.kind, what: what, leaving: 1)
      tell(.lacks(link.id, task, attempt: attempt, what: what))
    case .kept(let task, let serial, let value):
      tell(.keptValue(link.id, task, serial: serial, value))
    case .checked(let task, let serial, let result):
      tell(.checked(link.id, task, serial: serial, result))
    case .recorded(let task, let attempt, let origin):
      tell(.recorded(link.id, task, attempt: attempt, origin: origin))
    case .changed(let task, let attempt, let what):
      tell(.unkept(link.id, task, attempt: attempt, what: what))
    case .warning(let what):
      tell(.heard(link.id))
      // Each worker of this machine may find the same.
      if warned.count < Self.mostWarnings, warned.insert(what).inserted { progress.warning(what) }
    case .restored(let task, let attempt): tell(.restored(link.id, task, attempt: attempt))
    case .ready(let task, let attempt, let ports):
      tell(.ready(link.id, task, attempt: attempt, ports: ports))
    case .tokens(let task, let count): tell(.tokens(link.id, task, count))
    case .awaits(let task, _):
      tell(.heard(link.id))
      if plan.tasks.contains(task.index), awaited.insert(task).inserted {
        progress.warning(
          "task \(plan.nameString(task)) waits: another run of this state folder runs it")
      }
    case .progress(let report):
      tell(.heard(link.id))
      show(report)
    case .pulse: tell(.heard(link.id))
    }
  }

  /// How far a download is: for views here and in other processes, and for no decision.
  private func show(_ report: WorkerProgress) {
    let wall = Clock.wallMilliseconds
    guard let progress = downloads.running.take(report, atMilliseconds: wall) else { return }
    self.progress.download(report.task, progress, atMilliseconds: wall)
  }

  private func greet(_ hello: WorkerHello, from link: WorkerLink) {
    if let fault = hello.fault(planKey: plan.key.description, kind: link.kind) {
      lose(link, complaint: fault)
      return
    }
    if link.entry == nil {
      let entry = WorkerEntry(behindStream: hello)
      link.entry = entry
      tell(.launched(link.id, entry))
    }
    tell(.workerReady(link.id, hello.offer))
  }

  // MARK: - Going

  /// The worker is no use any more: it is ended, and when it is gone and what it left is ended, the
  /// engine is told, so that a task never runs beside its own orphan.
  func lose(_ link: WorkerLink, complaint: String?) {
    let giveUpAt = launchers[link.site].end(link, at: Self.now)
    guard case .talking = link.state else {
      // Its channel is lost too: it may take longer.
      link.giveUpAt = max(link.giveUpAt, giveUpAt)
      return
    }
    link.state = .ending(complaint: complaint)
    link.giveUpAt = giveUpAt
    ending.append(link)
  }

  /// What is known of a worker that wrote nothing before it was gone.
  private static let wordless = "it left without a word"

  /// It is gone, or is taken for that.
  private func forget(_ link: WorkerLink, complaint: String?) {
    // One that was given up may end after all.
    guard links[link.id.index] === link else { return }
    links[link.id.index] = nil
    ending.removeAll { $0 === link }
    var known: String?
    if case .ending(let complaint) = link.state { known = complaint }
    link.state = .ending(complaint: known)
    tell(.workerLost(link.id, complaint: known ?? complaint ?? Self.wordless))
  }

  /// A try is lost with its worker, and all its processes are ended: what it left for others goes too.
  func removeValues(of transition: Transition) {
    let task = transition.task
    guard transition.outcome.reason == .workerLost, transition.attempt > 0,
      plan.flags(task).contains(.leavesValues) || !request.secrets.isEmpty
    else { return }
    do throws(Errno) {
      try LeftValues(folder: request.folder.values)
        .remove(of: plan.nameBytes(task), attempt: transition.attempt)
    } catch {
      progress.warning(
        "what task \(plan.nameString(task)) left in $OPFLOW_VALUES cannot be removed: \(error)")
    }
  }

  /// When to go on without one of those whose end is not seen.
  var nextGiveUp: Instant? { ending.lazy.map { $0.giveUpAt }.min() }

  func giveUpOnEnds() {
    guard !ending.isEmpty else { return }
    let now = Self.now
    for link in ending where link.giveUpAt <= now {
      for warning in launchers[link.site].giveUp(link) { progress.warning(warning) }
      forget(link, complaint: nil)
    }
  }

  /// All is done: every worker is told to leave, and reaped when it has.
  func dismiss() {
    isDismissed = true
    dismissalDeadline = Self.now.advanced(byMilliseconds: Self.dismissalMilliseconds)
    for held in engine.passesOn {
      guard let link = links[held.worker.index] else { continue }
      launchers[link.site].release(link)
      links[held.worker.index] = nil
      passed.append(link)
    }
    for link in links.compactMap({ $0 }) {
      guard case .talking = link.state, link.site == 0 else { continue }
      enqueue(.bye, for: link.id)
    }
    dismissPrograms()
    dismissSites()
  }

  /// The drive ends as any other after all: what was to go on is ended.
  func regainPassed() {
    for link in passed {
      links[link.id.index] = link
      launchers[link.site].regain(link)
      lose(link, complaint: "")
    }
    passed.removeAll()
  }

  /// Ends workers that were given nothing to do yet.
  func endWorkersAtOnce() {
    for launcher in launchers {
      launcher.endAll()
      launcher.cleanUp()
    }
  }

  /// Kills what did not leave in time.
  func enforceDismissal() {
    guard let deadline = dismissalDeadline, deadline <= Self.now else { return }
    dismissalDeadline = nil
    for case let link? in links {
      if case .talking = link.state { lose(link, complaint: "") }
    }
    killSites()
  }
}
