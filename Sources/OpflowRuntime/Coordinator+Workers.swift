internal import OpflowCore
internal import OpflowSystem

extension Coordinator {
  /// From `bye` to the end of a worker, before it is killed.
  private static let dismissalNanoseconds: Int64 = 2_000_000_000

  // MARK: - Coming

  func launch(_ worker: WorkerID, _ kind: WorkerKind, at wall: Int64) {
    while links.count <= worker.index { links.append(nil) }
    do throws(Errno) {
      let link = try launcher.launch(worker, kind)
      links[worker.index] = link
      try poller.add(link.reports.rawValue, token: Token.reports(worker))
      append([.worker(launcher.entry(for: link.process.pid))], at: wall)
    } catch {
      links[worker.index] = nil
      failedLaunches.append((worker, "a worker could not be started: \(error)"))
    }
  }

  /// Tells of launches that failed, when no action is half performed.
  func reportFailedLaunches() {
    while !failedLaunches.isEmpty {
      let (worker, complaint) = failedLaunches.removeFirst()
      tell(.launchFailed(worker, complaint: complaint))
    }
  }

  // MARK: - Talking

  func enqueue(_ order: WorkerOrder, for worker: WorkerID) {
    guard let link = links[worker.index] else { return }
    var mustNotRepeat = false
    if let (task, _) = order.start {
      mustNotRepeat = plan.flags(task).contains(.failWhenInterrupted)
    }
    link.enqueue(order, mustNotRepeat: mustNotRepeat)
    list(link)
  }

  private func list(_ link: WorkerLink) {
    if link.isListed { return }
    link.isListed = true
    unsent.append(link)
  }

  /// Sends what may be sent; what waits for a sync stays for a later turn.
  func sendPending() {
    guard !unsent.isEmpty else { return }
    let now = Self.now
    let links = unsent
    unsent.removeAll(keepingCapacity: true)
    for link in links {
      link.isListed = false
      link.setBarriers { mustNotRepeat in
        journalFailure == nil ? syncs.barrier(mustNotRepeat: mustNotRepeat, at: now) : 0
      }
      send(to: link)
      if link.hasPending, case .talking = link.state { list(link) }
    }
    requestSync()
  }

  func send(to link: WorkerLink) {
    guard case .talking = link.state else { return }
    let awaitedRoom = link.awaitsRoom
    do throws(Errno) {
      try link.send(allowed: syncs)
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

  func read(from link: WorkerLink) {
    guard case .talking = link.state else { return }
    do throws(Errno) {
      let count = try link.lines.fill { room throws(Errno) in try link.reports.read(into: room) }
      if count == 0 {
        lose(link, complaint: launcher.complaint(since: link) ?? "it left without a word")
        return
      }
    } catch .wouldBlock {
      return
    } catch {
      lose(link, complaint: "its reports could not be read: \(error)")
      return
    }
    while case .talking = link.state {
      switch link.lines.next(MessageCodec.report) {
      case .message(let report): take(report, from: link)
      case .needsMore: return
      case .malformed: lose(link, complaint: "it sent a line that is no message")
      }
    }
  }

  private func take(_ report: WorkerReport, from link: WorkerLink) {
    switch report {
    case .hello(let hello): greet(hello, from: link)
    case .started(let task, let attempt, _): tell(.started(link.id, task, attempt: attempt))
    case .fetched(let task, let attempt, let record):
      tell(.fetched(link.id, task, attempt: attempt, record))
    case .ended(let task, let attempt, let outcome):
      tell(.ended(link.id, task, attempt: attempt, outcome))
    case .refused(let task, let attempt, let errorNumber, let what):
      tell(
        .refused(link.id, task, attempt: attempt, errorNumber: errorNumber, what: what))
    case .revoked(let task, let attempt): tell(.revoked(link.id, task, attempt: attempt))
    case .progress, .pulse: break
    }
  }

  private func greet(_ hello: WorkerHello, from link: WorkerLink) {
    let key = plan.key.description
    if hello.version != WorkerHello.currentVersion {
      lose(
        link,
        complaint: "it speaks version \(hello.version) of the worker protocol, "
          + "this opflow version \(WorkerHello.currentVersion)")
    } else if hello.planKey != key {
      lose(link, complaint: "it has the plan \(hello.planKey), this run the plan \(key)")
    } else {
      tell(.workerReady(link.id))
    }
  }

  // MARK: - Going

  /// The worker is no use any more: it is killed, and when it is gone and what it left is ended,
  /// the scheduler is told, so that a task never runs beside its own orphan.
  func lose(_ link: WorkerLink, complaint: String) {
    guard case .talking = link.state else { return }
    link.state = .ending(complaint: complaint)
    end(link)
  }

  private func end(_ link: WorkerLink) {
    do throws(Errno) {
      try poller.remove(link.reports.rawValue)
      if link.awaitsRoom { try poller.remove(link.ordersRawDescriptor) }
      try link.process.signal(.kill)
      try poller.add(link.process.descriptor.rawValue, token: Token.process(link.id))
    } catch {
      progress.warning("worker \(link.process.pid) could not be ended: \(error)")
    }
  }

  func reap(_ link: WorkerLink) {
    do throws(Errno) {
      guard try link.process.reap() != nil else { return }
      try poller.remove(link.process.descriptor.rawValue)
    } catch {
      progress.warning("worker \(link.process.pid) could not be reaped: \(error)")
    }
    links[link.id.index] = nil
    let workers = Set(links.compactMap { $0?.process.pid })
    for survivor in Orphans.endAdopted(sparing: workers) {
      progress.warning("process \(survivor), left by a lost worker, could not be ended")
    }
    if case .ending(let complaint) = link.state {
      tell(.workerLost(link.id, complaint: complaint))
    }
  }

  /// All is done: every worker is told to leave, and reaped when it has.
  func dismiss() {
    dismissalDeadline = Instant(
      nanoseconds: Self.now.nanoseconds + Self.dismissalNanoseconds)
    for link in links.compactMap({ $0 }) {
      guard case .talking = link.state else { continue }
      link.enqueue(.bye, mustNotRepeat: false)
      list(link)
    }
  }

  /// Kills what did not leave in time.
  func enforceDismissal() {
    guard let deadline = dismissalDeadline, deadline <= Self.now else { return }
    dismissalDeadline = nil
    for link in links.compactMap({ $0 }) { lose(link, complaint: "") }
  }
}
