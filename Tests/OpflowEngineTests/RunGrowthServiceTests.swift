import Fixtures
import OpflowEngine
import OpflowJournal
import OpflowPlan
import Testing

/// Services and their dependents that are added to a live run.
@Suite("Growth of runs with services")
struct RunGrowthServiceTests {
  @Test func `a service of the run is there for what is added`() throws {
    var run = try RunGrowthTests.run(parallel: 4) {
      $0.addService("db")
      $0.add("user", needs: ["db"])
    }
    run.settle()
    try run.add("1") { $0.add("new") { $0.outerNeeds = [("db", .success)] } }
    run.settle()
    try Self.makeReady("db", &run)
    #expect(run.runningNames == ["db", "new", "user"])
  }

  @Test func `a service that ended for want of users starts again for what is added`() throws {
    var run = try RunGrowthTests.run(parallel: 4) {
      $0.addService("db")
      $0.add("user", needs: ["db"])
      $0.add("slow")
    }
    run.settle()
    try Self.makeReady("db", &run)
    run.end("user")
    run.settle()
    #expect(run.state("db") == .succeeded)
    try run.add("1") { $0.add("new") { $0.outerNeeds = [("db", .success)] } }
    run.settle()
    try Self.makeReady("db", &run)
    #expect(run.runningNames == ["db", "new", "slow"])
    run.end("new")
    run.end("slow")
    run.settle()
    #expect(run.close?.state == .succeeded)
    #expect(run.order.filter { $0 == "db" }.count == 2)
  }

  @Test func `services may come with what needs them`() throws {
    var run = try RunGrowthTests.run(parallel: 4) { $0.add("slow") }
    try run.add("1") {
      $0.addService("db")
      $0.add("user", needs: ["db"])
    }
    run.settle()
    try Self.makeReady("db", &run)
    #expect(run.runningNames == ["db", "slow", "user"])
    run.end("user")
    run.end("slow")
    run.settle()
    #expect(run.close?.state == .succeeded)
  }

  @Test func `a service is not started again for what is skipped as it comes`() throws {
    var run = try RunGrowthTests.run(parallel: 4) {
      $0.addService("db")
      $0.add("user", needs: ["db"])
      $0.add("broken")
      $0.add("slow")
    }
    run.settle()
    try Self.makeReady("db", &run)
    run.end("user")
    run.end("broken", exit: 1)
    try run.add("1") {
      $0.add("new") { $0.outerNeeds = [("db", .success), ("broken", .success)] }
      $0.addService("proxy") { $0.outerNeeds = [("db", .success)] }
      $0.add("behind", needs: ["new", "proxy"])
    }
    #expect(run.state("new") == .skipped)
    #expect(run.state("db") == .succeeded)
    #expect(!run.journal.contains { $0.event.kind == .resume })
    run.finish()
  }

  @Test func `a service that lacks by now what it needs has what is added skipped`() throws {
    var run = try RunGrowthTests.run(parallel: 4) {
      $0.add("schema")
      $0.addService("db", needs: ["schema"])
      $0.add("never", needs: ["db"]) { $0.flags.insert(.conditionFalse) }
      $0.add("slow")
    }
    #expect(run.state("db") == .skipped)
    run.end("schema", exit: 1)
    try run.add("1") { $0.add("new") { $0.outerNeeds = [("db", .success)] } }
    #expect(run.state("new") == .skipped)
    run.finish()
  }

  @Test(arguments: [InitialState.succeeded, .unused])
  func `a service that was over in an earlier session starts again for what is added`(
    _ before: InitialState
  ) throws {
    var maker = PlanMaker()
    maker.addService("db")
    maker.add("user", needs: ["db"])
    maker.add("slow")
    var run = EngineHarness(
      try maker.make(), parallel: 4, initial: [before, .succeeded, .run])
    try run.add("1") { $0.add("new") { $0.outerNeeds = [("db", .success)] } }
    #expect(run.runningNames == ["db", "slow"])
    try Self.makeReady("db", &run)
    #expect(run.runningNames == ["db", "new", "slow"])
  }

