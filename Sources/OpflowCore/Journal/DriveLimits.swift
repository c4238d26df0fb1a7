/// What the tasks of a drive share out, and when it gives up.
package struct DriveLimits: Equatable, Sendable {
  package struct Capacity: Equatable, Sendable {
    /// Of the resource.
    package var name: String
    /// In what a plan counts it in.
    package var amount: UInt64
  }

  /// None where an older opflow did not tell.
  package var capacities: [Capacity] = []
  /// Failures after which nothing new starts; 0 is no limit. Nil where an older opflow did not tell.
  package var maxFailures: Int?

  package init() {}

  /// How much there is of a resource, in this drive or, where that is not told, by the manifest; nil
  /// where the machine decided it.
  func capacity(of resource: Int, _ plan: Plan) -> UInt64? {
    let entry = plan.resources[resource]
    let name = plan.text(entry.name)
    if let told = capacities.first(where: { $0.name.utf8.elementsEqual(name) }) {
      return told.amount
    }
    return entry.capacity == 0 ? nil : entry.capacity
  }

  /// As the values of `capacity` in the journal.
  var texts: [String] { capacities.map { "\($0.name):\($0.amount)" } }

  /// Takes in one of them; one that makes no sense is passed over.
  mutating func add(text: String) {
    guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")),
      let amount: UInt64 = Field.number(text.utf8[text.utf8.index(after: colon)...])
    else { return }
    capacities.append(Capacity(name: String(text[..<colon]), amount: amount))
  }
}
