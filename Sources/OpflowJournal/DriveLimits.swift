internal import OpflowBase
internal import OpflowPlan

/// Resources that the tasks of a session share, and its failure limit.
package struct DriveLimits: Equatable, Sendable {
  package struct Capacity: Equatable, Sendable {
    package var name: String
    package var amount: UInt64

    package init(name: String, amount: UInt64) {
      self.name = name
      self.amount = amount
    }
  }

  /// Empty in journals of older versions.
  package var capacities: [Capacity] = []
  /// 0 means no limit; nil in journals of older versions.
  package var maxFailures: Int?

  package init() {}

  /// In this session, else in the manifest; nil if opflow chose it.
  func capacity(of resource: Int, _ plan: Plan) -> UInt64? {
    let entry = plan.resources[resource]
    let name = plan.text(entry.name)
    if let told = capacities.first(where: { $0.name.utf8.elementsEqual(name) }) {
      return told.amount
    }
    return entry.capacity == 0 ? nil : entry.capacity
  }

  /// `NAME:AMOUNT`, as in the journal.
  var texts: [String] { capacities.map { "\($0.name):\($0.amount)" } }

  mutating func add(text: String) {
    guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")),
      let amount: UInt64 = Field.number(text.utf8[text.utf8.index(after: colon)...])
    else { return }
    capacities.append(Capacity(name: String(text[..<colon]), amount: amount))
  }
}
