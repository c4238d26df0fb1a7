/// An order as it is asked for, before it is known who asks: what a line of control.sock says.
package struct OrderRequest: Equatable, Sendable {
  package var id: OrderID
  package var verb: OrderVerb
  /// The plan that the tasks are numbers of.
  package var planKey: String
  package var tasks = TaskRanges()
  package var among = TaskRanges()
  /// Of `parallel`: its name in the plan.
  package var resource = ""
  /// Of `priority` and `parallel`.
  package var value: Int64?
  /// See `Order`.
  package var expects: Int32 = 0
  /// What the asker calls itself.
  package var by = ""

  package init(id: OrderID, verb: OrderVerb, planKey: String) {
    self.id = id
    self.verb = verb
    self.planKey = planKey
  }

  package static let longestNameBytes = 255
  /// Of `expects`: no task is tried so often.
  static let mostAttempts: Int32 = 1_000_000_000
  package static let priorities: ClosedRange<Int64> = -1000...1000

  /// What is wrong with it in itself, whatever the run; nil where nothing is.
  package var fault: String? {
    let namesTasks = !tasks.isEmpty || !among.isEmpty
    switch verb {
    case .cancel, .proceed: break
    case .pause, .parallel, .close:
      if namesTasks { return "`\(verb.rawValue)` is about the whole run" }
    case .suspend, .priority, .retry, .skip, .approve, .reject:
      if !namesTasks { return "`\(verb.rawValue)` names no task" }
    }
    if planKey.isEmpty { return "it names no plan" }
    if by.utf8.count > Self.longestNameBytes {
      return "`by` has \(by.utf8.count) bytes, and may have \(Self.longestNameBytes)"
    }
    if !(0...Self.mostAttempts).contains(expects) { return "`expects` is no number of a try" }
    if expects > 0, !namesTasks { return "`expects` is about tasks, and it names none" }
    return faultOfValue
  }

  private var faultOfValue: String? {
    if (verb == .parallel) == resource.isEmpty {
      return verb == .parallel
        ? "`parallel` names no resource" : "`\(verb.rawValue)` is about no resource"
    }
    switch (verb, value) {
    case (.priority, let value?):
      return Self.priorities.contains(value)
        ? nil
        : "a priority is a number from \(Self.priorities.lowerBound) to"
          + " \(Self.priorities.upperBound), not \(value)"
    case (.parallel, let value?):
      return value >= 0 ? nil : "a capacity is not negative, and `value` is \(value)"
    case (.priority, nil), (.parallel, nil): return "`\(verb.rawValue)` has no `value`"
    case (_, .some): return "`\(verb.rawValue)` has no `value`, and it is given one"
    case (_, nil): return nil
    }
  }

  /// The order that it is to a run of `plan`.
  ///
  /// - Throws: what is wrong with it, as a refusal says it.
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
    var order = Order(id: id, asker: asker, action: try action(of: plan))
    order.tasks = tasks.tasks
    order.among = among.tasks
    order.expects = expects
    return order
  }

  private func action(of plan: Plan) throws(OrderRefusal) -> OrderAction {
    switch verb {
    case .cancel: return .cancel
    case .pause: return .pause
    case .proceed: return .proceed
    case .suspend: return .suspend
    case .retry: return .retry
    case .skip: return .skip
    case .approve: return .approve
    case .reject: return .reject
    case .close: return .close
    case .priority: return .priority(Int16(truncatingIfNeeded: value ?? 0))
    case .parallel:
      let index = plan.resources.indices.first { number in
        plan.text(plan.resources[number].name).elementsEqual(resource.utf8)
      }
      guard let index else {
        throw OrderRefusal(what: "the plan has no resource `\(resource)`")
      }
      return .capacity(resource: index, UInt64(value ?? 0))
    }
  }
}

/// Why nothing is done of an order.
package struct OrderRefusal: Error, Equatable, Sendable {
  /// A sentence without its first capital and last point.
  package var what: String
  package init(what: String) { self.what = what }
}
