import Fixtures
import OpflowEngine
import OpflowJournal
import OpflowPlan
import Testing

/// Services on nodes, with their dependents.
@Suite struct SchedulerServiceNodeTests {
  private func run(
    gpus: UInt64 = 0, durations: TaskDurations = .unknown, _ fill: (inout PlanMaker) -> Void
  ) throws -> EngineHarness {
    var maker = PlanMaker()
    fill(&maker)
    return EngineHarness(
      try maker.make(), parallel: 4, maxFailures: 0, usesNodes: true, durations: durations,
      gpus: gpus)
  }

  /// `ask` needs the service `model`, and both want a GPU.
  private func runOnGPUs() throws -> EngineHarness {
    try run {
      $0.resources = [("gpu", 0)]
      $0.addService("model")
      $0.tasks[0].demand = [(3, 1000)]
      $0.add("ask", needs: ["model"]) { $0.demand = [(0, 1), (3, 1000)] }
    }
  }

  private func join(
    _ run: inout EngineHarness, _ number: Int32, cpu: UInt64, gpus: UInt64 = 0,
    endsAt: Instant? = nil
  ) {
    run.join(
      number, NodeOffer(cpu: cpu, memoryBytes: 1 << 40, gpus: gpus, endsAt: endsAt))
    run.settle()
  }

  /// Ends what runs, but for services, until nothing is left.
  private func finish(_ run: inout EngineHarness) -> Int32? {
    for _ in 0..<100 where run.close == nil {
      run.settle()
      let users = run.running.filter { !run.plan.isService($0.value.0) }
      if let worker = users.keys.min(by: { $0.rawValue < $1.rawValue }) {
        run.end(worker, Outcome(status: .success))
      } else if let service = run.running.values.first.map({ run.plan.nameString($0.0) }) {
        try? run.becomeReady(service)
      }
    }
    return run.close?.exitCode
  }

  // MARK: Where

  @Test func `a service and all that needs it are on one node, and what does not is on any`()
    throws
  {
    var run = try run {
      $0.addService("db")
      $0.add("a", needs: ["db"])
      $0.add("b", needs: ["db"])
      $0.add("free") { $0.priority = -1 }
    }
    run.settle()
    #expect(run.started.isEmpty)
    join(&run, 1, cpu: 2)
    join(&run, 2, cpu: 2)
    try run.becomeReady("db")
    #expect(run.places == ["db": 1, "a": 1, "b": 1, "free": 2])
    #expect(finish(&run) == 0)
  }

  @Test func `groups go where least is held`() throws {
    var run = try run { maker in
      for name in ["x", "y"] {
        maker.addService("\(name) db")
        maker.add("\(name) user", needs: ["\(name) db"])
      }
    }
    join(&run, 1, cpu: 1)
    join(&run, 2, cpu: 1)
    for service in ["x db", "y db"] { try run.becomeReady(service) }
    let places = run.places
    #expect(places["x db"] == places["x user"] && places["y db"] == places["y user"])
    #expect(places["x db"] != places["y db"])
    #expect(finish(&run) == 0)
  }

  @Test func `a task that needs two services ties them together, and so do services`() throws {
    var run = try run {
      $0.addService("db")
      $0.addService("cache")
      $0.addService("api", needs: ["db"])
      $0.add("of db", needs: ["db"])
      $0.add("of api", needs: ["api"])
      $0.add("of both", needs: ["db", "cache"])
    }
    for number in 1...3 { join(&run, Int32(number), cpu: 8) }
    for service in ["db", "api", "cache"] { try run.becomeReady(service) }
    #expect(Set(run.places.values).count == 1 && run.places.count == 6)
    #expect(finish(&run) == 0)
  }

  @Test
  func
    `one that has to stay on the coordinator's node keeps its services there, and what needs them`()
    throws
  {
    var run = try run {
      $0.addService("db")
      $0.add("here", needs: ["db"]) { $0.isLocal = true }
      $0.add("other", needs: ["db"])
      $0.addService("mail")
      $0.add("letter", needs: ["mail"])
      $0.add("last", needs: ["mail"]) { $0.flags = .finally }
      $0.addService("stays")
    }
    join(&run, 1, cpu: 8)
    for service in ["db", "mail", "stays"] { try run.becomeReady(service) }
    #expect(Set(run.places.values) == [0] && run.places.count == 6)
  }

