/// How long the rest of a drive takes, if its tasks succeed and last as long as they are taken to: from one
/// bound to another, kept up to date as tasks go from state to state.
///
/// The lower bound is the longest chain of what is left, or what is left in all divided by what goes on at
/// once, whichever is longer: no order of the tasks is faster. The upper one is Graham's for whatever starts a
/// task when there is room for one: that share, and of the chain what is not in it. Where the tasks of this
/// drive lasted longer or shorter than they were taken to, the range reaches to what follows from that.
///
/// Cost
/// ----
///
/// Making it looks at every task and need once. Then a step of a task costs what it holds of resources, and
/// `range` looks at what runs: the longest chain behind what has not started is found by going down a
/// list of all tasks, the longest first, in which nobody goes back but for what is tried again. Chains are made again
/// once some tasks, or a share of many, ended without a start: nothing of what was skipped is left.
package struct RestForecast {
  /// A task that runs.
  package struct Running {
    package let task: TaskID
    /// Since its start.
    package let elapsedMilliseconds: Int64

    package init(task: TaskID, elapsedMilliseconds: Int64) {
      self.task = task
      self.elapsedMilliseconds = elapsedMilliseconds
    }
  }

  private let plan: Plan
  private let durations: TaskDurations
  /// By task, in microseconds: it, and the longest chain of what needs it, `finally` tasks behind all others.
  private var chains: [Int64] = []
  /// The tasks by that, the longest first; `next` is the first that may not have started.
  private var order: [Int32] = []
  private var places: [Int32] = []
  private var next = 0
  private var waits: [Bool]
  /// By task: it has no end.
  private var isOpen: [Bool]
  /// Since the chains were made: tasks that ended without a start.
  private var unstartedEnds = 0
  private let capacities: [UInt64]
  /// By resource: how much of it tasks that have no end hold over time. Doubles: bytes times microseconds
  /// leave 64 bits.
  private var held: [Double]
  /// Of tasks that have no end, in microseconds: in all, and where that is a guess.
  private var left: Int64 = 0
  private var guessed: Int64 = 0
  /// Of tasks that succeeded in this drive, in microseconds: what they took, and were taken to.
  private var took: Int64 = 0
  private var expected: Int64 = 0

  /// Of more than that share of what is left nothing is known: no range.
  private static let mostGuessedShare = 5
  private static let manyTasks = 1000
  /// Less than that says nothing about the pace, in microseconds.
  private static let leastExpected: Int64 = 1_000_000

  /// - Parameters:
  ///   - durations: of which some are known.
  ///   - capacities: by resource.
  ///   - state: of each task; nil where it is no part of the drive.
  package init(
    plan: Plan, durations: TaskDurations, capacities: [UInt64], state: (TaskID) -> TaskState?
  ) {
    self.plan = plan
    self.durations = durations
    self.capacities = capacities
    held = [Double](repeating: 0, count: capacities.count)
    waits = [Bool](repeating: false, count: plan.taskCount)
    isOpen = [Bool](repeating: false, count: plan.taskCount)
    for index in plan.tasks {
      guard let state = state(TaskID(index)), !state.isTerminal else { continue }
      isOpen[index] = true
      waits[index] = !state.isRunning
    }
    makeChains()
    for index in plan.tasks where isOpen[index] { count(TaskID(index), 1) }
  }

  private mutating func makeChains() {
    chains = Self.chains(plan, durations) { isOpen[$0] }
    let longest = UInt64(TaskDurations.limitMicroseconds) << 20
    order = Ranking.sorted(by: chains.map { longest - min(longest, UInt64($0)) })
    places = order
    for (place, task) in order.enumerated() { places[Int(task)] = Int32(truncatingIfNeeded: place) }
    next = 0
    unstartedEnds = 0
  }

  private static func chains(
    _ plan: Plan, _ durations: TaskDurations, isOpen: (Int) -> Bool
  ) -> [Int64] {
    var chains = [Int64](repeating: 0, count: plan.taskCount)
    var finally: Int64 = 0
    for isLast in [true, false] {
      for index in plan.topologicalOrder.reversed() {
        let task = TaskID(index)
        guard plan.flags(task).contains(.finally) == isLast else { continue }
        let behind = isLast ? chains[task.index] : max(chains[task.index], finally)
        // Of what is no part of the drive only the way is left.
        let own = isOpen(task.index) && !plan.isService(task) ? durations[task] : 0
        let sum = behind.addingReportingOverflow(own)
        let chain = sum.overflow ? .max : sum.partialValue
        chains[task.index] = chain
        if isLast { finally = max(finally, chain) }
        for edge in plan.needs(task) {
          let need = Int(plan.needTargets[edge])
          chains[need] = max(chains[need], chain)
        }
      }
    }
    return chains
  }

  /// Whether all that the frame may show of a task's time is known.
  package func expectedMicroseconds(_ task: TaskID) -> Int64? {
    let isAnswer = plan.hasGates && plan.kind(task) == .approve
    return durations.isGuess(task) || isAnswer ? nil : durations[task]
  }

  // MARK: - What happens

  /// A task of the drive went from one state to another.
  ///
  /// - Parameter wallMicroseconds: what it took, where it succeeded; else 0.
  package mutating func move(
    _ task: TaskID, from old: TaskState, to new: TaskState, wallMicroseconds: Int64
  ) {
    if old.isTerminal != new.isTerminal { count(task, new.isTerminal ? -1 : 1) }
    isOpen[task.index] = !new.isTerminal
    if new.isTerminal, waits[task.index] { unstartedEnds += 1 }
    waits[task.index] = !new.isTerminal && !new.isRunning
    if waits[task.index] { next = min(next, Int(places[task.index])) }
    if new == .succeeded, wallMicroseconds > 0, !durations.isGuess(task) {
      took += min(wallMicroseconds, TaskDurations.limitMicroseconds)
      expected += durations[task]
    }
  }

  private mutating func count(_ task: TaskID, _ sign: Int64) {
    // It lasts as long as what needs it.
    if plan.isService(task) { return }
    let length = durations[task]
    left += sign * length
    if durations.isGuess(task) { guessed += sign * length }
    for item in plan.demandList(plan.demand[task.index]) {
      let resource = Int(item.resource)
      // A task that wants more than there is runs alone.
      held[resource] += Double(sign * length) * Double(min(item.amount, capacities[resource]))
    }
  }

  // MARK: - What follows

  /// In milliseconds; nil while too much of it is unknown, or nothing is left.
  ///
  /// - Parameter capacity: how much there is of a resource by now, where that was changed.
  package mutating func range(
    _ running: [Running], capacity: (_ resource: Int) -> UInt64? = { _ in nil }
  ) -> ClosedRange<Int64>? {
    guard left > 0, guessed <= left / Int64(Self.mostGuessedShare) else { return nil }
    // Of many tasks the chains take long.
    if unstartedEnds > (plan.taskCount < Self.manyTasks ? 0 : plan.taskCount / 32) { makeChains() }
    while next < order.count, !waits[Int(order[next])] { next += 1 }
    var chain = next < order.count ? chains[Int(order[next])] : 0
    var over: Int64 = 0
    var held = held
    for task in running {
      let length = durations[task.task]
      let elapsed = min(task.elapsedMilliseconds, Int64.max / 1000) * 1000
      let done = min(length, max(0, elapsed))
      chain = max(chain, chains[task.task.index] - done)
      // Nobody knows how long it still takes: perhaps as long as it took too long.
      if elapsed > length { over = max(over, elapsed - length) }
      for item in plan.demandList(plan.demand[task.task.index]) {
        let resource = Int(item.resource)
        held[resource] -= Double(done) * Double(min(item.amount, capacities[resource]))
      }
    }
    var share = 0.0
    for resource in held.indices {
      let capacity = capacity(resource) ?? capacities[resource]
      if capacity > 0 { share = max(share, held[resource] / Double(capacity)) }
    }
    let cpu = Int(ResourceEntry.cpu)
    let lanes = Double(max(1, cpu < held.count ? capacity(cpu) ?? capacities[cpu] : 1))
    let low = max(Double(chain), share)
    let high = max(low, share + Double(chain) * (1 - 1 / lanes)) + Double(over)
    let pace = expected >= Self.leastExpected ? Double(took) / Double(expected) : 1
    return Self.milliseconds(low * min(1, pace))...Self.milliseconds(high * max(1, pace))
  }

  private static func milliseconds(_ microseconds: Double) -> Int64 {
    Int64(min(max(0, microseconds / 1000), 9e15))
  }
}
