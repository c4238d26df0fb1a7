import Fixtures
import OpflowBase
import OpflowEngine
import OpflowJournal
import OpflowPlan
import Testing

/// Plans of a size at which anything that is not linear, or that recurses, shows: the tests would
/// run for minutes, or out of stack.
@Suite struct ScaleTests {
  private let count = 30_000

  /// Tasks `0..<count`, each with the needs that `needs` gives for it.
  private func plan(_ count: Int, needs: (Int) -> [Int]) throws -> Plan {
    var builder = PlanBuilder()
    for name in ["cpu", "memory", "download"] {
      builder.resources.append(ResourceEntry(name: builder.intern(name), capacity: 0))
    }
    let policy = builder.policy(TaskPolicy())
    _ = builder.codes([])
    let demand = builder.demand([DemandItem(resource: ResourceEntry.cpu, amount: 1)])
    for index in 0..<count {
      var entry = TaskEntry(name: builder.intern("t\(index)"), kind: .shell)
      entry.policy = policy
      entry.demand = demand
      _ = builder.add(entry)
    }
    for index in 0..<count {
      for need in needs(index) { builder.addNeed(TaskID(need), on: .success) }
      builder.endNeeds()
    }
    let manifest = ManifestEntry(
      name: .empty, description: .empty, folder: .empty, maxParallel: 0, maxFailures: 1,
      usesRunID: false)
    switch builder.finish(manifest: manifest, key: PlanKey(high: 1, low: 2)) {
    case .plan(let bytes):
      let plan = try Plan(copying: bytes)
      try plan.validate()
      return plan
    case .cycle: throw PlanMaker.Problem.cycle([])
    }
  }

  private func options(_ parallel: UInt64) -> SchedulerOptions {
    SchedulerOptions(maxParallel: parallel, memoryBytes: 1 << 30, maxFailures: 1, seed: 1)
  }

  private func forecast(_ plan: Plan, parallel: UInt64 = 8) -> RunForecast {
    RunForecast(
      plan: plan, options: options(parallel),
      resumeState: ResumeState(
        initial: plan.tasks.map { _ in .run }, attempts: plan.tasks.map { _ in 0 }))
  }

  @Test func `a chain is as long as its tasks`() throws {
    let plan = try plan(count) { $0 == 0 ? [] : [$0 - 1] }
    let run = forecast(plan)
    #expect(run.starts == plan.tasks.map { TaskID($0) })
    #expect(run.makespan == Int64(count))
    let path = CriticalPath(plan: plan, starts: run.starts, durations: .unknown)
    #expect(path.tasks == run.starts)
  }

  @Test func `a chain that is written from its end is the same`() throws {
    let plan = try plan(count) { $0 == self.count - 1 ? [] : [$0 + 1] }
    #expect(forecast(plan).starts == plan.tasks.reversed().map { TaskID($0) })
  }

  @Test func `one task needs all others, and all need one`() throws {
    let plan = try plan(count) { index in
      index == 0 ? [] : index < self.count - 1 ? [0] : Array(0..<(self.count - 1))
    }
    let run = forecast(plan, parallel: 1000)
    #expect(run.starts.count == count)
    #expect(run.makespan == Int64(2 + (count - 2 + 999) / 1000))
  }

  @Test func `a failure skips all of a chain behind it`() throws {
    let plan = try plan(count) { $0 == 0 ? [] : [$0 - 1] }
    var initial = plan.tasks.map { _ in InitialState.run }
    initial[0] = .interrupted
    let run = RunForecast(
      plan: plan, options: options(2),
      resumeState: ResumeState(initial: initial, attempts: plan.tasks.map { _ in 1 }))
    #expect(run.starts.isEmpty)
    #expect(run.settled.count == count)
    #expect(run.settled.last?.task == TaskID(count - 1))
  }

  @Test func `a chain that was interrupted in its middle is taken up there`() throws {
    let plan = try plan(count) { $0 == 0 ? [] : [$0 - 1] }
    var text = JournalText(plan)
    for index in 0..<(count / 2) {
      try text.start("t\(index)")
      try text.success("t\(index)")
    }
    try text.start("t\(count / 2)")
    let decision = ResumeDecision(plan: plan, history: try RunModel.read(text.bytes, plan))
    #expect(decision.keptCount == count / 2)
    #expect(decision.runCount == count - count / 2)
    #expect(decision.transitions.count == 1)
  }

  @Test func `a ring of all tasks is found`() throws {
    let offsets = (0...count).map { UInt32($0) }
    let targets = (0..<count).map { Int32(($0 + 1) % count) }
    let reversed = Graph.reversed(offsets: offsets, targets: targets)
    let order = Graph.order(
      needOffsets: offsets, needTargets: targets, dependentOffsets: reversed.offsets,
      dependentTargets: reversed.sources)
    guard case .cycle(let ring) = order else {
      Issue.record("a ring counts as an order")
      return
    }
    #expect(ring.count == count)
  }

  @Test func `tasks of which no two want the same do not look at all others each time`() throws {
    var maker = PlanMaker()
    let count = 3000
    // Half of the memory or a little more: one runs at a time, and every queue has one task.
    for index in 0..<count {
      maker.add("t\(index)") { $0.demand = [(0, 1), (1, UInt64(1 << 29 + index))] }
    }
    let plan = try maker.make()
    let run = forecast(plan, parallel: 4)
    #expect(run.starts.count == count)
    #expect(run.makespan == Int64(count))
  }
}
