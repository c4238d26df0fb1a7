internal import OpflowPlan

/// A capacity may drop below the use: nothing is taken until enough is released.
struct Pool {
  private(set) var capacity: [UInt64]
  private(set) var held: [UInt64]
  /// Used by other runs.
  private(set) var away: UInt64 = 0

  private static let processor = Int(ResourceEntry.cpu)

  init(capacity: [UInt64]) {
    self.capacity = capacity
    held = Array(repeating: 0, count: capacity.count)
  }

  /// Without own `cpu` all of it counts as free: two runs that each hold half of a demand must not
  /// block each other for ever.
  @inline(__always)
  func free(_ resource: Int) -> UInt64 {
    if away > 0, resource == Self.processor, held[resource] > 0 { return idleProcessors }
    return held[resource] < capacity[resource] ? capacity[resource] - held[resource] : 0
  }

  var idleProcessors: UInt64 {
    let taken = held[Self.processor] + away
    return taken < capacity[Self.processor] ? capacity[Self.processor] - taken : 0
  }

  func has(_ amount: UInt64, of resource: Int, beside reserved: UInt64) -> Bool {
    let (sum, overflow) = amount.addingReportingOverflow(reserved)
    return !overflow && sum <= free(resource)
  }

  mutating func take(_ amount: UInt64, of resource: Int) { held[resource] += amount }

  mutating func give(_ amount: UInt64, of resource: Int) { held[resource] -= amount }

  var isWithinCapacity: Bool { zip(held, capacity).allSatisfy { $0 <= $1 } }

  mutating func setCapacity(_ amount: UInt64, of resource: Int) { capacity[resource] = amount }

  mutating func setAway(_ amount: UInt64) { away = amount }
}
