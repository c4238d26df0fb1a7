/// What an order carries beside its tasks.
package enum OrderValue: Equatable, Sendable {
  case nothing
  /// What starts first, among what waits.
  case priority(Int16)
  /// There is that much of a resource of the plan from now on.
  case capacity(resource: Int, UInt64)

  package enum Kind: Sendable { case nothing, priority, capacity }

  package var kind: Kind {
    switch self {
    case .nothing: .nothing
    case .priority: .priority
    case .capacity: .capacity
    }
  }
}

/// The same as it is written, in the journal and on the wire: the keys `resource` and `value`.
package struct CarriedValue: Equatable, Sendable {
  /// Of a capacity: its name in the plan.
  package var resource = ""
  package var number: Int64?

  package init(resource: String = "", number: Int64? = nil) {
    self.resource = resource
    self.number = number
  }

  package init(_ value: OrderValue, of plan: Plan) {
    switch value {
    case .nothing: break
    case .priority(let priority): number = Int64(priority)
    case .capacity(let index, let amount):
      resource = plan.string(plan.resources[index].name)
      number = Int64(clamping: amount)
    }
  }

  package static let priorities: ClosedRange<Int64> = -1000...1000

  /// Of a journal, in which any may stand.
  package var priority: Int16 { Int16(clamping: number ?? 0) }

  // MARK: - Lines

  static let keys: Set<Key> = [.resource, .value]

  func write(to writer: inout FieldWriter) {
    writer.fieldUnlessEmpty(.resource, resource)
    if let number { writer.field(.value, number) }
  }

  // MARK: - Of a request

  /// What is wrong with it as that of an order, whatever the run; nil where nothing is.
  func fault(of verb: OrderVerb) -> String? {
    let word = verb.rawValue
    let kind = verb.row.carries
    if (kind == .capacity) == resource.isEmpty {
      return kind == .capacity ? "`\(word)` names no resource" : "`\(word)` is about no resource"
    }
    switch (kind, number) {
    case (.nothing, nil): return nil
    case (.nothing, .some): return "`\(word)` has no `value`, and it is given one"
    case (.priority, nil), (.capacity, nil): return "`\(word)` has no `value`"
    case (.priority, let number?):
      let (least, most) = (Self.priorities.lowerBound, Self.priorities.upperBound)
      return Self.priorities.contains(number)
        ? nil : "a priority is a number from \(least) to \(most), not \(number)"
    case (.capacity, let number?):
      return number >= 0 ? nil : "a capacity is not negative, and `value` is \(number)"
    }
  }

  /// What it is in a run of `plan`, without a fault.
  ///
  /// - Throws: what is wrong with it, as a refusal says it.
  func value(_ kind: OrderValue.Kind, of plan: Plan) throws(OrderRefusal) -> OrderValue {
    switch kind {
    case .nothing: return .nothing
    case .priority: return .priority(priority)
    case .capacity:
      guard let index = resourceIndex(in: plan) else {
        throw OrderRefusal(what: "the plan has no resource `\(resource)`")
      }
      return .capacity(resource: index, UInt64(clamping: number ?? 0))
    }
  }

  private func resourceIndex(in plan: Plan) -> Int? {
    plan.resources.indices.first {
      plan.text(plan.resources[$0].name).elementsEqual(resource.utf8)
    }
  }

  // MARK: - Text

  /// As it stands behind the order's word: `5`, or `net=3`; empty for nothing.
  func text(_ kind: OrderValue.Kind, plan: Plan) -> String {
    switch kind {
    case .nothing: return ""
    case .priority: return "\(number ?? 0)"
    case .capacity:
      let amount = UInt64(clamping: number ?? 0)
      let index = resourceIndex(in: plan).map { UInt32(truncatingIfNeeded: $0) }
      return "\(resource)=\(index.map { ResourceEntry.text(amount, of: $0) } ?? "\(amount)")"
    }
  }
}