  @Test func `a group is bound where the largest of it fits, though a smaller one starts it`()
    throws
  {
    var run = try run {
      $0.add("go") { $0.isLocal = true }
      $0.addService("db")
      $0.add("small", needs: ["db", "go"])
      $0.add("big", needs: ["db", "small"]) { $0.demand = [(0, 6)] }
    }
    join(&run, 1, cpu: 2)
    join(&run, 2, cpu: 8)
    run.end("go")
    try run.becomeReady("db")
    #expect(run.places == ["db": 2, "small": 2])
    run.end("small")
    #expect(run.places == ["db": 2, "big": 2])
    #expect(finish(&run) == 0)
  }

  @Test func `what fits no node with its services is cut to the largest`() throws {
    var run = try run {
      $0.addService("db")
      $0.add("big", needs: ["db"]) { $0.demand = [(0, 64)] }
      $0.tasks[0].demand = [(0, 1)]
    }
    join(&run, 1, cpu: 2)
    #expect(run.started.map(\.task) == ["db"])
    try run.becomeReady("db")
    #expect(run.places == ["db": 1, "big": 1])
    #expect(finish(&run) == 0)
  }

  // MARK: Losses

  @Test
  func
    `a node that is lost costs its services and their users nothing, and all start elsewhere`()
    throws
  {
    var run = try run {
      $0.addService("db")
      $0.add("user", needs: ["db"])
    }
    join(&run, 1, cpu: 2)
    try run.becomeReady("db")
    #expect(run.places == ["db": 1, "user": 1])
    join(&run, 2, cpu: 2)
    run.lose(1)
    run.settle()
    #expect(run.places == ["db": 2])
    try run.becomeReady("db")
    #expect(run.places == ["db": 2, "user": 2])
    let ends = run.journal.filter { $0.event != .start && $0.event != .ready }
    #expect(ends.allSatisfy { $0.event == .interrupt && $0.outcome.reason == .workerLost })
    #expect(finish(&run) == 0)
  }

  @Test func `nothing starts elsewhere before the loss of a silent node is certain`() throws {
    var run = try run {
      $0.addService("db")
      $0.add("a", needs: ["db"]) { $0.demand = [(0, 2)] }
      $0.add("b", needs: ["db"]) { $0.demand = [(0, 2)] }
    }
    join(&run, 1, cpu: 2)
    try run.becomeReady("db")
    join(&run, 2, cpu: 2)
    #expect(run.places == ["db": 1, "a": 1])
    run.tell(.nodeSilent(NodeID(1), complaint: "no word"))
    run.settle()
    #expect(run.order == ["db", "a"])
    run.lose(1)
    try run.becomeReady("db")
    #expect(run.places == ["db": 2, "a": 2])
  }

  @Test
  func
    `where a node leaves, its services end after their users, and start elsewhere for what is left`()
    throws
  {
    var run = try run {
      $0.addService("db")
      $0.add("a", needs: ["db"]) { $0.demand = [(0, 2)] }
      $0.add("b", needs: ["db"]) { $0.demand = [(0, 2)] }
    }
    join(&run, 1, cpu: 2)
    try run.becomeReady("db")
    join(&run, 2, cpu: 2)
    run.tell(.nodeLeaving(NodeID(1), complaint: "preempted"))
    run.settle()
    #expect(run.places == ["db": 1, "a": 1])
    run.end("a")
    #expect(run.places == ["db": 2])
    try run.becomeReady("db")
    #expect(run.places == ["db": 2, "b": 2])
    #expect(finish(&run) == 0)
    #expect(run.state("db") == .succeeded)
  }

