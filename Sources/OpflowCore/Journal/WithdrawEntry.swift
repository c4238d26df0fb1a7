/// What a task added in earlier tries is no part of the run any more, since it is tried again and says anew what is to be
/// added.
///
/// The tasks have other names from here on (`PlanGrowth`), by which they are skipped on lines of their own.
package struct WithdrawEntry: Sendable, Equatable {
  /// The task that added them.
  package var adder: TaskID
  /// The number of its last try before this.
  package var attempt: Int32
  /// The ids of the orders that added them.
  package var orders: [String]
  /// How many tasks they are.
  package var count: Int

  package init(adder: TaskID, attempt: Int32, orders: [String], count: Int) {
    self.adder = adder
    self.attempt = attempt
    self.orders = orders
    self.count = count
  }
}

extension JournalLine {
  /// A task that the plan does not have is none.
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

  /// Of a `withdraw`.
  var withdrawnOrders: [String] {
    fields.lazy.filter { $0.key == .dropped }.map { $0.text }
  }
}
