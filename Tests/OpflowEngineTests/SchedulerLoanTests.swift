import Fixtures
import OpflowEngine
import OpflowPlan
import Testing

/// Idle CPUs are lent to tasks with a jobserver, and requested back only for waiting tasks.
@Suite struct SchedulerLoanTests {
  private func run(_ fill: (inout PlanMaker) -> Void) throws -> EngineHarness {
    var maker = PlanMaker()
    maker.resources = [("db", 1)]
    maker.add("make") { $0.jobserver = .pipe }
    fill(&maker)
    return EngineHarness(try maker.make(), parallel: 4, maxFailures: 0, prefetches: false)
  }

  /// Gives back what is asked back, at once.
  ///
  /// - Returns: how often anything was.
  private func giveBack(_ run: inout EngineHarness) -> Int {
    run.settle()
    var (place, times) = (0, 0)
    while place < run.tokens.count, times < 20 {
      let (worker, task, count) = run.tokens[place]
      place += 1
      if count > 0 { continue }
      times += 1
      run.tell(.tokens(worker, task, -count))
    }
    return times
  }

  @Test func `nothing is asked back for what lacks something else, again and again`() throws {
    let db: UInt32 = 3
    var run = try run { maker in
      maker.add("holds") { $0.demand = [(0, 1), (db, 1000)] }
      maker.add("small") { $0.demand = [(0, 1), (db, 1000)] }
      maker.add("wide") { $0.demand = [(0, 2), (db, 1000)] }
    }
    #expect(run.runningNames == ["holds", "make"])
    #expect(giveBack(&run) <= 1)
    run.end("holds")
    #expect(giveBack(&run) <= 2)
    #expect(run.runningNames.contains("small"))
    run.end("small")
    _ = giveBack(&run)
    #expect(run.runningNames == ["make", "wide"])
  }

  @Test func `what has just started is lent nothing that something waits for`() throws {
    var maker = PlanMaker()
    maker.add("make") {
      $0.jobserver = .pipe
      $0.demand = [(0, 3)]
    }
    maker.add("wide") { $0.demand = [(0, 4)] }
    var run = EngineHarness(try maker.make(), parallel: 4, maxFailures: 0, prefetches: false)
    #expect(run.runningNames == ["make"])
    run.settle()
    // One of four idles, which nothing could start with.
    #expect(run.tokens.isEmpty)
  }

  @Test func `what lacks nothing else has it asked back until it starts`() throws {
    var run = try run { maker in
      maker.add("first")
      maker.add("wide", needs: ["first"]) { $0.demand = [(0, 3)] }
    }
    #expect(run.runningNames == ["first", "make"])
    run.settle()
    // Two of four idle.
    let idle: Int = run.tokens.reduce(0) { $0 + Int($1.count) }
    #expect(idle == 2)
    run.end("first")
    #expect((1...2).contains(giveBack(&run)))
    #expect(run.runningNames == ["make", "wide"])
  }
}
