import Fixtures
import OpflowEngine
import OpflowJournal
import OpflowPlan
import Testing

/// Tasks that workers prefetch, tasks that are revoked, and the coordinator's idle times.
@Suite struct SchedulerAheadTests {
  /// A run whose tasks are taken to last as given, in microseconds; those that `end` ends last 400.
  private func run(
    _ parallel: UInt64, wall: Int64 = 400, maxFailures: Int = 0, _ fill: (inout PlanMaker) -> Void
  ) throws -> EngineHarness {
    var maker = PlanMaker()
    fill(&maker)
    var run = EngineHarness(
      try maker.make(), parallel: parallel, maxFailures: maxFailures, prefetches: true,
      expectedWall: wall)
    run.settle()
    return run
  }

  private func manyTasks(_ count: Int) -> (inout PlanMaker) -> Void {
    { maker in for index in 0..<count { maker.add("t\(index)") } }
  }

  private func aheadCounts(_ run: EngineHarness) -> [Int] { run.ahead.values.map(\.count).sorted() }

  @Test(
    arguments: [(50, 8), (1000, 8), (2000, 4), (3000, 2), (5000, 1), (19_000, 1), (20_000, 0)]
      as [(Int64, Int)]
  )
  func `the shorter the tasks, the more of them are prefetched`(wall: Int64, count: Int) throws {
    let run = try run(1, wall: wall, manyTasks(100))
    #expect(aheadCounts(run) == (count == 0 ? [] : [count]))
  }

  @Test func `half of what is ready stays for whoever is first without work`() throws {
    let run = try run(2, manyTasks(18))
    // Of 16 that wait, each of two workers gets a quarter at most.
    #expect(aheadCounts(run).allSatisfy { (2...4).contains($0) })
  }

  @Test func `all that was handed ahead comes back when the one before fails`() throws {
    var run = try run(1, manyTasks(40))
    run.end("t0", exit: 1)
    let back = run.journal.filter { $0.event == .interrupt && $0.outcome.reason == .revoked }
    #expect(back.count == 8)
    run.finish()
    #expect(run.order.filter { $0 == "t1" }.count == 2)
    #expect(run.started.allSatisfy { $0.attempt == 1 })
    #expect(run.close?.exitCode == 1)
  }

  @Test func `an idle worker gets what another one has ahead`() throws {
    var run = try run(2) {
      $0.add("a")
      $0.add("b")
      for index in 0..<8 { $0.add("t\(index)") }
    }
    #expect(run.runningNames == ["a", "b"])
    #expect(aheadCounts(run).allSatisfy { $0 > 0 })
    // While the task of one lasts, all others go through the other one.
    while let next = run.runningNames.first(where: { $0 != "b" }) { run.end(next) }
    #expect(run.runningNames == ["b"])
    #expect((0..<8).allSatisfy { run.state("t\($0)") == .succeeded })
    #expect(run.journal.contains { $0.outcome.reason == .revoked })
  }

  @Test func `nothing is handed ahead behind a task whose end makes a better one ready`() throws {
    let run = try run(1) {
      $0.add("c0")
      for index in 1..<40 { $0.add("c\(index)", needs: ["c\(index - 1)"]) }
      for index in 0..<20 { $0.add("t\(index)") }
    }
    #expect(run.order == ["c0"])
  }

  @Test func `a better one that is hardly better waits behind prefetched tasks`() throws {
    var run = try run(2) {
      for chain in 0..<20 {
        $0.add("c\(chain).0")
        for index in 1..<30 + chain % 2 {
          $0.add("c\(chain).\(index)", needs: ["c\(chain).\(index - 1)"])
        }
      }
    }
    #expect(run.ahead.values.contains { !$0.isEmpty })
    run.finish()
    // At the very end the last ones are distributed again.
    #expect(run.journal.filter { $0.outcome.reason == .revoked }.count < 12)
  }

  @Test func `prefetched tasks come back for a more urgent task`() throws {
    var run = try run(2) {
      $0.add("gate") { $0.priority = 1 }
      $0.add("other") { $0.priority = 1 }
      $0.add("urgent", needs: ["gate", "other"]) { $0.priority = 4 }
      for index in 0..<40 { $0.add("t\(index)") }
    }
    #expect(run.runningNames == ["gate", "other"])
    run.end("gate")
    run.end("other")
    #expect(run.order.prefix { $0 != "urgent" }.filter { $0.hasPrefix("t") }.count < 20)
    #expect(run.journal.contains { $0.outcome.reason == .revoked })
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  // MARK: Rest

  @Test func `the coordinator rests while every worker has more than enough before it`() throws {
    let run = try run(2, manyTasks(100))
    // Seven of eight, 400 us each, half of that, two milliseconds at most.
    #expect(run.own.restNanoseconds == 1_400_000)
    let longer = try self.run(2, wall: 900, manyTasks(100))
    #expect(longer.own.restNanoseconds == 2_000_000)
    let shorter = try self.run(2, wall: 100, manyTasks(100))
    #expect(shorter.own.restNanoseconds == 350_000)
  }

  @Test func `it does not rest while a worker has nothing ahead, nor for long tasks`() throws {
    #expect(try run(2, manyTasks(3)).own.restNanoseconds == 0)
    #expect(try run(2, wall: 5000, manyTasks(100)).own.restNanoseconds == 0)
    #expect(try run(2, wall: 30_000, manyTasks(100)).own.restNanoseconds == 0)
    // A place is free: what becomes ready is to start at once.
    let roomy = try run(4) {
      $0.add("wide") { $0.demand = [(0, 3)] }
      for index in 0..<40 { $0.add("t\(index)") { $0.demand = [(0, 2)] } }
    }
    #expect(roomy.own.restNanoseconds == 0)
  }

  @Test func `it does not rest while it waits for tasks to come back, nor while it stops`() throws {
    var run = try run(1, manyTasks(40))
    #expect(run.own.restNanoseconds > 0)
    run.tell(.suspend)
    #expect(run.own.restNanoseconds == 0)
    run.tell(.proceed)
    run.tell(.stop(.request))
    #expect(run.own.restNanoseconds == 0)
  }
}
