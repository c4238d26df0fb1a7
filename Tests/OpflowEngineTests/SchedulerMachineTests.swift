import Fixtures
import OpflowEngine
import OpflowJournal
import OpflowPlan
import Testing

/// Machines that leave, lose what runs on them, or have no time left.
@Suite struct SchedulerMachineTests {
  private func run(
    parallel: UInt64 = 4, took: [String: Int64] = [:], prefetches: Bool = false,
    _ fill: (inout PlanMaker) -> Void
  ) throws -> EngineHarness {
    var maker = PlanMaker()
    fill(&maker)
    let plan = try maker.make()
    let measured = plan.tasks.map { took[plan.nameString(TaskID($0))] ?? -1 }
    return EngineHarness(
      plan, parallel: parallel, maxFailures: 0, prefetches: prefetches, usesNodes: true,
      expectedWall: prefetches ? 100 : nil,
      durations: TaskDurations(measured: measured, plan: plan))
  }

  private let offer = NodeOffer(cpu: 1, memoryBytes: .max)

  private func offer(cpu: UInt64 = 1, seconds: Int64, of run: EngineHarness) -> NodeOffer {
    NodeOffer(
      cpu: cpu, memoryBytes: .max, endsAt: run.now.advanced(byMilliseconds: seconds * 1000))
  }

  private func losses(_ run: EngineHarness) -> Int {
    run.journal.count { $0.event == .interrupt && $0.outcome.reason == .workerLost }
  }

  // MARK: Leaving

