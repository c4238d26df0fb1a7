internal import OpflowCore
internal import OpflowSystem

extension Coordinator {
  /// From `bye` to the end of a worker, before it is killed.
  private static let dismissalMilliseconds: Int64 = 2_000
  /// From KILL to the end of a worker, before it counts as one that cannot be ended.
  private static let killPatienceMilliseconds: Int64 = 10_000

  // MARK: - Coming

  func launch(_ worker: WorkerID, _ kind: WorkerKind) {
    while links.count <= worker.index { links.append(nil) }
    let link: WorkerLink
    do throws(LocalLauncher.Failure) {
      link = try launcher.launch(worker, kind)
    } catch {
      tell(.launchFailed(worker, complaint: error.what))
      return
    }
    do throws(Errno) {
      do throws(Errno) {
        try poller.add(link.reports.rawValue, token: Token.reports(worker))
        // From the start, since its end must be seen even when there is no room to ask for it.
        try poller.add(link.process.descriptor.rawValue, token: Token.process(worker))
      } catch {
        try link.endAtOnce()
        throw error
      }
      links[worker.index] = link
      tell(.launched(worker, launcher.entry(for: link.process.pid)))
    } catch {
      tell(.launchFailed(worker, complaint: "no worker could be watched: \(error)"))
    }
  }

  // MARK: - Talking

  func enqueue(_ order: WorkerOrder, for worker: WorkerID) {
    guard let link = links[worker.index] else { return }
    link.enqueue(order)
    if link.isListed { return }
    link.isListed = true
    unsent.append(link)
  }

  func sendOrders() {
    guard !unsent.isEmpty else { return }
    for link in unsent {
      link.isListed = false
      send(to: link)
    }
    unsent.removeAll(keepingCapacity: true)
  }

  func send(to link: WorkerLink) {
    guard case .talking = link.state else { return }
    let awaitedRoom = link.awaitsRoom
    do throws(Errno) {
      try link.send()
      guard link.awaitsRoom != awaitedRoom else { return }
      let orders = link.ordersRawDescriptor
      if link.awaitsRoom {
        try poller.add(orders, token: Token.orders(link.id), interest: .writable)
      } else {
        try poller.remove(orders)
      }
    } catch {
      lose(link, complaint: "orders could not be sent to it: \(error)")
    }
  }

  /// Reads once; false when there is nothing more for now, or nothing more to be heard.
  @discardableResult
  func read(from link: WorkerLink) -> Bool {
    guard case .talking = link.state else { return false }
    do throws(Errno) {
      let count = try link.lines.fill { room throws(Errno) in try link.reports.read(into: room) }
      if count == 0 {
        loseGone(link)
        return false
      }
    } catch .wouldBlock {
      return false
    } catch {
      lose(link, complaint: "its reports could not be read: \(error)")
      return false
    }
    while case .talking = link.state {
      switch link.lines.nextReport() {
      case .message(let report): take(report, from: link)
      case .needsMore: return true
      case .malformed: lose(link, complaint: "it sent a line that is no message")
      }
    }
    return false
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
    case .ended(let task, let attempt, let outcome):
      tell(.ended(link.id, task, attempt: attempt, outcome))
    case .refused(let task, let attempt, let errorNumber, let what):
      tell(
        .refused(link.id, task, attempt: attempt, errorNumber: errorNumber, what: what))
    case .revoked(let task, let attempt): tell(.revoked(link.id, task, attempt: attempt))
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
    } else {
      tell(.workerReady(link.id, hello.offer))
    }
  }

  // MARK: - Going

  /// The worker is no use any more: it is killed, and when it is gone and what it left is ended,
  /// the scheduler is told, so that a task never runs beside its own orphan.
  func lose(_ link: WorkerLink, complaint: String) {
    guard case .talking = link.state else { return }
    link.state = .ending(complaint: complaint)
    link.giveUpAt = Self.now.advanced(byMilliseconds: Self.killPatienceMilliseconds)
    ending.append(link)
    // What cannot be removed now leaves the poller when it is closed.
    try? poller.remove(link.reports.rawValue)
    if link.awaitsRoom { try? poller.remove(link.ordersRawDescriptor) }
    link.kill()
  }

  /// What is known of a worker that wrote nothing before it was gone.
  private static let wordless = "it left without a word"

  /// It has closed its end, or has ended.
  private func loseGone(_ link: WorkerLink) {
    lose(link, complaint: launcher.complaint(since: link) ?? Self.wordless)
  }

  /// The worker's process has ended: takes what it said last, ends what it left behind, and tells.
  func bury(_ link: WorkerLink) {
    while read(from: link) {}
    loseGone(link)
    do throws(Errno) {
      guard let end = try link.process.reap() else { return }
      note(end, of: link)
    } catch {
      // What is left of it is reaped below, with what it left.
      progress.warning("worker \(link.process.pid) could not be reaped: \(error)")
    }
    forget(link)
  }

  /// A signal says more than nothing: who lacks memory, or has a fault, writes nothing.
  private func note(_ end: EndedProcess, of link: WorkerLink) {
    guard case .ending(Self.wordless) = link.state, case .signal(let number) = end.status else {
      return
    }
    let text = OutcomeText.text(Outcome(status: .signal(number)))
    link.state = .ending(complaint: "it was ended by \(text)")
  }

  private func forget(_ link: WorkerLink) {
    links[link.id.index] = nil
    ending.removeAll { $0 === link }
    let workers = Set(links.compactMap { $0?.process.pid }).union(immortals)
    for survivor in Orphans.endAdopted(sparing: workers) {
      progress.warning("process \(survivor), left by a lost worker, could not be ended")
    }
    link.removeGroup()
    if case .ending(let complaint) = link.state {
      tell(.workerLost(link.id, complaint: complaint))
    }
  }

  /// Goes on without workers that KILL does not end, such as sleep in the kernel.
  func giveUpOnImmortals() {
    let now = Self.now
    for link in ending where link.giveUpAt <= now {
      immortals.insert(link.process.pid)
      progress.warning("worker \(link.process.pid) could not be ended")
      forget(link)
    }
  }

  /// All is done: every worker is told to leave, and reaped when it has.
  func dismiss() {
    dismissalDeadline = Self.now.advanced(byMilliseconds: Self.dismissalMilliseconds)
    for link in links.compactMap({ $0 }) {
      guard case .talking = link.state else { continue }
      enqueue(.bye, for: link.id)
    }
  }

  /// Kills workers that were given nothing to do yet, and waits for their ends.
  func endWorkersAtOnce() {
    // One that cannot be waited for ends when this process does.
    for link in links.compactMap({ $0 }) { try? link.endAtOnce() }
    launcher.cleanUp()
  }

  /// Kills what did not leave in time.
  func enforceDismissal() {
    guard let deadline = dismissalDeadline, deadline <= Self.now else { return }
    dismissalDeadline = nil
    for link in links.compactMap({ $0 }) { lose(link, complaint: "") }
  }
}
