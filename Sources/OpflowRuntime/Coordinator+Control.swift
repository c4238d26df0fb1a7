internal import OpflowBase
internal import OpflowEngine
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

extension Coordinator {
  /// Without a socket the run continues.
  func openControl() {
    do throws(ControlFault) {
      try control.listen(in: request.folder.path)
    } catch {
      progress.warning(error.what)
    }
    guard let number = request.controlDescriptor else { return }
    do throws(Errno) {
      try control.welcome(UnixSocket.takeInherited(number), at: awakeAt) { [:] }
    } catch {
      progress.warning("who started the run cannot be heard over descriptor \(number): \(error)")
    }
  }

  func hearClients(at place: UInt32) {
    control.take(at: place, now: awakeAt) {
      var workers: [Int32: WorkerID] = [:]
      let host = Machine.hostName
      for case let link? in links {
        // A process ID of another machine means nothing here.
        guard let entry = link.entry, entry.host == host else { continue }
        workers[entry.pid] = link.id
      }
      return workers
    }
  }

  /// After all reports of the turn: a client may be a task whose start is among them.
  func takeOrders() {
    control.hosts.isLeaving = engine.isLeaving
    let demands = control.takeTurn(at: awakeAt) { engine.runningTask(of: $0) }
    for (client, demand) in demands {
      switch demand {
      case .order(var order):
        order.asker.name = masked(order.asker.name)
        tell(.order(order, from: client))
      case .addition(let request, var asker):
        asker.name = masked(asker.name)
        add(request, by: asker, for: client)
      case .hello(let hello): attach(hello, of: client)
      }
    }
    let folder = request.folder
    let isStopDue = control.hosts.takeStop(at: awakeAt) {
      (try? HostsLock.isHeld(folder)) ?? false
    }
    if isStopDue { tell(.hostsGone) }
  }

  func masked(_ text: String) -> String { masker?.masked(text) ?? text }

  func answer(_ client: ClientID, _ id: OrderID, _ answer: OrderAnswer) {
    if client == Self.keyboard { return answerKey(id, answer) }
    control.answer(client, id, answer, at: Self.now)
  }
}
