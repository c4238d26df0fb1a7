internal import OpflowPlan

/// Demand classes. Their numbers stay when tasks are added.
struct Lanes {
  struct Lane {
    let demand: UInt32
    /// Local node only.
    let isLocal: Bool
    fileprivate(set) var isUsed: Bool
  }

  private(set) var all: [Lane] = []
  // By demand; empty without such tasks. Tasks with services have further classes.
  private var here: [Int32] = []
  private var elsewhere: [Int32] = []
  private var terminal: [Int32] = []
  private var blocks: [Int32] = []

  var count: Int { all.count }

  subscript(lane: Int) -> Lane { all[lane] }

  @inline(__always)
  func lane(of demand: Int, isLocal: Bool) -> Int {
    Int(isLocal ? here[demand] : elsewhere[demand])
  }

  @inline(__always)
  func terminalLane(of demand: Int) -> Int { Int(terminal[demand]) }

  /// External tasks are never prefetched behind commands.
  @inline(__always)
  func blockLane(of demand: Int) -> Int { Int(blocks[demand]) }

  mutating func cover(_ plan: Plan, usesSites: Bool) {
    Self.cover(plan, &here, &all, isLocal: true)
    if usesSites { Self.cover(plan, &elsewhere, &all, isLocal: false) }
    if plan.hasInteractive { Self.cover(plan, &terminal, &all, isLocal: true) }
    if plan.hasBlocks { Self.cover(plan, &blocks, &all, isLocal: true) }
  }

  private static func cover(
    _ plan: Plan, _ numbers: inout [Int32], _ all: inout [Lane], isLocal: Bool
  ) {
    while numbers.count < plan.demandCount {
      let demand = UInt32(truncatingIfNeeded: numbers.count)
      numbers.append(Int32(truncatingIfNeeded: all.count))
      all.append(Lane(demand: demand, isLocal: isLocal, isUsed: false))
    }
  }

  mutating func append(_ demand: UInt32, isLocal: Bool) -> Int {
    all.append(Lane(demand: demand, isLocal: isLocal, isUsed: true))
    return all.count - 1
  }

  mutating func use(_ lane: Int) { all[lane].isUsed = true }
}