  @Test func `nothing new starts on a node that leaves, and what is lost there costs nothing`()
    throws
  {
    var run = try run { maker in for index in 0..<4 { maker.add("t\(index)") } }
    run.join(1, NodeOffer(cpu: 2, memoryBytes: .max))
    #expect(run.places == ["t0": 1, "t1": 1])
    run.tell(.nodeLeaving(NodeID(1), complaint: "preempted"))
    run.end("t0")
    #expect(run.places == ["t1": 1])
    run.join(2, offer)
    #expect(run.places == ["t1": 1, "t2": 2])
    run.lose(1)
    #expect(run.nodeStates == ["1 joined", "1 leaving", "2 joined", "1 lost"])
    #expect(run.nodeEntries[1].detail == "preempted")
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  @Test(arguments: [
    Outcome(status: .signal(15)), Outcome(status: .exit(143)),
    Outcome(status: .unknown, reason: .interrupted), Outcome(status: .unknown, reason: .refused),
  ])
  func `what ends badly on a node that leaves runs again elsewhere, free of charge`(
    _ outcome: Outcome
  ) throws {
    var run = try run { $0.add("a") }
    for number: Int32 in 1...12 {
      run.join(number, offer)
      #expect(run.places == ["a": number])
      run.tell(.nodeLeaving(NodeID(number), complaint: "preempted"))
      let worker = try #require(run.running.keys.first)
      run.end(worker, outcome)
      #expect(run.places == [:])
      #expect(run.state("a") == .ready)
      run.lose(number)
    }
    #expect(losses(run) == 12)
    #expect(run.journal.last?.detail == "preempted")
    run.join(13, offer)
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  @Test func `a task that is not to be interrupted fails where its node left under it`() throws {
    var run = try run { $0.add("a") { $0.flags = .failWhenInterrupted } }
    run.join(1, offer)
    #expect(run.places == ["a": 1])
    run.tell(.nodeLeaving(NodeID(1), complaint: "preempted"))
    run.lose(1)
    #expect(run.state("a") == .failed)
  }

  @Test func `prefetched tasks come back from a node that leaves`() throws {
    var run = try run(prefetches: true) { maker in for index in 0..<8 { maker.add("t\(index)") } }
    run.join(1, offer)
    #expect(run.places.count == 1)
    #expect(run.ahead.values.contains { !$0.isEmpty })
    run.tell(.nodeLeaving(NodeID(1), complaint: "its time is over"))
    run.settle()
    #expect(run.ahead.values.filter { !$0.isEmpty }.isEmpty)
    run.join(2, offer)
    #expect(run.places.count == 2)
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  // MARK: Losses

  @Test func `a task fails after losses on three different nodes, and never for its retries`()
    throws
  {
    var run = try run { $0.add("a") { $0.policy.retryMax = 5 } }
    for number: Int32 in 1...4 { run.join(number, offer) }
    var seen: [Int32] = []
    while let node = run.places["a"] {
      seen.append(node)
      run.loseWorker(of: "a")
    }
    #expect(Set(seen).count == 3)
    #expect(seen.count == 3)
    #expect(run.state("a") == .failed)
    let last = try #require(run.journal.last { $0.event == .failure })
    #expect(last.outcome.reason == .workerLost)
    #expect(!run.journal.contains { $0.event == .retry })
    // Each machine lost one alone.
    #expect(!run.nodeStates.contains { $0.hasSuffix("shunned") })
  }

  @Test func `a task that was lost waits for another node rather than run on the same one`()
    throws
  {
    var run = try run {
      $0.add("a") { $0.priority = 1 }
      $0.add("b")
    }
    run.join(1, offer)
    run.join(2, offer)
    #expect(run.places == ["a": 1, "b": 2])
    run.loseWorker(of: "a")
    #expect(run.places == ["b": 2])
    run.end("b")
    #expect(run.places == ["a": 2])
  }

  @Test func `losses on one node alone are borne ten times`() throws {
    var run = try run { $0.add("a") }
    run.join(1, offer)
    for _ in 0..<9 {
      #expect(run.places == ["a": 1])
      run.loseWorker(of: "a")
    }
    #expect(run.places == ["a": 1])
    run.loseWorker(of: "a")
    #expect(run.state("a") == .failed)
  }

  @Test func `losses on the coordinator's node are borne as without other ones`() throws {
    var run = try run { $0.add("a") { $0.flags = .interactive } }
    run.join(1, offer)
    for _ in 0..<4 {
      #expect(run.places == ["a": 0])
      run.loseWorker(of: "a")
    }
    #expect(run.state("a") == .failed)
  }

  // MARK: Shunning

  /// Loses a task on machine 1 at two moments, so many milliseconds apart.
  private func loseTwice(_ run: inout EngineHarness, apart milliseconds: Int64) {
    run.loseWorker(of: "t0")
    run.now = run.now.advanced(byMilliseconds: milliseconds)
    run.loseWorker(of: "t1")
  }

  private func runToShun() throws -> EngineHarness {
    var run = try run { maker in
      maker.add("t0") { $0.priority = 3 }
      maker.add("t1") { $0.priority = 2 }
      for index in 2..<8 { maker.add("t\(index)") }
    }
    run.join(1, NodeOffer(cpu: 2, memoryBytes: .max))
    #expect(run.places == ["t0": 1, "t1": 1])
    return run
  }

  @Test
  func `a node that loses tasks twice within a minute gets nothing more, which is said once`()
    throws
  {
    var run = try runToShun()
    run.join(2, offer)
    loseTwice(&run, apart: 59_000)
    #expect(run.nodeStates.filter { $0 == "1 shunned" }.count == 1)
    for name in run.runningNames where run.places[name] == 1 { run.end(name) }
    #expect(Set(run.places.values) == [2])
    // It comes back, and is still the same machine.
    run.lose(1)
    run.join(3, offer, machine: 1)
    #expect(run.nodeStates.suffix(3) == ["1 lost", "3 joined", "3 shunned"])
    #expect(Set(run.places.values) == [2])
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  @Test func `losses a minute apart, or at one moment, shun no node`() throws {
    var run = try runToShun()
    run.join(2, offer)
    loseTwice(&run, apart: 61_000)
    #expect(!run.nodeStates.contains("1 shunned"))
    run.now = run.now.advanced(byMilliseconds: 61_000)
    run.lose(1)
    #expect(!run.nodeStates.contains("1 shunned"))
  }

  @Test func `the last node is used on, and a shunned one again when it is the last`() throws {
    var run = try runToShun()
    loseTwice(&run, apart: 1000)
    #expect(run.nodeStates == ["1 joined"])
    run.join(2, offer)
    run.settle()
    loseTwice(&run, apart: 1000)
    run.lose(2)
    #expect(run.nodeStates.contains("2 lost"))
    #expect(!run.places.isEmpty)
    #expect(Set(run.places.values) == [1])
    run.finish()
    #expect(run.close != nil)
  }

  // MARK: Time

  @Test func `what took longer before than a node has left waits for another one`() throws {
    var run = try run(took: ["long": 100_000_000]) {
      $0.add("long") { $0.priority = 9 }
      for index in 0..<3 { $0.add("t\(index)") }
    }
    run.join(1, offer(seconds: 90, of: run))
    #expect(run.places == ["t0": 1])
    run.join(2, offer(seconds: 110, of: run))
    #expect(run.places == ["t0": 1, "long": 2])
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  @Test func `a timeout keeps a task from a node with less time, unless none has as much`()
    throws
  {
    var run = try run {
      $0.add("a") {
        $0.priority = 9
        $0.policy.timeoutMilliseconds = 60_000
      }
      $0.add("b") { $0.policy.timeoutMilliseconds = 86_400_000 }
    }
    run.join(1, offer(seconds: 90, of: run))
    #expect(run.places == ["a": 1])
    run.now = run.now.advanced(byMilliseconds: 40_000)
    run.loseWorker(of: "a")
    // It would need a minute, and has 50 s; the other one has a limit that says nothing.
    #expect(run.places == ["b": 1])
    run.end("b")
    #expect(run.places == [:])
    #expect(run.close == nil)
    run.join(2, offer)
    #expect(run.places == ["a": 2])
  }

  @Test func `a request about a task that waits for time is obeyed`() throws {
    var run = try run(took: ["long": 100_000_000]) { $0.add("long") }
    run.join(1, offer(seconds: 10, of: run))
    #expect(run.places == [:])
    let id = try #require(RequestID("one"))
    var request = ControlRequest(
      id: id, requester: Requester(pid: 1, user: 0, name: "opflow"), verb: .cancel)
    request.tasks = [TaskID(0)]
    run.tell(.request(request, from: ConnectionID(1)))
    #expect(run.state("long") == .cancelled)
    #expect(run.close?.exitCode == 6)
  }

  // MARK: Nothing left

  @Test func `when no node is left and none comes, the session stops as by SIGTERM`() throws {
    var run = try run {
      $0.add("a")
      $0.add("b", needs: ["a"])
      $0.add("last") { $0.flags = .finally }
    }
    run.tell(.nodesExhausted(complaint: "the job is over"))
    #expect(!run.stops.isEmpty)
    run.finish()
    #expect(run.close?.exitCode == 143)
  }

  @Test func `what runs when the last node leaves ends before the session stops`() throws {
    var run = try run {
      $0.add("a")
      $0.addDownload("file")
      $0.add("b", needs: ["a"])
      $0.add("last") { $0.flags = .finally }
    }
    run.join(1, offer)
    #expect(run.places == ["a": 1, "file": 0])
    run.tell(.nodesExhausted(complaint: "the job is over"))
    run.end("a")
    #expect(run.places == ["b": 1, "file": 0])
    run.lose(1)
    #expect(run.stops.isEmpty)
    run.end("file")
    #expect(
      run.stops == [
        StopEntry(signal: 15, detail: "no node is left for the waiting tasks; the job is over")
      ])
    #expect(run.places == ["last": 0])
    run.end("last")
    #expect(run.close == CloseEntry(state: .interrupted, exitCode: 143, signal: 15))
    #expect(run.state("b") == .ready)
  }

  @Test func `a node that comes although none was to come is used`() throws {
    var run = try run { $0.add("a") }
    run.join(1, offer)
    #expect(run.places == ["a": 1])
    run.tell(.nodesExhausted(complaint: "the job is over"))
    run.join(2, offer)
    run.lose(1)
    #expect(run.places == ["a": 2])
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  @Test func `where only time is lacking and no node comes, the session stops with the reason`()
    throws
  {
    var run = try run(took: ["long": 100_000_000]) {
      $0.add("long") { $0.priority = 1 }
      $0.add("short")
    }
    run.join(1, offer(seconds: 10, of: run))
    run.tell(.nodesExhausted(complaint: "this is all there is"))
    #expect(run.places == ["short": 1])
    run.end("short")
    #expect(
      run.stops.map(\.detail) == [
        "no node has enough time left for task long; this is all there is"
      ])
    #expect(run.close?.exitCode == 143)
  }
}
