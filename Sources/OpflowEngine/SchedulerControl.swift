internal import OpflowJournal
internal import OpflowPlan

extension Scheduler {
  mutating func obey(at now: Instant, into actions: inout StepQueue) {
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
      } else if orders.awaits({ graph.state($0) == .handed }) {
        return
      }
      // A task that ran meanwhile may be ready again, for example after a lost worker.
      fence(order, into: &actions)
      if orders.awaits({ graph.state($0) == .handed }) { return }
      decide(order, at: now, into: &actions)
    }
  }

  private mutating func answer(_ answer: OrderAnswer, into actions: inout StepQueue) {
    let entry = orders.removeFirst()
    actions.append(.answer(entry.client, entry.order.id, answer))
    if case .refused(let what) = answer { orders.note(refusal: what, of: entry.order.id) }
    for task in entry.fenced ?? [] { graph.unmark(task, .fenced) }
    for task in entry.fenced ?? [] { letGo(task) }
  }

  private mutating func decide(
    _ order: Order, at now: Instant, into actions: inout StepQueue
  ) {
    var entry = OrderEntry(id: order.id, verb: order.verb, asker: order.asker)
    entry.expects = order.expects
    // The run may have ended while the request waited.
    if let fault = faultOfRun(order) ?? fault(order, choosing: &entry.tasks) {
      return answer(.refused(what: fault), into: &actions)
    }
    let effect = order.verb.effect
    entry.carried = CarriedValue(order.value, of: plan)
    effect.prepare(&entry, in: &self, into: &actions)
    orders.note(order.id, count: entry.tasks.count)
    actions.append(.tell(.order(entry)))
    effect.perform(order, on: entry.tasks, in: &self, at: now, into: &actions)
    answer(.done(count: entry.tasks.count), into: &actions)
  }
}
