/// Obeying orders: what of each is decided when, and by what its tasks are kept meanwhile.
extension Scheduler {
  /// Decides the orders whose turn it is.
  mutating func obey(at now: Instant, into actions: inout [EngineStep]) {
    while let entry = orders.first {
      let order = entry.order
      if let count = orders.count(of: order.id) {
        answer(.done(count: count), into: &actions)
        continue
      }
      if let what = orders.refusal(of: order.id) {
        answer(.refused(what: what), into: &actions)
        continue
      }
      if entry.fenced == nil {
        if let fault = faultOfRun(order) {
          answer(.refused(what: fault), into: &actions)
          continue
        }
        fence(order, into: &actions)
      }
      if orders.awaits({ graph.state($0) == .handed }) { return }
      decide(order, at: now, into: &actions)
    }
  }

  private mutating func answer(_ answer: OrderAnswer, into actions: inout [EngineStep]) {
    let entry = orders.removeFirst()
    actions.append(.answer(entry.client, entry.order.id, answer))
    if case .refused(let what) = answer { orders.note(refusal: what, of: entry.order.id) }
    for task in entry.fenced ?? [] { graph.unmark(task, .fenced) }
    for task in entry.fenced ?? [] { letGo(task) }
  }

  /// Nothing that the order is about is on its way.
  private mutating func decide(
    _ order: Order, at now: Instant, into actions: inout [EngineStep]
  ) {
    var entry = OrderEntry(id: order.id, verb: order.action.verb, asker: order.asker)
    entry.expects = order.expects
    // A run may have come to its end while the order waited.
    if let fault = faultOfRun(order) ?? fault(order, choosing: &entry.tasks) {
      return answer(.refused(what: fault), into: &actions)
    }
    switch order.action {
    case .priority(let priority): entry.value = Int64(priority)
    case .capacity(let resource, let amount):
      entry.resource = plan.string(plan.resources[resource].name)
      entry.value = Int64(clamping: amount)
    case .retry:
      // Its line comes before what follows from it, and names what waits again.
      retry(&entry, into: &actions)
    case .approve: entry.fingerprints = entry.tasks.map { plan.fingerprint($0).whole }
    case .cancel, .pause, .proceed, .suspend, .skip, .reject, .close: break
    }
    orders.note(order.id, count: entry.tasks.count)
    if order.action.verb == .cancel || order.action.verb == .skip {
      // The journal has a result of theirs, which an order does not take back.
      for task in entry.tasks { takeBack(task, .asked, into: &actions) }
    }
    if order.action != .retry { actions.append(.tell(.order(entry))) }
    perform(order, on: entry.tasks, at: now, into: &actions)
    answer(.done(count: entry.tasks.count), into: &actions)
  }

  private mutating func perform(
    _ order: Order, on tasks: [TaskID], at now: Instant, into actions: inout [EngineStep]
  ) {
    switch order.action {
    case .cancel where order.isOfRun: stop(.request, at: now, into: &actions)
    case .cancel: cancel(tasks, at: now, into: &actions)
    case .pause: pause(into: &actions)
    case .proceed where order.isOfRun: phase.isPaused = false
    case .close: openness = .closed
    case .proceed: proceed(tasks, at: now, into: &actions)
    case .suspend: suspend(tasks, at: now, into: &actions)
    case .priority(let priority):
      prioritise(tasks.map { TaskPriority(task: $0, priority: priority) })
    case .capacity(let resource, let amount):
      setCapacity(amount, of: resource, into: &actions)
    case .retry: followChanges(into: &actions)
    case .skip: skip(tasks, into: &actions)
    case .approve, .reject:
      answerGates(tasks, order.action.verb, of: order.asker, at: now, into: &actions)
    }
  }
}
