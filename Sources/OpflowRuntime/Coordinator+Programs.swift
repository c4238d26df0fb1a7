internal import OpflowBase
internal import OpflowEngine
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// Clients with external tasks.
extension Coordinator {
  func attach(_ hello: WorkerHello, of client: ClientID) {
    guard let found = control.detach(client) else { return }
    if let fault = fault(of: hello) {
      return control.dismiss(found, fault, at: Self.now)
    }
    do throws(Errno) {
      let link = try ProgramLink(found, watch: watch)
      programs[link.id] = link
      tell(.block(link.id, .joined))
      take(from: link)
    } catch {
      progress.warning("a program that has blocks cannot be heard: \(error)")
    }
  }

  private func fault(of hello: WorkerHello) -> String? {
    // The plan may have grown since the client read it.
    hello.fault(
      planKey: formerKeys.contains(hello.planKey) ? hello.planKey : plan.key.description,
      kind: .block
    )
  }

  func hearProgram(at place: UInt32) {
    guard let link = programs[HostID(Int32(bitPattern: place))] else { return }
    do throws(Errno) {
      try control.room.withUnsafeMutableBufferPointer { room throws(Errno) in
        try link.read(through: UnsafeMutableRawBufferPointer(room))
      }
    } catch {
      return lose(link, complaint: "its connection broke: \(error)")
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
      return lose(link, complaint: error.what)
    }
    if link.hasEnded { lose(link, complaint: "its program has ended") }
  }

  private func masked(_ fact: BlockFact) -> BlockFact {
    guard case .ended(let task, let attempt, let outcome, let what) = fact else { return fact }
    return .ended(task, attempt: attempt, outcome, what: masked(what))
  }

  private func lose(_ link: ProgramLink, complaint: String) {
    guard programs.removeValue(forKey: link.id) != nil else { return }
    link.close()
    seats = seats.filter { $0.value !== link }
    tell(.block(link.id, .gone(complaint: complaint)))
  }

  // MARK: - Messages

  /// The engine learns separately that a program is gone.
  func seat(_ worker: WorkerID, in program: HostID) {
    if let link = programs[program] { seats[worker] = link }
  }

  func enqueue(_ order: WorkerOrder, for link: ProgramLink) {
    link.enqueue(order)
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
        lose(link, complaint: error.what)
      }
    }
  }

  /// The session is over; the connections close with it.
  func dismissPrograms() {
    for link in programs.values { enqueue(.bye, for: link) }
  }
}
