/// What tasks share out of each resource: how much there is, and how much of it is held. The capacity
/// may become less than what is held: then nothing more is taken until enough has come back.
struct Pool {
  private(set) var capacity: [UInt64]
  private(set) var held: [UInt64]

  init(capacity: [UInt64]) {
    self.capacity = capacity
    held = Array(repeating: 0, count: capacity.count)
  }

  func free(_ resource: Int) -> UInt64 {
    held[resource] < capacity[resource] ? capacity[resource] - held[resource] : 0
  }

  /// Whether that much is free beside what is held back.
  func has(_ amount: UInt64, of resource: Int, beside reserved: UInt64) -> Bool {
    let (sum, overflow) = amount.addingReportingOverflow(reserved)
    return !overflow && sum <= free(resource)
  }

  mutating func take(_ amount: UInt64, of resource: Int) { held[resource] += amount }

  mutating func give(_ amount: UInt64, of resource: Int) { held[resource] -= amount }

  var isWithinCapacity: Bool { zip(held, capacity).allSatisfy { $0 <= $1 } }

  mutating func setCapacity(_ amount: UInt64, of resource: Int) { capacity[resource] = amount }
}
