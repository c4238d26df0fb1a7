import Fixtures
import OpflowEngine
import OpflowJournal
import OpflowPlan
import Testing

/// The order of the starts, and its effect on a run.
@Suite struct OrderTests {
  private func options(_ parallel: UInt64) -> SchedulerOptions {
    SchedulerOptions(maxParallel: parallel, memoryBytes: 1 << 30, maxFailures: 1, seed: 1)
  }

  private func forecast(
    _ plan: Plan, parallel: UInt64, _ durations: TaskDurations = .unknown
  ) -> RunForecast {
    RunForecast(
      plan: plan, options: options(parallel),
      resumeState: ResumeState(
        initial: plan.tasks.map { _ in .run }, attempts: plan.tasks.map { _ in 0 },
        durations: durations))
  }

  private func names(_ plan: Plan, _ tasks: [TaskID]) -> [String] {
    tasks.map { plan.nameString($0) }
  }

  @Test func `of ready tasks the one with the longest way behind it starts first`() throws {
    var maker = PlanMaker()
    maker.add("short")
    maker.add("long")
    maker.add("a")
    maker.add("b", needs: ["a"])
    let plan = try maker.make()
    #expect(names(plan, forecast(plan, parallel: 1).starts) == ["a", "short", "long", "b"])
    // short 5, long 90, a 1, b 50
    let durations = TaskDurations(measured: [5, 90, 1, 50], plan: plan)
    let known = forecast(plan, parallel: 1, durations)
    #expect(names(plan, known.starts) == ["long", "a", "b", "short"])
    #expect(known.makespan == 146)
  }

  @Test func `a priority counts more than any path`() throws {
    var maker = PlanMaker()
    maker.add("long")
    maker.add("urgent") { $0.priority = 1 }
    let plan = try maker.make()
    let durations = TaskDurations(measured: [1_000_000, 1], plan: plan)
    #expect(
      names(plan, forecast(plan, parallel: 1, durations).starts) == ["urgent", "long"])
  }

  @Test func `paths that are longer than any key are alike`() throws {
    var maker = PlanMaker()
    for index in 0..<20 { maker.add("t\(index)", needs: index == 0 ? [] : ["t\(index - 1)"]) }
    maker.add("alone")
    let plan = try maker.make()
    let durations = TaskDurations(measured: plan.tasks.map { _ in .max }, plan: plan)
    let run = forecast(plan, parallel: 2, durations)
    #expect(run.starts.count == 21)
    #expect(run.makespan == durations[TaskID(0)] * 20)
  }

  @Test func `downloads that are independent are foretold side by side`() throws {
    var maker = PlanMaker()
    for name in ["a", "b", "c", "d"] { maker.addDownload(name) }
    let plan = try maker.make()
    let unknown = forecast(plan, parallel: 2)
    #expect(unknown.starts.count == 4)
    #expect(unknown.makespan == 1)
    // A further worker starts when no download has ended for 20 ms.
    let second = TaskDurations(measured: [1_000_000, 1_000_000, 1_000_000, 1_000_000], plan: plan)
    #expect(forecast(plan, parallel: 2, second).makespan == 1_060_000)
    let quick = TaskDurations(measured: [5_000, 5_000, 5_000, 5_000], plan: plan)
    #expect(forecast(plan, parallel: 2, quick).makespan == 20_000)
  }

  @Test func `the critical path passes over tasks that do not run`() throws {
    var maker = PlanMaker()
    maker.add("a")
    maker.add("off", needs: ["a"])
    maker.add("b", needs: ["off"])
    maker.add("other")
    maker.add("last") { $0.flags = .finally }
    let plan = try maker.make()
    let durations = TaskDurations(measured: [5, 100, 7, 8, 2], plan: plan)
    let path = CriticalPath(
      plan: plan, starts: [TaskID(0), TaskID(2), TaskID(3), TaskID(4)], durations: durations)
    #expect(names(plan, path.tasks) == ["a", "b", "last"])
    #expect(path.length == 14)
  }

  /// Layers of tasks that need some of the layer before, with times that differ by a thousand.
  private func layered(_ seed: UInt64, cpu: [UInt64]) throws -> (Plan, TaskDurations) {
    var random = SeededNumbers(seed)
    var maker = PlanMaker()
    var measured: [Int64] = []
    for layer in 0..<40 {
      for place in 0..<25 {
        let needs =
          layer == 0 ? [] : (0..<random.next(4)).map { _ in "t\(layer - 1).\(random.next(25))" }
        let demand = cpu[random.next(cpu.count)]
        maker.add("t\(layer).\(place)", needs: Array(Set(needs)).sorted()) {
          $0.demand = [(0, demand)]
        }
        measured.append(Int64(1) << Int64(random.next(10)) &* 1000)
      }
    }
    let plan = try maker.make()
    return (plan, TaskDurations(measured: measured, plan: plan))
  }

  @Test(arguments: [2, 4, 16])
  func `a run of known durations is hardly longer than it must be`(parallel: UInt64) throws {
    for seed in 1...5 as ClosedRange<UInt64> {
      let (plan, durations) = try layered(seed, cpu: [1])
      let run = forecast(plan, parallel: parallel, durations)
      let path = CriticalPath(plan: plan, starts: run.starts, durations: durations)
      let bound = MakespanBound.of(
        plan: plan, options: options(parallel), starts: run.starts, durations: durations,
        criticalPath: path.length)
      #expect(run.makespan >= bound)
      #expect(
        Double(run.makespan) <= Double(bound) * 1.05, "seed \(seed): \(run.makespan) of \(bound)")
    }
  }

  @Test func `tasks that want much of a resource do not leave much of it idle`() throws {
    for seed in 1...5 as ClosedRange<UInt64> {
      let (plan, durations) = try layered(seed, cpu: [1, 1, 1, 2, 4])
      let run = forecast(plan, parallel: 8, durations)
      let path = CriticalPath(plan: plan, starts: run.starts, durations: durations)
      let bound = MakespanBound.of(
        plan: plan, options: options(8), starts: run.starts, durations: durations,
        criticalPath: path.length)
      #expect(
        Double(run.makespan) <= Double(bound) * 1.2, "seed \(seed): \(run.makespan) of \(bound)")
    }
  }
}

/// Numbers that are the same in every run of a test.
struct SeededNumbers {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

  mutating func next(_ bound: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(state % UInt64(bound))
  }
}
