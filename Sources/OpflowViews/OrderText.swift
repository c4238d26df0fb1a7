package import OpflowCore

package enum OrderText {
  private static let maxNames = 5

  /// `cancel a, b and 3 more, asked by opflow cancel (pid 123)`
  static func text(_ order: OrderEntry, plan: Plan) -> String {
    "\(what(order, plan: plan)), asked by \(order.asker.text)"
  }

  package static func text(_ entry: ExtendEntry) -> String {
    "add \(CountText.tasks(entry.added)), asked by \(entry.asker.text)"
  }

  static func text(_ entry: WithdrawEntry, plan: Plan) -> String {
    let adder = entry.adder.isNone ? "a task" : plan.nameString(entry.adder)
    return "withdraw \(CountText.tasks(entry.count)) that \(adder) added before this try"
  }

  private static func what(_ order: OrderEntry, plan: Plan) -> String {
    let row = order.verb.row
    let carried = order.carried.text(row.carries, plan: plan)
    let asked = order.verb.rawValue + (carried.isEmpty ? "" : " \(carried)")
    if order.tasks.isEmpty { return row.ofRun ?? asked }
    let names = NameList.text(order.tasks, plan: plan, limit: maxNames)
    return carried.isEmpty ? "\(asked) \(names)" : "\(asked) of \(names)"
  }
}
