import Fixtures
import OpflowEngine
import OpflowJournal
import OpflowPlan
import Testing

/// GPUs of machines: each task has its own.
@Suite struct SchedulerDeviceTests {
  private static let gpu: UInt32 = 4

  private func run(
    gpus: UInt64, usesNodes: Bool = false, prefetches: Bool = false,
    _ fill: (inout PlanMaker) -> Void
  ) throws -> EngineHarness {
    var maker = PlanMaker()
    maker.resources = [("db", 2), ("gpu", 0)]
    fill(&maker)
    return EngineHarness(
      try maker.make(), parallel: 8, maxFailures: 0, prefetches: prefetches, usesNodes: usesNodes,
      expectedWall: prefetches ? 100 : nil, gpus: gpus)
  }

  private func offer(_ gpus: UInt64) -> NodeOffer {
    NodeOffer(cpu: 8, memoryBytes: .max, gpus: gpus)
  }

  @Test func `each task has as many GPUs of its own as it wants`() throws {
    var run = try run(gpus: 3) { maker in
      for index in 0..<3 { maker.add("t\(index)") { $0.demand = [(0, 1), (Self.gpu, 1000)] } }
      maker.add("two") { $0.demand = [(0, 1), (Self.gpu, 2000)] }
      maker.add("none")
    }
    #expect(run.runningNames == ["none", "t0", "t1", "t2"])
    #expect(run.devices == ["t0": [0], "t1": [1], "t2": [2]])
    run.end("t1")
    #expect(run.runningNames == ["none", "t0", "t2"])
    run.end("t0")
    #expect(run.devices["two"] == [0, 1])
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  @Test func `prefetched tasks take over the GPUs of what is before it`() throws {
    var run = try run(gpus: 1, prefetches: true) { maker in
      for index in 0..<4 { maker.add("t\(index)") { $0.demand = [(0, 1), (Self.gpu, 1000)] } }
    }
    run.settle()
    #expect(run.ahead.values.contains { $0.count > 0 })
    run.finish()
    #expect(run.devices.count == 4)
    #expect(run.devices.values.filter { $0 != [0] }.isEmpty)
    #expect(run.close?.exitCode == 0)
  }

  @Test func `with further machines GPUs are each machine's`() throws {
    var run = try run(gpus: 0, usesNodes: true) { maker in
      for index in 0..<3 { maker.add("t\(index)") { $0.demand = [(0, 1), (Self.gpu, 2000)] } }
      maker.add("other")
    }
    run.join(1, offer(0))
    #expect(run.places == ["other": 1])
    run.join(2, offer(3))
    run.join(3, offer(2))
    #expect(run.places == ["other": 1, "t0": 2, "t1": 3])
    #expect(run.devices == ["t0": [0, 1], "t1": [0, 1]])
    run.lose(2)
    run.end("t1")
    #expect(run.places["t0"] == 3)
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  @Test func `a task that needs more GPUs than any node had fails when no other node comes`() throws
  {
    var run = try run(gpus: 0, usesNodes: true) { maker in
      maker.add("big") { $0.demand = [(0, 1), (Self.gpu, 4000)] }
      maker.add("small") { $0.demand = [(0, 1), (Self.gpu, 1000)] }
      maker.add("after", needs: ["big"])
    }
    run.join(1, offer(2))
    #expect(run.places == ["small": 1])
    #expect(run.state("big") == .ready)
    run.tell(.nodesExhausted(complaint: "this is all there is"))
    #expect(run.state("big") == .failed)
    #expect(run.state("after") == .skipped)
    let failure = try #require(run.journal.last { $0.event == .failure })
    #expect(failure.detail == "it needs 4 GPUs; no node of the run has more than 2")
    run.finish()
    #expect(run.close?.exitCode == 1)
  }

  @Test func `a task that needs more GPUs than any node has fails once all nodes are known`()
    throws
  {
    var run = try run(gpus: 0, usesNodes: true) { maker in
      maker.add("big") { $0.demand = [(0, 1), (Self.gpu, 3000)] }
      maker.add("small") { $0.demand = [(0, 1), (Self.gpu, 1000)] }
    }
    run.join(1, offer(2))
    #expect(run.places == ["small": 1])
    #expect(run.state("big") == .ready)
    run.tell(.nodesKnown)
    #expect(run.state("big") == .failed)
    let failure = try #require(run.journal.last { $0.event == .failure })
    #expect(failure.detail == "it needs 3 GPUs; no node of the run has more than 2")
    // Running tasks are not affected, and the node may be lost and come back.
    #expect(run.places == ["small": 1])
    run.lose(1)
    #expect(run.state("small") == .ready)
    run.join(2, offer(2), machine: 1)
    #expect(run.places == ["small": 2])
    run.finish()
    #expect(run.close?.exitCode == 1)
  }

  @Test func `that all machines are known stops nothing while one of them is lost`() throws {
    var run = try run(gpus: 0, usesNodes: true) {
      $0.add("a") { $0.demand = [(0, 1), (Self.gpu, 2000)] }
    }
    run.join(1, offer(2))
    run.tell(.nodesKnown)
    run.lose(1)
    #expect(run.close == nil)
    #expect(run.state("a") == .ready)
  }

  @Test func `what a machine had that is lost is waited for, and left to the resume`() throws {
    var run = try run(gpus: 0, usesNodes: true) {
      $0.add("big") { $0.demand = [(0, 1), (Self.gpu, 4000)] }
    }
    run.join(1, offer(4))
    #expect(run.places == ["big": 1])
    run.join(2, offer(1))
    run.lose(1)
    run.tell(.nodesExhausted(complaint: "this is all there is"))
    #expect(run.close?.exitCode == 143)
    #expect(run.state("big") == .ready)
  }

  @Test func `GPUs only on a node with too little time stop the session if no other node comes`()
    throws
  {
    var run = try run(gpus: 0, usesNodes: true) {
      $0.add("big") {
        $0.demand = [(0, 1), (Self.gpu, 2000)]
        $0.policy.timeoutMilliseconds = 60_000
      }
    }
    var short = offer(2)
    short.endsAt = run.now.advanced(byMilliseconds: 70_000)
    run.join(1, offer(0))
    run.join(2, short)
    #expect(run.places == ["big": 2])
    run.now = run.now.advanced(byMilliseconds: 20_000)
    run.loseWorker(of: "big")
    #expect(run.places == [:])
    run.tell(.nodesExhausted(complaint: "this is all there is"))
    #expect(run.close?.exitCode == 143)
  }

  @Test
  func `what comes to run after all where this machine has too few fails, and holds up nobody`()
    throws
  {
    var run = try run(gpus: 1) { maker in
      maker.add("big") { $0.demand = [(0, 1), (Self.gpu, 2000)] }
      maker.add("small") { $0.demand = [(0, 1), (Self.gpu, 1000)] }
    }
    #expect(run.runningNames == ["small"])
    #expect(run.state("big") == .failed)
    #expect(
      run.journal.first { $0.event == .failure }?.detail
        == "it needs 2 GPUs; this machine has 1")
    run.finish()
    #expect(run.close?.exitCode == 1)
  }

  @Test func `GPUs are lent by their places, and more than there are by no request`() throws {
    var run = try run(gpus: 2) { $0.add("a") { $0.demand = [(0, 1), (Self.gpu, 1000)] } }
    let id = try #require(RequestID("one"))
    let request = ControlRequest(
      id: id, requester: Requester(pid: 1, user: 0, name: "opflow"),
      verb: .parallel,
      value: .capacity(resource: Int(Self.gpu), 3000))
    run.tell(.request(request, from: ConnectionID(1)))
    #expect(run.answers == [.refused(detail: "this machine has only 2 GPUs")])
  }

  @Test func `GPUs of a machine that the coordinator is on as well are counted once`() throws {
    var run = try run(gpus: 2, usesNodes: true) { maker in
      maker.add("two") { $0.demand = [(0, 1), (Self.gpu, 2000)] }
      for index in 0..<3 {
        maker.add("here\(index)") {
          $0.demand = [(0, 1), (Self.gpu, 1000)]
          $0.isLocal = true
        }
      }
      maker.add("far") { $0.demand = [(0, 1), (Self.gpu, 1000)] }
    }
    // Tasks have both before the machine joins.
    #expect(run.places == ["here0": 0, "here1": 0])
    run.join(1, offer(2), devicesHere: [0, 1])
    #expect(run.places == ["here0": 0, "here1": 0])
    run.end("here0")
    // It came first, and would never have both while others take what becomes free.
    #expect(run.places == ["here1": 0])
    run.end("here1")
    #expect(run.places == ["two": 1])
    run.end("two")
    #expect(run.places == ["here2": 0, "far": 1])
    #expect(run.devices["here2"] != run.devices["far"])
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  @Test func `of GPUs that a machine has in part, that part is counted once`() throws {
    var run = try run(gpus: 2, usesNodes: true) { maker in
      for index in 0..<2 {
        maker.add("here\(index)") {
          $0.demand = [(0, 1), (Self.gpu, 1000)]
          $0.isLocal = true
        }
        maker.add("far\(index)") { $0.demand = [(0, 1), (Self.gpu, 1000)] }
      }
    }
    // Its first one is the coordinator's second, and its second one nobody else's.
    run.join(1, offer(2), devicesHere: [1, nil])
    #expect(run.places == ["here0": 0, "here1": 0, "far0": 1])
    #expect(run.devices["far0"] == [1])
    run.end("here1")
    #expect(run.places == ["here0": 0, "far0": 1, "far1": 1])
    #expect(run.devices["far1"] == [0])
    // All that it had is free here again.
    run.lose(1)
    #expect(run.places == ["here0": 0])
    run.join(2, offer(2), machine: 1, devicesHere: [1, nil])
    #expect(run.places == ["here0": 0, "far0": 2, "far1": 2])
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  @Test func `places are taken from the first on, and given back`() {
    var taken = DeviceSet()
    #expect(taken.takeFirstMissing(2).numbers == [0, 1])
    let third = taken.takeFirstMissing(1)
    taken.subtract(DeviceSet([0]))
    #expect(taken.takeFirstMissing(2).numbers == [0, 3])
    #expect(!taken.isDisjoint(with: third))
    #expect(DeviceSet(0..<100).count == 64)
    var all = DeviceSet(0..<64)
    #expect(all.takeFirstMissing(1).isEmpty)
  }
}
