internal import OpflowBase
package import OpflowPlan

/// The tasks of a generator leave the run, since it is tried again. From here on they have other
/// names (`PlanGrowth`), under which they are skipped.
package struct WithdrawEntry: Sendable, Equatable {
  package var adder: TaskID
  package var attempt: Int32
  package var orders: [String]
  package var count: Int

  package init(adder: TaskID, attempt: Int32, orders: [String], count: Int) {
    self.adder = adder
    self.attempt = attempt
    self.orders = orders
    self.count = count
  }
}

extension JournalLine {
  package func withdraw(plan: Plan) -> WithdrawEntry {
    var entry = WithdrawEntry(
      adder: plan.task(escapedName: task) ?? .none, attempt: 0, orders: withdrawnOrders, count: 0)
    for field in fields {
      switch field.key {
      case .attempt: entry.attempt = field.small ?? 0
      case .value: entry.count = Int(field.natural)
      default: break
      }
    }
    return entry
  }

  var withdrawnOrders: [String] {
    fields.lazy.filter { $0.key == .dropped }.map { $0.text }
  }
}
