/// The lanes of tasks: a number for each, which stays what it is when tasks are added to the plan.
struct Lanes {
  struct Lane {
    /// What its tasks want, by the plan's number.
    let demand: UInt32
    /// Its tasks run on this machine.
    let isLocal: Bool
    /// It has tasks.
    fileprivate(set) var isUsed: Bool
  }

  private(set) var all: [Lane] = []
  // By demand; empty where there are no such tasks. Tasks with services have lanes besides these.
  private var here: [Int32] = []
  private var elsewhere: [Int32] = []
  private var terminal: [Int32] = []
  private var blocks: [Int32] = []

  var count: Int { all.count }

  subscript(lane: Int) -> Lane { all[lane] }

  /// The lane of tasks of this machine, or of others, that want this.
  @inline(__always)
  func lane(of demand: Int, isLocal: Bool) -> Int {
    Int(isLocal ? here[demand] : elsewhere[demand])
  }

  /// The lane of tasks that are to have the terminal.
  @inline(__always)
  func terminalLane(of demand: Int) -> Int { Int(terminal[demand]) }

  /// The lane of blocks: behind no command one of them is handed ahead.
  @inline(__always)
  func blockLane(of demand: Int) -> Int { Int(blocks[demand]) }

  /// Adds the lanes that are wanting for the demands of a plan.
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

  /// Adds a lane of tasks with services.
  ///
  /// - Returns: its number.
  mutating func append(_ demand: UInt32, isLocal: Bool) -> Int {
    all.append(Lane(demand: demand, isLocal: isLocal, isUsed: true))
    return all.count - 1
  }

  /// It has a task.
  mutating func use(_ lane: Int) { all[lane].isUsed = true }
}
