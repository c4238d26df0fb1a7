internal import OpflowCore
internal import OpflowSystem

/// Programs that have blocks: what they say are facts for the engine, and what it orders to seats in them is sent.
extension Coordinator {
  /// Who is connected says `hello`: the connection is a worker's channel from now on.
  func attach(_ hello: WorkerHello, of client: ClientID) {
    guard let found = control.detach(client) else { return }
    if let fault = fault(of: hello) {
      return control.dismiss(found, fault, at: Self.now)
    }
    do throws(Errno) {
      let link = try ProgramLink(found, watch: watch)
      programs[link.id] = link
      tell(.block(link.id, .joined))
      // What came with its hello.
      take(from: link)
    } catch {
      progress.warning("a program that has blocks cannot be heard: \(error)")
    }
  }

  private func fault(of hello: WorkerHello) -> String? {
    // The plan may have grown since it was read.
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

  // MARK: - Orders

  /// What is ordered to that worker goes there. Where the program is gone by now, the engine hears of it.
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

  /// All is done: each is told, as far as it reads, and the connections end with the drive.
  func dismissPrograms() {
    for link in programs.values { enqueue(.bye, for: link) }
  }
}
