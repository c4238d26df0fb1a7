package import OpflowJournal
package import OpflowPlan

/// The remaining time of a session as a range, if tasks succeed and last as long as expected.
///
/// The lower bound is the longest remaining chain, or the work left by capacity. The upper one is
/// Graham's bound for list scheduling: that work, plus the part of the chain outside it. The
/// session's measured speed widens the range.
///
/// Making it visits all tasks and edges once; a state change costs the task's number of resources,
/// `range` the running tasks. The longest waiting chain is found in a list by length, which steps
/// back only for retries. Chains are rebuilt when some tasks (with many: a share) ended without a
/// start.
package struct RestForecast {
  package struct Running {
    package let task: TaskID
    package let elapsedMilliseconds: Int64

    package init(task: TaskID, elapsedMilliseconds: Int64) {
      self.task = task
      self.elapsedMilliseconds = elapsedMilliseconds
    }
  }

  private let plan: Plan
  private let durations: TaskDurations
  /// Microseconds, including the task; `finally` tasks follow all others.
  private var chains: [Int64] = []
  /// By chain, longest first; the tasks before `next` do not wait.
  private var order: [Int32] = []
  private var places: [Int32] = []
  private var next = 0
  private var waits: [Bool]
  /// True for tasks that have not ended.
  private var isOpen: [Bool]
  /// Ends without a start since the chains were built.
  private var unstartedEnds = 0
  private let capacities: [UInt64]
  /// Resource use over time of tasks that have not ended. Doubles, since bytes times microseconds
  /// exceed 64 bits.
  private var held: [Double]
  /// In microseconds.
  private var left: Int64 = 0
  private var guessed: Int64 = 0
  /// In microseconds.
  private var took: Int64 = 0
  private var expected: Int64 = 0

  /// The divisor for the most work that may be a guess; with more there is no range.
  private static let mostGuessedShare = 5
  private static let manyTasks = 1000
  /// The work that a speed needs, in microseconds.
  private static let leastExpected: Int64 = 1_000_000

  /// - Parameter state: Nil for tasks outside the session.
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
        // Tasks outside the session take no time.
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

  /// Returns the duration to show; nil for guesses and approvals.
  package func expectedMicroseconds(_ task: TaskID) -> Int64? {
    let isAnswer = plan.hasApprovals && plan.kind(task) == .approve
    return durations.isGuess(task) || isAnswer ? nil : durations[task]
  }

  // MARK: - Changes

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
    if plan.isService(task) { return }
    let length = durations[task]
    left += sign * length
    if durations.isGuess(task) { guessed += sign * length }
    for item in plan.demandList(plan.demand[task.index]) {
      let resource = Int(item.resource)
      held[resource] += Double(sign * length) * Double(min(item.amount, capacities[resource]))
    }
  }

  // MARK: - Result

  /// Returns milliseconds; nil if too much is unknown or nothing is left.
  package mutating func range(
    _ running: [Running], capacity: (_ resource: Int) -> UInt64? = { _ in nil }
  ) -> ClosedRange<Int64>? {
    guard left > 0, guessed <= left / Int64(Self.mostGuessedShare) else { return nil }
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
      // The rest is unknown: assume up to as long as the task is overdue.
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
    let demandClasses = Double(max(1, cpu < held.count ? capacity(cpu) ?? capacities[cpu] : 1))
    let low = max(Double(chain), share)
    let high = max(low, share + Double(chain) * (1 - 1 / demandClasses)) + Double(over)
    let throughput = expected >= Self.leastExpected ? Double(took) / Double(expected) : 1
    return Self.milliseconds(
      low * min(1, throughput))...Self.milliseconds(high * max(1, throughput))
  }

  private static func milliseconds(_ microseconds: Double) -> Int64 {
    Int64(min(max(0, microseconds / 1000), 9e15))
  }
}
