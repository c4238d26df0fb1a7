/// What tasks share out of each resource: how much there is, and how much of it is held. The capacity
/// may become less than what is held: then nothing more is taken until enough has come back.
struct Pool {
  private(set) var capacity: [UInt64]
  private(set) var held: [UInt64]
  /// How much `cpu` others have now who share it with this run.
  private(set) var away: UInt64 = 0

  private static let processor = Int(ResourceEntry.cpu)

  init(capacity: [UInt64]) {
    self.capacity = capacity
    held = Array(repeating: 0, count: capacity.count)
  }

  /// Where nobody holds any `cpu`, all of it is free: what wants more than others leave must not wait for
  /// them for ever, as two would that each have half of what they want.
  @inline(__always)
  func free(_ resource: Int) -> UInt64 {
    if away > 0, resource == Self.processor, held[resource] > 0 { return idleProcessors }
    return held[resource] < capacity[resource] ? capacity[resource] - held[resource] : 0
  }

  /// How much `cpu` is there that nobody has.
  var idleProcessors: UInt64 {
    let taken = held[Self.processor] + away
    return taken < capacity[Self.processor] ? capacity[Self.processor] - taken : 0
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

  mutating func setAway(_ amount: UInt64) { away = amount }
}