  @Test func `what needs a service that a session leaves out is refused`() throws {
    var maker = PlanMaker()
    maker.addService("db")
    maker.add("user", needs: ["db"])
    maker.add("slow")
    var run = EngineHarness(
      try maker.make(), parallel: 4, initial: [.leftDone, .leftDone, .run])
    let answer = try run.add("1") { $0.add("new") { $0.outerNeeds = [("db", .success)] } }
    #expect(
      answer == .refused(detail: "new needs db, which is not part of this session"))
  }

  @Test func `services that give way take those along that wait for them`() throws {
    var run = try RunGrowthTests.run(parallel: 1, openness: .open) { $0.add("first") }
    run.end("first")
    // It holds the one processor, and waits for its worker.
    try run.add("1") { $0.addService("base") { $0.demand = [(0, 1)] } }
    try run.add("2") {
      $0.addService("middle") { $0.outerNeeds = [("base", .success)] }
      $0.addService("top", needs: ["middle"])
      $0.add("big")
    }
    #expect(run.runningNames == ["big"])
    run.end("big")
    for name in ["base", "middle", "top"] { try Self.makeReady(name, &run) }
    #expect(run.runningNames == ["base", "middle", "top"])
  }

  @Test func `what needs a service that stays and has no room has another one give way`() throws {
    var run = try RunGrowthTests.run(parallel: 1) {
      $0.addService("idler") { $0.demand = [(0, 1)] }
    }
    run.settle()
    try Self.makeReady("idler", &run)
    try run.add("1") { $0.addService("base") { $0.demand = [(0, 1)] } }
    #expect(run.runningNames == ["idler"])
    try run.add("2") {
      $0.add("user") {
        $0.demand = []
        $0.outerNeeds = [("base", .success)]
      }
    }
    #expect(run.runningNames == ["base"])
    try Self.makeReady("base", &run)
    #expect(run.runningNames == ["base", "user"])
  }

  @Test func `what needs a service that fails for want of a worker is skipped once`() throws {
    var run = try RunGrowthTests.run(parallel: 1) { $0.add("first") }
    run.settle()
    try run.add("1") {
      $0.addService("other")
      $0.addService("base") { $0.demand = [(0, 1)] }
    }
    try run.add("2") {
      $0.add("user") {
        $0.demand = []
        $0.outerNeeds = [("base", .success)]
      }
    }
    for _ in 0..<10 where !run.launched.isEmpty {
      run.tell(.launchFailed(run.launched.removeFirst(), complaint: "no room"))
    }
    #expect(["other", "base", "user"].map { run.state($0) } == [.failed, .failed, .skipped])
    run.finish()
  }

  @Test
  func `views count a service again that is taken out of the end that it had before`() throws {
    var maker = PlanMaker()
    maker.addService("db")
    maker.add("user")
    var model = SessionModel(plan: try maker.make(), scope: SessionScope([.succeeded, .run]))
    model.begin(atMilliseconds: 0)
    #expect(model.counts.pending == 1)
    var transition = Transition(.resume(.skippedBefore), TaskID(0))
    transition.isLate = true
    model.apply(transition, atMilliseconds: 1)
    #expect(model.counts.pending == 2)
    #expect(model.scope.reused.isEmpty)
    #expect(model.checkInvariants() == nil)
    model.apply(Transition(.start, TaskID(0), attempt: 1), atMilliseconds: 2)
    #expect(model.checkInvariants() == nil)
  }

  /// Has a service that runs say that it is ready.
  private static func makeReady(_ name: String, _ run: inout EngineHarness) throws {
    let held = run.running.first { run.plan.nameString($0.value.0) == name }
    let (worker, (task, attempt)) = try #require(held)
    run.tell(.ready(worker, task, attempt: attempt, ports: []))
    run.settle()
  }
}
