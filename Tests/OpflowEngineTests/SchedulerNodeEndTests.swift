import Fixtures
import OpflowEngine
import OpflowJournal
import OpflowPlan
import Testing

/// Machines whose time comes to its end while tasks run there.
@Suite struct SchedulerNodeEndTests {
  private func run(_ fill: (inout PlanMaker) -> Void) throws -> EngineHarness {
    var maker = PlanMaker()
    fill(&maker)
    return EngineHarness(try maker.make(), parallel: 4, maxFailures: 0, usesNodes: true)
  }

  private func offer(cpu: UInt64 = 1, seconds: Int64?, of run: EngineHarness) -> NodeOffer {
    NodeOffer(
      cpu: cpu, memoryBytes: .max,
      endsAt: seconds.map { run.now.advanced(byMilliseconds: $0 * 1000) })
  }

  private func interruptions(_ run: EngineHarness) -> [EndReason?] {
    run.journal.filter { $0.event == .interrupt }.map(\.outcome.reason)
  }

  @Test func `what runs is stopped so early that the longest grace is over in time`() throws {
    var run = try run {
      $0.add("quick") { $0.policy.stopGraceMilliseconds = 2000 }
      $0.add("slow") { $0.policy.stopGraceMilliseconds = 30_000 }
      $0.add("later") { $0.policy.stopGraceMilliseconds = 2000 }
    }
    run.join(1, offer(cpu: 2, seconds: 100, of: run))
    run.wait(milliseconds: 69_999)
    #expect(run.places == ["quick": 1, "slow": 1])
    #expect(!run.own.isOver(NodeID(1)))
    run.wait(milliseconds: 1)
    #expect(run.places == [:])
    #expect(run.nodeStates == ["1 joined", "1 leaving"])
    #expect(interruptions(run) == [.stopped(.timeOver), .stopped(.timeOver)])
    #expect(run.own.isOver(NodeID(1)))
    // A resume finds all unfinished tasks.
    run.lose(1)
    run.tell(.nodesExhausted(complaint: "the time of the allocation has run out"))
    #expect(run.close?.exitCode == 143)
    #expect(run.state("slow") == .ready)
    #expect(run.state("later") == .ready)
  }

  @Test func `with nothing of a long grace there is more time, and at last nothing starts`() throws
  {
    var run = try run {
      $0.add("a") { $0.policy.stopGraceMilliseconds = 2000 }
      $0.add("b") { $0.policy.stopGraceMilliseconds = 2000 }
    }
    run.join(1, offer(seconds: 100, of: run))
    run.wait(milliseconds: 97_900)
    #expect(run.places == ["a": 1])
    run.end("a")
    #expect(run.places == ["b": 1])
    run.wait(milliseconds: 100)
    #expect(run.places == [:])
    #expect(run.state("a") == .succeeded)
    #expect(run.state("b") == .ready)
  }

  @Test func `what was stopped runs elsewhere, where time is left, and that costs it nothing`()
    throws
  {
    var run = try run { $0.add("a") }
    run.join(1, offer(seconds: 100, of: run))
    run.join(2, offer(seconds: nil, of: run))
    #expect(run.places == ["a": 1])
    run.wait(milliseconds: 95_000)
    #expect(run.places == ["a": 2])
    #expect(interruptions(run) == [.stopped(.timeOver)])
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  @Test func `a node on which nothing can start any more is over though nothing ran there`()
    throws
  {
    var run = try run {
      $0.add("a") { $0.isLocal = true }
      $0.add("b", needs: ["a"])
    }
    run.join(1, offer(seconds: 100, of: run))
    run.wait(milliseconds: 95_000)
    #expect(run.nodeStates == ["1 joined", "1 leaving"])
    #expect(run.own.isOver(NodeID(1)))
    run.end("a")
    #expect(run.places == [:])
  }

  @Test func `a limit that changes is heeded`() throws {
    var run = try run { maker in for name in ["a", "b"] { maker.add(name) } }
    run.join(1, offer(cpu: 2, seconds: 100, of: run))
    #expect(run.places == ["a": 1, "b": 1])
    run.tell(.nodeEnds(NodeID(1), run.now.advanced(byMilliseconds: 1_000_000)))
    run.wait(milliseconds: 900_000)
    #expect(run.places == ["a": 1, "b": 1])
    run.tell(.nodeEnds(NodeID(1), nil))
    run.wait(milliseconds: 900_000)
    #expect(run.places == ["a": 1, "b": 1])
    run.tell(.nodeEnds(NodeID(1), run.now.advanced(byMilliseconds: 4000)))
    run.obeyAll()
    #expect(run.places == [:])
    #expect(run.nodeStates == ["1 joined", "1 leaving"])
  }

  @Test func `where there is little time a task has half of it before it is stopped`() throws {
    var run = try run { $0.add("a") { $0.policy.stopGraceMilliseconds = 60_000 } }
    run.join(1, offer(seconds: 20, of: run))
    run.wait(milliseconds: 9999)
    #expect(run.places == ["a": 1])
    run.wait(milliseconds: 1)
    #expect(run.places == [:])
  }

  @Test func `a task that is not to be interrupted fails when the time of its node is over`()
    throws
  {
    var run = try run { $0.add("a") { $0.flags = .failWhenInterrupted } }
    run.join(1, offer(seconds: 100, of: run))
    #expect(run.places == ["a": 1])
    run.wait(milliseconds: 95_000)
    #expect(run.state("a") == .failed)
  }

  @Test func `the session stops before the coordinator's own node does`() throws {
    var run = try run {
      $0.add("there")
      $0.add("here") {
        $0.isLocal = true
        $0.policy.stopGraceMilliseconds = 20_000
      }
    }
    run.join(1, offer(seconds: nil, of: run))
    #expect(run.places == ["there": 1, "here": 0])
    run.tell(.nodeEnds(.local, run.now.advanced(byMilliseconds: 100_000)))
    run.wait(milliseconds: 79_999)
    #expect(run.places.count == 2)
    run.wait(milliseconds: 1)
    #expect(run.close?.exitCode == 143)
    #expect(
      run.stops.map(\.detail) == ["the time limit of the node that opflow runs on is near"])
  }

  /// `big` is for the first machine, which has not the time left that it may take; the second one
  /// is too small.
  private func runWithoutTime() throws -> EngineHarness {
    var run = try run {
      $0.add("go") { $0.isLocal = true }
      $0.add("big", needs: ["go"]) {
        $0.demand = [(0, 2)]
        $0.policy.timeoutMilliseconds = 50_000
      }
    }
    run.join(1, offer(cpu: 2, seconds: 100, of: run))
    run.join(2, offer(seconds: nil, of: run))
    run.settle()
    run.wait(milliseconds: 60_000)
    run.end("go")
    #expect(run.places == [:])
    return run
  }

  @Test func `what waits for time runs elsewhere once the node that it is for leaves`() throws {
    var run = try runWithoutTime()
    run.tell(.nodeLeaving(NodeID(1), complaint: "it is preempted"))
    #expect(run.places == ["big": 2])
  }

  @Test func `what waits for time runs elsewhere once the node that it is for is lost`() throws {
    var run = try runWithoutTime()
    run.lose(1)
    run.tell(.nodesExhausted(complaint: "there are no more"))
    #expect(run.places == ["big": 2])
    #expect(run.stops.isEmpty)
  }
}
