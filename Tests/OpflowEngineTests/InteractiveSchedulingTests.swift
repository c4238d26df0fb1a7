import Fixtures
import OpflowEngine
import OpflowJournal
import OpflowPlan
import Testing

/// `interactive: true`: one task has the terminal at a time, and nobody else waits for that.
struct InteractiveSchedulingTests {
  private func plan(_ build: (inout PlanMaker) -> Void) throws -> Plan {
    var maker = PlanMaker()
    build(&maker)
    return try maker.make()
  }

  @Test(arguments: [false, true])
  func `two never run at once, and others of the same demand pass the one that waits`(
    usesNodes: Bool
  ) throws {
    var run = EngineHarness(
      try plan {
        for name in ["a", "b"] {
          $0.add(name) {
            $0.flags = .interactive
            $0.priority = 9
          }
        }
        for name in ["c", "d", "e"] { $0.add(name) }
      }, parallel: 2, prefetches: true, usesNodes: usesNodes)
    if usesNodes {
      run.tell(
        .nodeJoined(
          NodeID(1), NodeOffer(cpu: 2, memoryBytes: 1 << 30), NodeIdentity(machine: 1, host: "far"))
      )
    }
    #expect(run.runningNames.contains("a"))
    #expect(!run.runningNames.contains("b"))
    for name in ["c", "d", "e"] {
      #expect(run.runningNames.contains(name), "\(name) waits for the terminal")
      run.end(name)
    }
    #expect(run.runningNames == ["a"])
    run.end("a")
    #expect(run.runningNames == ["b"])
    run.end("b")
    #expect(run.close?.exitCode == 0)
  }

  @Test func `it is not prefetched`() throws {
    var run = EngineHarness(
      try plan {
        for name in ["a", "b", "c"] { $0.add(name) { $0.flags = .interactive } }
      }, parallel: 4, prefetches: true, expectedWall: 1)
    for name in ["a", "b", "c"] {
      #expect(run.runningNames == [name])
      #expect(run.ahead.values.joined().isEmpty)
      run.end(name)
    }
    #expect(run.close?.exitCode == 0)
  }

  @Test func `a plan that denies its interactive tasks, or has a download among them, is refused`()
    throws
  {
    var maker = PlanMaker()
    maker.add("a") { $0.flags = .interactive }
    let plan = try Plan(copying: maker.bytes())
    #expect(throws: Never.self) { try plan.validate() }
    #expect(plan.hasInteractive)
    var downloads = PlanMaker()
    downloads.addDownload("a")
    downloads.tasks[0].flags = .interactive
    let mixed = try Plan(copying: downloads.bytes())
    #expect(throws: PlanError.self) { try mixed.validate() }
  }
}