  @Test func `a service that ends on a node which leaves has not ended in use`() throws {
    var run = try run {
      $0.addService("db")
      $0.add("user", needs: ["db"])
    }
    join(&run, 1, cpu: 2)
    try run.becomeReady("db")
    run.tell(.nodeLeaving(NodeID(1), complaint: "preempted"))
    run.end(try #require(run.worker(of: "db")), Outcome(status: .success))
    run.settle()
    join(&run, 2, cpu: 2)
    try run.becomeReady("db")
    #expect(run.places == ["db": 2, "user": 2])
    #expect(finish(&run) == 0)
  }

  @Test func `what waits for its services on a node that leaves is taken elsewhere`() throws {
    var run = try run {
      $0.addService("db")
      $0.add("user", needs: ["db"])
    }
    join(&run, 1, cpu: 2)
    #expect(run.places == ["db": 1])
    join(&run, 2, cpu: 2)
    run.tell(.nodeLeaving(NodeID(1), complaint: "preempted"))
    try run.becomeReady("db")
    #expect(run.places == ["db": 2, "user": 2])
    #expect(finish(&run) == 0)
  }

  // MARK: Moving

  @Test func `a group moves to a node with the GPUs that the rest of it wants`() throws {
    var run = try run {
      $0.resources = [("gpu", 0)]
      $0.addService("db")
      $0.add("plain", needs: ["db"])
      $0.add("learn", needs: ["db"]) { $0.demand = [(0, 1), (3, 2000)] }
    }
    join(&run, 1, cpu: 4)
    try run.becomeReady("db")
    #expect(run.places == ["db": 1, "plain": 1])
    join(&run, 2, cpu: 4, gpus: 2)
    #expect(run.places == ["db": 1, "plain": 1])
    run.end("plain")
    try run.becomeReady("db")
    #expect(run.places == ["db": 2, "learn": 2])
    #expect(finish(&run) == 0)
  }

  @Test
  func `a service that wants GPUs as what needs it does waits for a node that has them all`()
    throws
  {
    var run = try runOnGPUs()
    join(&run, 1, cpu: 4, gpus: 1)
    #expect(run.started.isEmpty)
    join(&run, 2, cpu: 4, gpus: 2)
    try run.becomeReady("model")
    #expect(run.places == ["model": 2, "ask": 2])
    #expect(run.devices["model"] == [0] && run.devices["ask"] == [1])
    #expect(finish(&run) == 0)
  }

  @Test func `where no node comes that has the GPUs of both, the task that wants them fails`()
    throws
  {
    var run = try runOnGPUs()
    join(&run, 1, cpu: 4, gpus: 1)
    run.tell(.nodesExhausted(complaint: "there are no more"))
    run.settle()
    #expect(run.state("ask") == .failed)
    #expect(run.close?.exitCode == 1)
  }

  @Test func `a task that takes longer than a node has left has its service moved`() throws {
    var run = try run {
      $0.addService("db")
      $0.add("short", needs: ["db"])
      $0.add("long", needs: ["db", "short"]) {
        $0.policy = TaskPolicy(timeoutMilliseconds: 50_000)
      }
    }
    join(&run, 1, cpu: 4, endsAt: run.now.advanced(byMilliseconds: 60_000))
    try run.becomeReady("db")
    run.wait(milliseconds: 30_000)
    run.end("short")
    #expect(run.places == ["db": 1])
    join(&run, 2, cpu: 4)
    try run.becomeReady("db")
    #expect(run.places == ["db": 2, "long": 2])
    #expect(finish(&run) == 0)
  }

  @Test
  func `a task whose services take so long that it has no time left waits for another node`()
    throws
  {
    var run = try run {
      $0.addService("db")
      $0.add("long", needs: ["db"]) { $0.policy = TaskPolicy(timeoutMilliseconds: 50_000) }
    }
    join(&run, 1, cpu: 4, endsAt: run.now.advanced(byMilliseconds: 60_000))
    run.settle()
    run.wait(milliseconds: 30_000)
    try run.becomeReady("db")
    #expect(run.order == ["db"])
    join(&run, 2, cpu: 4)
    try run.becomeReady("db")
    #expect(run.places == ["db": 2, "long": 2])
    #expect(finish(&run) == 0)
  }

  @Test
  func
    `near the end of a node's time a service is stopped behind its users, early enough for both`()
    throws
  {
    var run = try run {
      $0.addService("db")
      $0.tasks[0].policy = TaskPolicy(stopGraceMilliseconds: 4_000)
      $0.add("user", needs: ["db"]) { $0.policy = TaskPolicy(stopGraceMilliseconds: 3_000) }
    }
    join(&run, 1, cpu: 4, endsAt: run.now.advanced(byMilliseconds: 60_000))
    try run.becomeReady("db")
    run.wait(milliseconds: 52_500)
    #expect(run.places == ["db": 1, "user": 1])
    run.wait(milliseconds: 1_000)
    #expect(run.places == [:])
    let ends = run.journal.filter { $0.event == .interrupt }
    #expect(ends.map { run.plan.nameString($0.task) } == ["user", "db"])
    #expect(ends.map(\.outcome.reason) == [.stopped(.timeOver), .stopped(.unneeded)])
    join(&run, 2, cpu: 4)
    try run.becomeReady("db")
    #expect(run.places == ["db": 2, "user": 2])
    #expect(finish(&run) == 0)
  }

  // MARK: Room

  @Test func `a service that idles gives way on its node to what lacks what it holds`() throws {
    var run = try run {
      $0.addService("db")
      $0.tasks[0].demand = [(0, 2)]
      $0.add("first", needs: ["db"]) { $0.demand = [] }
      $0.add("between", needs: ["first"]) { $0.demand = [(0, 2)] }
      $0.add("second", needs: ["db", "between"]) { $0.demand = [] }
    }
    join(&run, 1, cpu: 2)
    try run.becomeReady("db")
    run.end("first")
    #expect(run.places == ["between": 1])
    run.end("between")
    try run.becomeReady("db")
    #expect(run.places == ["db": 1, "second": 1])
    #expect(finish(&run) == 0)
  }

  @Test
  func `the last node gone, what needs a service waits as all else does, and the run stops`()
    throws
  {
    var run = try run {
      $0.addService("db")
      $0.add("user", needs: ["db"])
    }
    join(&run, 1, cpu: 2)
    try run.becomeReady("db")
    run.tell(.nodesExhausted(complaint: "there are no more"))
    run.lose(1)
    run.settle()
    #expect(run.close?.exitCode == 143)
    #expect(
      run.stops.map(\.detail) == ["no node is left for the waiting tasks; there are no more"])
  }

