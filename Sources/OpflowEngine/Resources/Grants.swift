internal import OpflowPlan

/// The amounts that a task of each demand class takes. An old grant exists until its tasks end.
package struct Grants {
  private struct Grant {
    var demandClass: Int32
    var start: Int32
    var count: Int32
    var holders: Int32 = 0
  }

  private(set) var items: [DemandItem] = []
  private var grants = Table<Grant>()
  private var current = Table<Int32>()
  /// Grants that are neither held nor current.
  private var spare: [Int32] = []

  var classCount: Int { current.count }

  mutating func addClass(_ wanted: [DemandItem]) {
    let start = Int32(truncatingIfNeeded: items.count)
    items += wanted
    let demandClass = Int32(truncatingIfNeeded: current.count)
    current.append(Int32(truncatingIfNeeded: grants.count))
    grants.append(
      Grant(demandClass: demandClass, start: start, count: Int32(truncatingIfNeeded: wanted.count)))
  }

  func current(_ demandClass: Int) -> Int32 { current[demandClass] }

  func demandClass(of grant: Int32) -> Int { Int(grants[Int(grant)].demandClass) }

  func range(_ grant: Int32) -> Range<Int> {
    let grant = grants[Int(grant)]
    return Int(grant.start)..<Int(grant.start + grant.count)
  }

  func amount(of resource: Int, in grant: Int32) -> UInt64 {
    for place in range(grant) where Int(items[place].resource) == resource {
      return items[place].amount
    }
    return 0
  }

  mutating func hold(_ grant: Int32) { grants[Int(grant)].holders += 1 }

  @inline(__always)
  mutating func release(_ grant: Int32) {
    grants[Int(grant)].holders -= 1
    guard grants[Int(grant)].holders == 0, current[Int(grants[Int(grant)].demandClass)] != grant
    else { return }
    spare.append(grant)
  }

  /// Adds a grant for one task with other amounts than its class.
  mutating func holdCut(_ wanted: [DemandItem], of demandClass: Int) -> Int32 {
    let number: Int32
    if let place = spare.firstIndex(where: { Int(grants[Int($0)].count) == wanted.count }) {
      number = spare.remove(at: place)
      items.replaceSubrange(range(number), with: wanted)
    } else {
      number = Int32(truncatingIfNeeded: grants.count)
      grants.append(
        Grant(
          demandClass: 0, start: Int32(truncatingIfNeeded: items.count),
          count: Int32(truncatingIfNeeded: wanted.count)))
      items += wanted
    }
    grants[Int(number)].demandClass = Int32(truncatingIfNeeded: demandClass)
    hold(number)
    return number
  }

  mutating func cut(_ demandClass: Int, to wanted: [DemandItem]) {
    if items[range(current[demandClass])].elementsEqual(wanted) { return }
    if grants[Int(current[demandClass])].holders > 0 {
      replaceCurrent(of: demandClass, count: wanted.count)
    }
    items.replaceSubrange(range(current[demandClass]), with: wanted)
  }

  private mutating func replaceCurrent(of demandClass: Int, count: Int) {
    if let place = spare.firstIndex(where: { Int(grants[Int($0)].count) == count }) {
      current[demandClass] = spare.remove(at: place)
      grants[Int(current[demandClass])].demandClass = Int32(truncatingIfNeeded: demandClass)
      return
    }
    var grant = grants[Int(current[demandClass])]
    grant.start = Int32(truncatingIfNeeded: items.count)
    grant.holders = 0
    items += items[range(current[demandClass])]
    current[demandClass] = Int32(truncatingIfNeeded: grants.count)
    grants.append(grant)
  }

  func checkInvariants(holding held: [Int32]) -> String? {
    var holders = [Int32](repeating: 0, count: grants.count)
    for grant in held { holders[Int(grant)] += 1 }
    if holders != grants.all.map(\.holders) { return "holders are miscounted" }
    if Set(current.all + spare).count != current.count + spare.count {
      return "a grant has two uses"
    }
    return spare.allSatisfy { grants[Int($0)].holders == 0 } ? nil : "a spare grant is held"
  }
}

/// A capacity may drop below the use: nothing is taken until enough is released.
struct Pool {
  private(set) var capacity: [UInt64]
  private(set) var held: [UInt64]
  /// The `cpu` that other runs use.
  private(set) var away: UInt64 = 0

  private static let processor = Int(ResourceEntry.cpu)

  init(capacity: [UInt64]) {
    self.capacity = capacity
    held = Array(repeating: 0, count: capacity.count)
  }

  /// A run that holds no `cpu` may take all: two runs that each hold half of a demand must not
  /// block each other forever.
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
