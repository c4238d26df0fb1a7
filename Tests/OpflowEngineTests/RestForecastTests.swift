import Fixtures
import OpflowBase
import OpflowEngine
import OpflowJournal
import OpflowPlan
import Testing

/// The expected time until a session ends.
@Suite struct RestForecastTests {
  private static let second: Int64 = 1_000_000

  /// Tasks with their dependencies and durations in seconds; negative if unknown.
  private func plan(_ tasks: [(name: String, needs: [String], seconds: Int64)]) throws -> (
    Plan, TaskDurations
  ) {
    var maker = PlanMaker()
    for task in tasks { maker.add(task.name, needs: task.needs) }
    let plan = try maker.make()
    return (plan, TaskDurations(measured: tasks.map { $0.seconds * Self.second }, plan: plan))
  }

  private func forecast(_ plan: Plan, _ durations: TaskDurations, parallel: UInt64) -> RestForecast
  {
    RestForecast(plan: plan, durations: durations, capacities: [parallel, 1 << 40, 4]) { _ in
      .waiting
    }
  }

  private func running(_ plan: Plan, _ name: String, seconds: Int64) throws
    -> RestForecast.Running
  {
    RestForecast.Running(task: try plan.id(name), elapsedMilliseconds: seconds * 1000)
  }

  @Test func `what one lane does takes its sum, and a chain its length`() throws {
    let (wide, durations) = try plan([("a", [], 3), ("b", [], 4), ("c", [], 5)])
    var rest = forecast(wide, durations, parallel: 1)
    #expect(rest.range([]) == 12_000...12_000)
    let (chain, lengths) = try plan([("a", [], 3), ("b", ["a"], 4), ("c", ["b"], 5)])
    rest = forecast(chain, lengths, parallel: 4)
    #expect(rest.range([]) == 12_000...12_000)
    // Two at once, of which one is the longest: from half of it all to that and half of the
    // longest.
    rest = forecast(wide, durations, parallel: 2)
    #expect(rest.range([]) == 6000...8500)
  }

  @Test func `what is done is left out, of what runs what it has run`() throws {
    let (plan, durations) = try plan([("a", [], 10), ("b", ["a"], 20), ("c", [], 6)])
    var rest = forecast(plan, durations, parallel: 1)
    rest.move(try plan.id("a"), from: .waiting, to: .running, wallMicroseconds: 0)
    #expect(rest.range([try running(plan, "a", seconds: 4)]) == 32_000...32_000)
    rest.move(
      try plan.id("a"), from: .running, to: .succeeded, wallMicroseconds: 10 * Self.second)
    #expect(rest.range([]) == 26_000...26_000)
    rest.move(try plan.id("c"), from: .waiting, to: .skipped, wallMicroseconds: 0)
    #expect(rest.range([]) == 20_000...20_000)
    // A retry brings it back.
    rest.move(try plan.id("c"), from: .skipped, to: .waiting, wallMicroseconds: 0)
    #expect(rest.range([]) == 26_000...26_000)
    for name in ["b", "c"] {
      rest.move(try plan.id(name), from: .waiting, to: .cancelled, wallMicroseconds: 0)
    }
    #expect(rest.range([]) == nil)
  }

  @Test func `of a chain that was skipped nothing is left`() throws {
    let (plan, durations) = try plan([("a", [], 10), ("b", ["a"], 20), ("c", ["b"], 5)])
    var rest = forecast(plan, durations, parallel: 4)
    rest.move(try plan.id("a"), from: .waiting, to: .running, wallMicroseconds: 0)
    for name in ["b", "c"] {
      rest.move(try plan.id(name), from: .waiting, to: .skipped, wallMicroseconds: 0)
    }
    #expect(rest.range([try running(plan, "a", seconds: 4)]) == 6000...6000)
    // Tasks that ended before the session hardly count.
    var resumed = RestForecast(plan: plan, durations: durations, capacities: [4, 1 << 40, 4]) {
      $0 == TaskID(0) ? .waiting : .skipped
    }
    #expect(resumed.range([]) == 10_000...10_000)
  }

