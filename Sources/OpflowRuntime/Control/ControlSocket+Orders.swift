internal import OpflowEngine
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

extension ControlSocket {
  func hear(_ client: ControlClient) throws(Errno) {
    try room.withUnsafeMutableBufferPointer { room throws(Errno) in
      try client.read(through: UnsafeMutableRawBufferPointer(room))
    }
    if client.hasLine {
      enqueue(client)
    } else if client.hasEnded {
      forget(client)
    } else if client.unreadBytes >= OrderLines.longestLineBytes {
      try dismiss(client, "a line has \(OrderLines.longestLineBytes) bytes at most")
    } else {
      boundMemory()
    }
  }

  private func enqueue(_ client: ControlClient) {
    // Further input waits.
    if client.state == .listening { try? watch.remove(client.rawDescriptor) }
    client.state = .queued
    queue.append(client)
  }

  /// Dismisses the client with the longest incomplete line, not the last one that came.
  private func boundMemory() {
    while true {
      let halfLines = clients.values.filter { $0.state == .listening }
      guard halfLines.reduce(0, { $0 + $1.unreadBytes }) > Self.mostUnreadBytes,
        let most = halfLines.max(by: { $0.unreadBytes < $1.unreadBytes })
      else { return }
      do throws(Errno) {
        try dismiss(most, "too much is being said at once; ask again")
      } catch {
        forget(most)
      }
    }
  }

  func dismiss(_ client: ControlClient, _ what: String, at now: Instant) {
    _ = try? client.send(OrderLines.line(.refused(what: what), to: nil))
  }

  /// Drops the client once it has the answer.
  private func dismiss(_ client: ControlClient, _ what: String) throws(Errno) {
    client.forgetInbox()
    client.isDismissed = true
    try answer(client, nil, .refused(what: what), at: client.since)
  }

  enum Demand {
    case order(Order)
    case addition(AddRequest, OrderAsker)
    /// The client has external tasks; its connection becomes a worker channel.
    case hello(WorkerHello)
  }

  private enum Line {
    case demand(Demand)
    case host(HostRequest)
  }

  private func join(_ host: HostRequest, as client: ClientID) -> OrderAnswer {
    if hosts.isLeaving { return .refused(what: HostRequest.leaving) }
    return hosts.add(client, host.afterHost)
      ? .done(count: 1)
      : .refused(what: "the run is for \(Hosts.most) programs already that are connected")
  }

  /// The requests whose turn has come, after all reports of workers. `running` returns a worker's
  /// task.
  func takeTurn(
    at now: Instant, running: (WorkerID) -> TaskID
  ) -> [(client: ClientID, demand: Demand)] {
    acceptAgain(at: now)
    var demands: [(client: ClientID, demand: Demand)] = []
    var bytes = 0
    while !queue.isEmpty, bytes < Self.mostBytesPerTurn {
      let client = queue.removeFirst()
      guard
        let (id, outcome) = client.takeLine({ line in
          bytes += line.count + 100
          return read(line, of: client, running)
        })
      else { continue }
      switch outcome {
      case .success(.host(let host)):
        client.state = .asked
        answer(client.id, host.id, join(host, as: client.id), at: now)
      case .success(.demand(let demand)):
        if case .order(let order) = demand {
          bytes += 4 * (order.tasks.count + order.among.count)
        }
        client.state = .asked
        demands.append((client.id, demand))
      case .failure(let refusal):
        client.state = .asked
        answer(client.id, id, .refused(what: refusal.what), at: now)
      }
    }
    return demands
  }

  private func read(
    _ line: UnsafeRawBufferPointer, of client: ControlClient, _ running: (WorkerID) -> TaskID
  ) -> (OrderID?, Result<Line, OrderRefusal>) {
    if case .hello(let hello) = MessageCodec.report(line) {
      return (
        nil,
        Result { () throws(OrderRefusal) in
          _ = try asker("", client, running)
          guard !hosts.contains(client.id) else {
            throw OrderRefusal(what: "blocks are offered over another connection")
          }
          return .demand(.hello(hello))
        }
      )
    }
    do throws(UnreadableOrder) {
      let request = try OrderLines.request(line)
      return (
        request.id,
        Result { () throws(OrderRefusal) in
          switch request {
          case .order(let order):
            let (asker, _) = try asker(
              order.by, client, running, answers: order.verb.row.isAnswer)
            return .demand(.order(try order.order(of: plan, from: asker)))
          case .add(let addition):
            let (asker, task) = try asker(addition.by, client, running)
            try addition.expectFit(plan, from: task)
            return .demand(.addition(addition, asker))
          case .host(let host):
            _ = try asker("", client, running)
            return .host(host)
          }
        }
      )
    } catch {
      return (error.id, .failure(OrderRefusal(what: error.what)))
    }
  }

  /// Returns also the requester's task of the run, or `none`. `answers`: the request approves or
  /// rejects.
  private func asker(
    _ by: String, _ client: ControlClient, _ running: (WorkerID) -> TaskID, answers: Bool = false
  ) throws(OrderRefusal) -> (OrderAsker, TaskID) {
    var name = by.isEmpty ? "another process" : by
    var own = TaskID.none
    switch client.origin {
    case .outside: break
    case .inside:
      throw OrderRefusal(what: "what the run started itself, and is no task of it, cannot steer it")
    case .worker(let worker):
      let task = running(worker)
      if task.isNone {
        throw OrderRefusal(what: "a process that a task left behind cannot steer the run")
      }
      let taskName = plan.nameString(task)
      if answers {
        throw OrderRefusal(
          what: "\(taskName) is a task of this run, and a run does not answer its own questions")
      }
      guard plan.flags(task).contains(.control) else {
        throw OrderRefusal(
          what: "\(taskName) is a task of this run, and may steer it with `control: true` only")
      }
      name = "task \(taskName)"
      own = task
    }
    return (OrderAsker(pid: client.peer.pid, user: client.peer.user, name: name), own)
  }

  // MARK: - Answers

  func answer(_ client: ClientID, _ id: OrderID?, _ answer: OrderAnswer, at now: Instant) {
    guard let client = clients[client.rawValue] else { return }
    do throws(Errno) {
      try self.answer(client, id, answer, at: now)
    } catch {
      forget(client)
    }
  }

  private func answer(
    _ client: ControlClient, _ id: OrderID?, _ answer: OrderAnswer, at now: Instant
  ) throws(Errno) {
    if client.state == .listening { try? watch.remove(client.rawDescriptor) }
    client.state = .answering
    if try client.send(OrderLines.line(answer, to: id)) {
      try goOn(client, at: now, isWatched: false)
    } else {
      try watch.add(
        client.rawDescriptor, .control, UInt32(client.id.rawValue), for: .writable)
    }
  }

  func goOn(_ client: ControlClient, at now: Instant, isWatched: Bool = true) throws(Errno) {
    if isWatched { try watch.remove(client.rawDescriptor) }
    client.since = now
    client.state = .queued
    if client.isDismissed { return forget(client) }
    if client.hasLine {
      queue.append(client)
    } else if client.hasEnded {
      forget(client)
    } else {
      try watch.add(client.rawDescriptor, .control, UInt32(client.id.rawValue))
      client.state = .listening
    }
  }
}
