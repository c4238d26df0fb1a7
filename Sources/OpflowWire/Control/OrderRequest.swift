internal import OpflowBase
package import OpflowPlan

/// A control request before the requester is known.
package struct OrderRequest: Equatable, Sendable {
  package var id: OrderID
  package var verb: OrderVerb
  package var planKey: String
  package var tasks = TaskRanges()
  package var among = TaskRanges()
  package var carried = CarriedValue()
  /// See `Order`.
  package var expects: Int32 = 0
  package var by = ""

  package init(id: OrderID, verb: OrderVerb, planKey: String) {
    self.id = id
    self.verb = verb
    self.planKey = planKey
  }

  package static let longestNameBytes = 255
  static let mostAttempts: Int32 = 1_000_000_000

  /// Why it is invalid in any run.
  package var fault: String? {
    let namesTasks = !tasks.isEmpty || !among.isEmpty
    switch verb.row.about {
    case .either: break
    case .run: if namesTasks { return "`\(verb.rawValue)` is about the whole run" }
    case .tasks: if !namesTasks { return "`\(verb.rawValue)` names no task" }
    }
    if planKey.isEmpty { return "it names no plan" }
    if by.utf8.count > Self.longestNameBytes {
      return "`by` has \(by.utf8.count) bytes, and may have \(Self.longestNameBytes)"
    }
    if !(0...Self.mostAttempts).contains(expects) { return "`expects` is no number of a try" }
    if expects > 0, !namesTasks { return "`expects` is about tasks, and it names none" }
    return carried.fault(of: verb)
  }

  package func order(of plan: Plan, from asker: OrderAsker) throws(OrderRefusal) -> Order {
    if let fault { throw OrderRefusal(what: fault) }
    let key = plan.key.description
    guard planKey == key else {
      throw OrderRefusal(
        what: "the order is about plan \(planKey), and the run is of plan \(key) by now; ask again")
    }
    let last = max(tasks.last, among.last)
    guard last.index < plan.taskCount else {
      throw OrderRefusal(
        what: "the plan has \(plan.taskCount) tasks, and no task number \(last.rawValue)")
    }
    let value = try carried.value(verb.row.carries, of: plan)
    var order = Order(id: id, asker: asker, verb: verb, value: value)
    order.tasks = tasks.tasks
    order.among = among.tasks
    order.expects = expects
    return order
  }
}
