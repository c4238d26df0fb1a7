@testable import OpflowEngine
@testable import OpflowPlan

/// Orders to an imagined run.
extension ImaginedRun {
  func state(_ name: String) -> TaskState {
    plan.task(named: name).map { engine.state($0) } ?? .skipped
  }

  func order(
    _ verb: OrderVerb, _ names: [String], among: [String] = [], value: OrderValue = .nothing
  ) -> Order {
    let id = OrderID("o\(answers.count).\(obeyed.count).\(verb)")
    var order = Order(
      id: id ?? OrderID("o")!, asker: OrderAsker(pid: 1, user: 0, name: "opflow"),
      verb: verb, value: value)
    order.tasks = names.compactMap { plan.task(named: $0) }
    order.among = among.compactMap { plan.task(named: $0) }
    return order
  }

  /// Asks for something, and waits for the answer.
  mutating func ask(
    _ verb: OrderVerb, _ names: [String] = [], among: [String] = [],
    value: OrderValue = .nothing
  ) -> OrderAnswer? {
    let count = answers.count
    tell(.order(order(verb, names, among: among, value: value), from: ClientID(Int32(count))))
    if answers.count == count { obeyAll() }
    return answers.count > count ? answers.last : nil
  }
}