  // MARK: What waits for time

  /// `slow` may take longer than the machine has left on which `quick` is to start with `db`.
  private func runWithoutTime() throws -> EngineHarness {
    var run = try run {
      $0.add("go") { $0.isLocal = true }
      $0.addService("db")
      $0.add("quick", needs: ["go", "db"])
      $0.add("slow", needs: ["go", "db"]) { $0.policy.timeoutMilliseconds = 50_000 }
    }
    run.settle()
    join(&run, 1, cpu: 2, endsAt: run.now.advanced(byMilliseconds: 100_000))
    run.wait(milliseconds: 60_000)
    return run
  }

  @Test func `what waits for time is skipped when the service fails that it needs`() throws {
    var run = try runWithoutTime()
    run.end("go")
    run.end("db", exit: 1)
    #expect(run.state("quick") == .skipped && run.state("slow") == .skipped)
    #expect(run.close?.exitCode == 1)
  }

  @Test func `what waits for time starts on a node of which nobody knew what it has`() throws {
    var run = try runWithoutTime()
    run.join(2, nil)
    run.end(try #require(run.worker(of: "go")), Outcome(status: .success))
    try run.becomeReady("db")
    run.end("quick")
    #expect(run.places == ["db": 2])
    try run.becomeReady("db")
    #expect(run.places == ["db": 2, "slow": 2])
    #expect(finish(&run) == 0)
  }

  // MARK: Making room

  /// `far` needs a slot, and so does `db`, which only `stays` needs.
  private func runWithOneSlot() throws -> EngineHarness {
    try run {
      $0.resources = [("seat", 1)]
      $0.addService("db")
      $0.tasks[0].demand = [(3, 1)]
      $0.addService("stays", needs: ["db"])
      $0.add("work") { $0.demand = [(0, 1)] }
      $0.add("far") { $0.demand = [(0, 1), (3, 1)] }
    }
  }

  @Test func `what stays and waits for a service that gives way does so too`() throws {
    var run = try runWithOneSlot()
    run.settle()
    join(&run, 1, cpu: 1)
    run.end("work")
    #expect(run.places == ["far": 1])
    run.end("far")
    for service in ["db", "stays"] { try run.becomeReady(service) }
    #expect(run.order == ["db", "work", "far", "db", "stays"])
  }

  @Test func `a service is not idle that something waits for`() throws {
    var run = try runWithOneSlot()
    run.settle()
    join(&run, 1, cpu: 2)
    #expect(run.places == ["db": 0, "work": 1])
    for service in ["db", "stays"] { try run.becomeReady(service) }
    #expect(run.order == ["db", "work", "stays"])
    run.end("work")
    #expect(run.places == ["far": 1])
  }
}
