import Fixtures
import OpflowEngine
import OpflowJournal
import OpflowPlan
import Testing

/// Tasks on nodes, and changes during the run.
@Suite struct SchedulerNodeTests {
  /// A run whose tasks go to other machines, which are still to join.
  private func run(
    parallel: UInt64 = 4, maxFailures: Int = 0, _ fill: (inout PlanMaker) -> Void
  ) throws -> EngineHarness {
    var maker = PlanMaker()
    fill(&maker)
    return EngineHarness(
      try maker.make(), parallel: parallel, maxFailures: maxFailures, usesNodes: true)
  }

  private func join(_ run: inout EngineHarness, _ number: Int32, cpu: UInt64, memory: UInt64 = .max)
  {
    run.join(number, NodeOffer(cpu: cpu, memoryBytes: memory))
    run.settle()
  }

  private func lose(_ run: inout EngineHarness, _ number: Int32) { run.lose(number) }

  private func places(_ run: inout EngineHarness) -> [String: Int32] { run.places }

  // MARK: Where a task runs

  @Test func `tasks wait until a node joins, then spread over all by load`() throws {
    var run = try run { maker in for index in 0..<4 { maker.add("t\(index)") } }
    run.settle()
    #expect(run.started.isEmpty)
    join(&run, 1, cpu: 1)
    #expect(places(&run) == ["t0": 1])
    join(&run, 2, cpu: 2)
    join(&run, 3, cpu: 2)
    #expect(places(&run) == ["t0": 1, "t1": 2, "t2": 2, "t3": 3])
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  @Test func `what all nodes together may do is a limit of its own`() throws {
    var maker = PlanMaker()
    for index in 0..<6 { maker.add("t\(index)") }
    maker.add("wide") { $0.demand = [(0, 8)] }
    var run = EngineHarness(
      try maker.make(), parallel: 3, maxFailures: 0, usesNodes: true, wholeParallel: 3)
    join(&run, 1, cpu: 4)
    join(&run, 2, cpu: 4)
    #expect(run.started.count == 3)
    run.end("t0")
    #expect(run.started.count == 4)
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  @Test func `a task runs where what it needs ran, while that is free`() throws {
    var run = try run {
      $0.add("b")
      $0.add("long")
      $0.add("after b", needs: ["b"])
    }
    join(&run, 1, cpu: 2)
    join(&run, 2, cpu: 4)
    #expect(places(&run) == ["b": 1, "long": 1])
    run.end("b")
    #expect(places(&run) == ["after b": 1, "long": 1])
  }

  @Test func `downloads, finally tasks and local ones stay on the coordinator's node`() throws {
    var run = try run {
      $0.add("a")
      $0.add("here") { $0.isLocal = true }
      $0.addDownload("file")
      $0.add("last") { $0.flags = .finally }
    }
    #expect(places(&run) == ["here": 0, "file": 0])
    join(&run, 1, cpu: 4)
    #expect(places(&run) == ["a": 1, "here": 0, "file": 0])
    run.end("here")
    run.end("a")
    run.end("file")
    #expect(places(&run) == ["last": 0])
  }

  @Test func `what fits no node is cut to the largest, and waits for that one`() throws {
    var run = try run {
      $0.add("small")
      $0.add("big") { $0.demand = [(0, 64)] }
    }
    join(&run, 1, cpu: 2)
    join(&run, 2, cpu: 4)
    #expect(places(&run) == ["small": 1, "big": 2])
    lose(&run, 2)
    // The rest is too small beside the other task.
    #expect(places(&run)["big"] == nil)
    run.end("small")
    #expect(places(&run) == ["big": 1])
  }

  @Test func `a named resource is the run's, not a node's`() throws {
    var run = try run { maker in
      maker.resources = [("db", 1)]
      for index in 0..<3 { maker.add("t\(index)") { $0.demand = [(0, 1), (3, 1)] } }
    }
    join(&run, 1, cpu: 4)
    join(&run, 2, cpu: 4)
    #expect(places(&run).count == 1)
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  // MARK: Coming and going

  @Test func `a node of which nobody knows what it has tells it by its first worker`() throws {
    var run = try run { maker in for index in 0..<8 { maker.add("t\(index)") } }
    run.cores[NodeID(1)] = 3
    run.join(1, nil)
    run.settle()
    #expect(places(&run).count == 3)
  }

  @Test func `a first worker that is lost is followed by another, three times`() throws {
    var run = try run { $0.add("a") }
    run.join(1, nil)
    for _ in 0..<3 {
      let last = run.launched.popLast()
      let worker = try #require(last)
      run.tell(.workerLost(worker, complaint: "it is gone"))
    }
    #expect(run.launched.isEmpty)
    #expect(run.nodeStates == ["1 joined", "1 shunned"])
    #expect(run.state("a") == .ready)
    // The task is not affected.
    join(&run, 2, cpu: 1)
    #expect(places(&run) == ["a": 2])
  }

  @Test func `what only a node has whose workers do not come up is cut to the others`() throws {
    var run = try run { $0.add("big") { $0.demand = [(0, 8)] } }
    run.join(1, NodeOffer(cpu: 8, memoryBytes: .max))
    run.join(2, NodeOffer(cpu: 2, memoryBytes: .max))
    for _ in 0..<3 {
      let last = run.launched.popLast()
      let worker = try #require(last)
      #expect(run.nodes[worker] == NodeID(1))
      run.tell(.workerLost(worker, complaint: "it is gone"))
    }
    #expect(places(&run) == ["big": 2])
  }

  @Test func `what ran on a node that is lost runs on another one`() throws {
    var run = try run { maker in for index in 0..<3 { maker.add("t\(index)") } }
    join(&run, 1, cpu: 3)
    #expect(places(&run).count == 3)
    join(&run, 2, cpu: 2)
    lose(&run, 1)
    #expect(Set(places(&run).values) == [2])
    #expect(run.running.count == 2)
    let lost = run.journal.filter { $0.event == .interrupt }
    #expect(lost.count == 3)
    #expect(lost.allSatisfy { $0.detail == "its machine is gone" })
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  // MARK: Capacities and priorities

  @Test func `a capacity that is lowered drains, and one that is raised starts more`() throws {
    var maker = PlanMaker()
    for index in 0..<10 { maker.add("t\(index)") }
    var run = EngineHarness(try maker.make(), parallel: 4)
    #expect(run.runningNames.count == 4)
    run.tell(.capacity(resource: 0, 2))
    run.end("t0")
    run.end("t1")
    #expect(run.runningNames == ["t2", "t3"])
    run.end("t2")
    #expect(run.runningNames == ["t3", "t4"])
    run.tell(.capacity(resource: 0, 5))
    #expect(run.runningNames.count == 5)
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  @Test func `a capacity that is raised brings as many workers as it asks for`() throws {
    var maker = PlanMaker()
    for index in 0..<20 { maker.add("t\(index)") }
    var run = EngineHarness(try maker.make(), parallel: 1)
    #expect(run.runningNames.count == 1)
    run.tell(.capacity(resource: 0, 12))
    #expect(run.runningNames.count == 12)
  }

  @Test func `requests for cpu are cut to the present capacity, and given back as taken`() throws {
    var maker = PlanMaker()
    for index in 0..<3 { maker.add("t\(index)") { $0.demand = [(0, 4)] } }
    var run = EngineHarness(try maker.make(), parallel: 4)
    #expect(run.runningNames == ["t0"])
    run.tell(.capacity(resource: 0, 2))
    #expect(run.runningNames == ["t0"])
    run.end("t0")
    #expect(run.runningNames == ["t1"])
    run.tell(.capacity(resource: 0, 8))
    #expect(run.runningNames == ["t1", "t2"])
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  @Test func `a named resource that is lowered is waited for, and holds nobody else back`() throws {
    var maker = PlanMaker()
    maker.resources = [("db", 2)]
    maker.add("both") { $0.demand = [(0, 1), (3, 2)] }
    maker.add("one") { $0.demand = [(0, 1), (3, 1)] }
    maker.add("none")
    var run = EngineHarness(try maker.make(), parallel: 1)
    #expect(run.runningNames == ["both"])
    run.tell(.capacity(resource: 3, 0))
    run.end("both")
    #expect(run.runningNames == ["none"])
    run.end("none")
    #expect(run.runningNames.isEmpty)
    #expect(run.close == nil)
    run.tell(.capacity(resource: 3, 1))
    #expect(run.runningNames == ["one"])
  }

  @Test func `a priority that changes is inherited by what is waited for`() throws {
    var maker = PlanMaker()
    for index in 0..<4 { maker.add("t\(index)") }
    maker.add("need")
    maker.add("late", needs: ["need"])
    var run = EngineHarness(try maker.make(), parallel: 1)
    // The longest path goes first.
    #expect(run.runningNames == ["need"])
    let task = try #require(run.plan.task(named: "t3"))
    run.tell(.prioritise([TaskPriority(task: task, priority: 1)]))
    run.end("need")
    #expect(run.runningNames == ["t3"])
    run.end("t3")
    let late = try #require(run.plan.task(named: "late"))
    run.tell(.prioritise([TaskPriority(task: late, priority: -1)]))
    run.finish()
    #expect(run.order.last == "late")
  }
}
