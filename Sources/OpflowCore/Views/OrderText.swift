/// Orders that were obeyed, in words for people.
enum OrderText {
  private static let maxNames = 5

  /// `cancel a, b and 3 more, asked by opflow cancel (pid 123)`
  static func text(_ order: OrderEntry, plan: Plan) -> String {
    "\(what(order, plan: plan)), asked by \(order.asker.text)"
  }

  /// `add 3 tasks, asked by opflow add (pid 123)`
  static func text(_ entry: ExtendEntry) -> String {
    "add \(CountText.tasks(entry.added)), asked by \(entry.asker.text)"
  }

  private static func what(_ order: OrderEntry, plan: Plan) -> String {
    let names = NameList.text(order.tasks, plan: plan, limit: maxNames)
    switch order.verb {
    case .parallel: return "parallel \(order.resource)=\(amount(order, plan: plan))"
    case .priority: return "priority \(order.value ?? 0) of \(names)"
    case .cancel where order.tasks.isEmpty: return "cancel the run"
    case .cancel, .pause, .proceed, .suspend, .retry, .skip, .approve, .reject, .close:
      return order.tasks.isEmpty ? order.verb.rawValue : "\(order.verb.rawValue) \(names)"
    }
  }

  /// As a manifest has it.
  private static func amount(_ order: OrderEntry, plan: Plan) -> String {
    let value = UInt64(clamping: order.value ?? 0)
    let resource = plan.resources.indices.first {
      plan.text(plan.resources[$0].name).elementsEqual(order.resource.utf8)
    }
    guard let resource else { return "\(value)" }
    return ResourceEntry.text(value, of: UInt32(truncatingIfNeeded: resource))
  }
}
