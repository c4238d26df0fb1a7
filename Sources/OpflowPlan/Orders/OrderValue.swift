package import OpflowBase

/// What a request carries apart from its tasks.
package enum OrderValue: Equatable, Sendable {
  case nothing
  /// Its meaning depends on the verb (`OrderNumber`).
  case number(Int64)
  case capacity(resource: Int, UInt64)

  package enum Kind: Sendable {
    case nothing
    case number(OrderNumber)
    case capacity
  }

  func isOf(_ kind: Kind) -> Bool {
    switch (self, kind) {
    case (.nothing, .nothing), (.number, .number), (.capacity, .capacity): true
    case (.nothing, _), (.number, _), (.capacity, _): false
    }
  }
}

/// The value as written: the keys `resource` and `value`.
package struct CarriedValue: Equatable, Sendable {
  package var resource = ""
  package var number: Int64?

  package init(resource: String = "", number: Int64? = nil) {
    self.resource = resource
    self.number = number
  }

  package init(_ value: OrderValue, of plan: Plan) {
    switch value {
    case .nothing: break
    case .number(let number): self.number = number
    case .capacity(let index, let amount):
      resource = plan.string(plan.resources[index].name)
      number = Int64(clamping: amount)
    }
  }

  /// Clamped: a journal may hold any number.
  package var priority: Int16 { Int16(clamping: number ?? 0) }

  // MARK: - Lines

  package static let keys: Set<Key> = [.resource, .value]

  package func write(to writer: inout FieldWriter) {
    writer.fieldUnlessEmpty(.resource, resource)
    if let number { writer.field(.value, number) }
  }

  // MARK: - Requests

  package func fault(of verb: OrderVerb) -> String? {
    let word = verb.rawValue
    switch verb.row.carries {
    case .nothing, .number:
      if !resource.isEmpty { return "`\(word)` is about no resource" }
    case .capacity:
      if resource.isEmpty { return "`\(word)` names no resource" }
    }
    switch (verb.row.carries, number) {
    case (.nothing, nil): return nil
    case (.nothing, .some): return "`\(word)` has no `value`, and it is given one"
    case (.number, nil), (.capacity, nil): return "`\(word)` has no `value`"
    case (.number(let kind), let number?): return kind.fault(number)
    case (.capacity, let number?):
      return number >= 0 ? nil : "a capacity is not negative, and `value` is \(number)"
    }
  }

  /// Requires that `fault(of:)` is nil.
  package func value(_ kind: OrderValue.Kind, of plan: Plan) throws(OrderRefusal) -> OrderValue {
    switch kind {
    case .nothing: return .nothing
    case .number: return .number(number ?? 0)
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

  /// `5` or `net=3`.
  package func text(_ kind: OrderValue.Kind, plan: Plan) -> String {
    switch kind {
    case .nothing: return ""
    case .number: return "\(number ?? 0)"
    case .capacity:
      let amount = UInt64(clamping: number ?? 0)
      let index = resourceIndex(in: plan).map { UInt32(truncatingIfNeeded: $0) }
      return "\(resource)=\(index.map { ResourceEntry.text(amount, of: $0) } ?? "\(amount)")"
    }
  }
}