  @Test func `a service adds nothing to the time that a run takes at least`() throws {
    var maker = PlanMaker()
    maker.addService("db")
    maker.add("first", needs: ["db"])
    maker.add("second", needs: ["first", "db"])
    let plan = try maker.make()
    let forecast = PlanForecast(
      plan: plan,
      options: SchedulerOptions(
        maxParallel: 2, memoryBytes: 1 << 40, maxFailures: 0, seed: 1),
      resumeState: ResumeState(
        initial: plan.tasks.map { _ in .run }, attempts: plan.tasks.map { _ in 0 },
        durations: TaskDurations(
          measured: [9 * Self.second, 2 * Self.second, Self.second], plan: plan)),
      capacities: [1, 2])
    #expect(forecast.rows.map(\.makespan) == [3 * Self.second, 3 * Self.second])
    #expect(forecast.rows.map(\.bound) == [3 * Self.second, 3 * Self.second])
    #expect(forecast.path.tasks.map { plan.nameString($0) } == ["first", "second"])
  }

  @Test func `nothing is said while over a fifth of the work is unknown`() throws {
    // The guess is the median of the known durations.
    let (plan, durations) = try plan([("a", [], 10), ("b", [], 10), ("c", [], 10), ("d", [], -1)])
    var rest = forecast(plan, durations, parallel: 1)
    #expect(rest.range([]) == nil)
    #expect(rest.expectedMicroseconds(try plan.id("a")) == 10 * Self.second)
    #expect(rest.expectedMicroseconds(try plan.id("d")) == nil)
    let (more, known) = try self.plan([
      ("a", [], 10), ("b", [], 10), ("c", [], 10), ("d", [], -1), ("e", [], 10),
    ])
    rest = forecast(more, known, parallel: 1)
    #expect(rest.range([]) == 50_000...50_000)
  }

  @Test func `what takes longer than it was taken to widens the range`() throws {
    let (plan, durations) = try plan([("a", [], 10), ("b", ["a"], 10)])
    var rest = forecast(plan, durations, parallel: 2)
    rest.move(try plan.id("a"), from: .waiting, to: .running, wallMicroseconds: 0)
    #expect(rest.range([try running(plan, "a", seconds: 14)]) == 10_000...14_000)
    // The next one is half as fast as the one before was.
    rest.move(
      try plan.id("a"), from: .running, to: .succeeded, wallMicroseconds: 20 * Self.second)
    #expect(rest.range([]) == 10_000...20_000)
  }

  @Test func `a request that makes room shortens it`() throws {
    let (plan, durations) = try plan([("a", [], 10), ("b", [], 10), ("c", [], 10), ("d", [], 10)])
    var rest = forecast(plan, durations, parallel: 1)
    #expect(rest.range([]) == 40_000...40_000)
    #expect(rest.range([]) { $0 == 0 ? 4 : nil } == 10_000...17_500)
  }

  /// The engine, played with all that is known, ends within the bounds: at the beginning, and at
  /// every later moment, when it has gone so far.
  @Test(arguments: 0..<30) func `the engine's own forecast lies within the range`(seed: Int) throws
  {
    var random = SplitMix64(seed: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15)
    let count = Int.random(in: 1...40, using: &random)
    var tasks: [(name: String, needs: [String], seconds: Int64)] = []
    for index in 0..<count {
      var needs: Set<String> = []
      for _ in 0..<Int.random(in: 0...2, using: &random) where index > 0 {
        needs.insert("t\(Int.random(in: 0..<index, using: &random))")
      }
      tasks.append(("t\(index)", needs.sorted(), Int64.random(in: 1...50, using: &random)))
    }
    let (plan, durations) = try plan(tasks)
    let parallel = UInt64.random(in: 1...6, using: &random)
    var rest = forecast(plan, durations, parallel: parallel)
    let whole = RunForecast(
      plan: plan,
      options: SchedulerOptions(
        maxParallel: parallel, memoryBytes: 1 << 40, maxFailures: 0, seed: 1),
      resumeState: ResumeState(
        initial: plan.tasks.map { _ in .run }, attempts: plan.tasks.map { _ in 0 },
        durations: durations))
    let found = rest.range([])
    let makespan = whole.makespan / 1000
    #expect(found?.contains(makespan) == true, "\(String(describing: found)) of \(makespan)")
  }
}
