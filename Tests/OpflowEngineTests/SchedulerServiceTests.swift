import Fixtures
import OpflowEngine
import OpflowJournal
import OpflowPlan
import Testing

/// The loss of services that other services need, with different times to stop.
@Suite("Scheduler with services")
struct SchedulerServiceTests {
  /// What the engine looks at in a run of services that have one user each.
  ///
  /// - Parameter isShared: whether all of them need another one.
  private func looks(
    ofServices count: Int, parallel: UInt64, isShared: Bool, takesProcessor: Bool
  ) throws -> Int {
    var maker = PlanMaker()
    if isShared { maker.addService("db") }
    for index in 0..<count {
      maker.addService("s\(index)", needs: isShared ? ["db"] : []) {
        if takesProcessor { $0.demand = [(0, 1)] }
      }
      maker.add("z\(index)", needs: ["s\(index)"]) { $0.demand = [(0, 1)] }
    }
    let forecast = RunForecast(
      plan: try maker.make(),
      options: SchedulerOptions(
        maxParallel: parallel, memoryBytes: 1 << 30, maxFailures: 1, seed: 1),
      resumeState: ResumeState(
        initial: .init(repeating: .run, count: count * 2 + (isShared ? 1 : 0)),
        attempts: .init(repeating: 0, count: count * 2 + (isShared ? 1 : 0))))
    #expect(forecast.starts.count >= count * 2)
    return forecast.lookCount
  }

  @Test(arguments: [2, 5, 1000] as [UInt64], [(false, true), (true, true), (false, false)])
  func `the engine's work grows with the number of services, not with its square`(
    parallel: UInt64, shape: (isShared: Bool, takesProcessor: Bool)
  ) throws {
    let looks = try [100, 200, 400].map {
      try self.looks(
        ofServices: $0, parallel: parallel, isShared: shape.isShared,
        takesProcessor: shape.takesProcessor)
    }
    #expect(looks[1] < looks[0] * 5 / 2 && looks[2] < looks[1] * 5 / 2, "\(looks)")
    #expect(looks[2] < 400 * 60, "\(looks)")
  }

  /// `test` needs `api`, and that needs `db`; all run, and the services are up.
  private func run() throws -> EngineHarness {
    var maker = PlanMaker()
    maker.addService("db", restarts: 1)
    maker.addService("api", needs: ["db"])
    maker.add("test", needs: ["api"]) {
      $0.policy = TaskPolicy(retryMax: 1, retryDelayMilliseconds: 0)
    }
    var run = EngineHarness(try maker.make())
    for service in ["db", "api"] { try run.becomeReady(service) }
    #expect(run.runningNames == ["api", "db", "test"])
    return run
  }

  @Test func `nothing starts with a service that was told to go and has not gone`() throws {
    var run = try run()
    let api = try #require(run.worker(of: "api"))
    run.end(try #require(run.worker(of: "db")), Outcome(status: .exit(7)))
    // It is slow, and all other tasks continue.
    let messages = run.inbox.removeValue(forKey: api)
    run.settle()
    run.wait(milliseconds: 10)
    if run.runningNames.contains("db") { try run.becomeReady("db") }
    #expect(run.order.count { $0 == "test" } == 1)
    run.inbox[api] = messages
    run.settle()
    for service in ["db", "api"] { try run.becomeReady(service) }
    #expect(run.runningNames == ["api", "db", "test"])
    run.end("test")
    #expect(run.state("test") == .succeeded && run.state("api") == .succeeded)
    #expect(run.close?.exitCode == 0)
  }

  @Test(arguments: [true, false])
  func `a cancel leaves a service succeeded only if it was ready`(isReady: Bool) throws {
    var maker = PlanMaker()
    maker.addService("db")
    maker.add("test", needs: ["db"])
    var run = EngineHarness(try maker.make())
    run.settle()
    if isReady { try run.becomeReady("db") }
    run.tell(.stop(.signal(2)))
    run.settle()
    #expect(run.state("db") == (isReady ? .succeeded : .cancelled))
  }

  @Test func `a service that goes with what it needs before it is told to has not failed`() throws {
    var run = try run()
    let api = try #require(run.worker(of: "api"))
    run.end(try #require(run.worker(of: "db")), Outcome(status: .exit(7)))
    run.end(api, Outcome(status: .exit(1)))
    #expect(run.journal.last { $0.task == run.plan.task(named: "api") }?.event == .interrupt)
    run.settle()
    run.wait(milliseconds: 10)
    for service in ["db", "api"] { try run.becomeReady(service) }
    run.end("test")
    #expect(run.close?.exitCode == 0)
  }

  @Test func `a finally task of named tasks follows a service that they had and that is still up`()
    throws
  {
    var maker = PlanMaker()
    maker.addService("db")
    maker.add("test", needs: ["db"])
    maker.add("dump", needs: ["db"]) { $0.flags = .finally }
    var run = EngineHarness(try maker.make(), initial: [.run, .run, .afterNeeds])
    try run.becomeReady("db")
    run.end("test")
    #expect(run.runningNames == ["db", "dump"])
  }

  @Test func `what was skipped for want of a service and is found up to date has succeeded`()
    throws
  {
    var maker = PlanMaker()
    maker.addService("db")
    maker.add("test", needs: ["db"]) { $0.inputs = [.path("in")] }
    let skipped = EarlierResult(state: .skipped, origin: 7, isSkippedUpstream: true)
    var run = EngineHarness(
      try maker.make(), initial: [.run, .later], results: [TaskID(1): skipped])
    run.fresh = ["test": 7]
    run.finish()
    #expect(run.state("test") == .upToDate)
    #expect(run.journal.last { $0.task == TaskID(1) }?.kept == nil)
    #expect(run.close?.exitCode == 0)
  }

  /// `prepare` has failed, and `db` runs for `second`; `first` is ready and waits for the resource.
  private func runWithQueue(needing condition: NeedCondition) throws -> EngineHarness {
    var maker = PlanMaker()
    maker.resources = [("seat", 1)]
    maker.add("prepare")
    maker.addService("db", restarts: 1)
    maker.tasks[1].needs = [("prepare", condition)]
    for name in ["first", "second"] {
      maker.add(name, needs: ["db"]) { $0.demand = [(0, 1), (3, 1)] }
    }
    maker.add("last", needs: ["second"])
    var run = EngineHarness(try maker.make(), parallel: 4, maxFailures: 0)
    run.settle()
    run.end("prepare", exit: 2)
    try run.becomeReady("db")
    #expect(run.runningNames == ["db", "second"])
    #expect(run.ask(.retry, ["prepare"]) == .done(count: 1))
    return run
  }

  @Test func `a service that ends while its need runs again waits for that, and its users with it`()
    throws
  {
    var run = try runWithQueue(needing: .finished)
    run.end(try #require(run.worker(of: "db")), Outcome(status: .exit(7)))
    run.settle()
    #expect(run.runningNames == ["prepare"])
    run.end("prepare", exit: 2)
    try run.becomeReady("db")
    #expect(run.runningNames == ["db", "first"])
    run.end("first")
    #expect(run.state("db") == .succeeded)
  }

  @Test func `a service that was unused and is ruled out by its if now starts for nothing`() throws
  {
    var maker = PlanMaker()
    maker.addService("db") { $0.flags = .conditionFalse }
    maker.add("test", needs: ["db"])
    maker.add("beside")
    var run = EngineHarness(
      try maker.make(), parallel: 4, maxFailures: 0, initial: [.unused, .run, .run])
    run.end("test", exit: 1)
    #expect(run.ask(.retry, ["test"]) == .done(count: 1))
    #expect(run.runningNames == ["beside", "test"])
    #expect(run.state("db") == .skipped)
  }

  @Test func `what needs a service that went on is not let go before the session has begun`() throws
  {
    var maker = PlanMaker()
    maker.addService("db")
    maker.add("test", needs: ["db"])
    maker.add("after", needs: ["test"])
    var resumeState = ResumeState(initial: [.stays, .run, .run], attempts: [1, 0, 0])
    resumeState.held = [
      HeldService(service: TaskID(0), worker: WorkerID(0), attempt: 1, ports: [])
    ]
    var engine = Engine(
      plan: try maker.make(),
      options: SchedulerOptions(maxParallel: 1, memoryBytes: 1 << 30, maxFailures: 1, seed: 1),
      resumeState: resumeState, journal: JournalEncoder(), opening: [.open(.example)])
    let now = Instant(nanoseconds: 0)
    engine.begin(at: now, wall: 1)
    while let step = engine.next(at: now) {
      if case .write = step { engine.handle(.journalFailed, at: now, wall: 1) }
    }
    let (problem, state) = (engine.checkInvariants(), engine.state(TaskID(2)))
    #expect(problem == nil)
    #expect(state == .waiting)
  }

  @Test func `a further try waits for a service that waits for its need`() throws {
    var maker = PlanMaker()
    maker.add("prepare")
    maker.addService("db", restarts: 1)
    maker.tasks[1].needs = [("prepare", .finished)]
    maker.add("test", needs: ["db"]) {
      $0.policy = TaskPolicy(retryMax: 1, retryDelayMilliseconds: 1000)
    }
    var run = EngineHarness(try maker.make(), parallel: 4, maxFailures: 0)
    run.settle()
    run.end("prepare", exit: 2)
    try run.becomeReady("db")
    run.end("test", exit: 1)
    #expect(run.ask(.retry, ["prepare"]) == .done(count: 1))
    run.end(try #require(run.worker(of: "db")), Outcome(status: .exit(7)))
    run.wait(milliseconds: 2000)
    #expect(run.runningNames == ["prepare"])
    #expect(run.state("test") == .waiting)
    run.end("prepare")
    try run.becomeReady("db")
    #expect(run.runningNames == ["db", "test"])
  }

  @Test(arguments: [false, true])
  func `a service that ends and lacks what was tried again is skipped with its users`(
    _ isLate: Bool
  ) throws {
    var run = try runWithQueue(needing: .failure)
    run.settle()
    if !isLate { run.end("prepare") }
    run.end(try #require(run.worker(of: "db")), Outcome(status: .exit(7)))
    run.settle()
    if isLate { run.end("prepare") }
    #expect(run.state("db") == .skipped && run.state("first") == .skipped)
    #expect(run.close?.exitCode == 1)
  }

  @Test func `what stays and finds no room stands before no task that needs the same`() throws {
    var maker = PlanMaker()
    maker.resources = [("seat", 1)]
    maker.addService("seated")
    maker.tasks[0].demand = [(3, 1)]
    maker.addService("db")
    maker.tasks[1].demand = [(3, 1)]
    maker.addService("stays", needs: ["db"])
    maker.add("ask", needs: ["db"]) { $0.demand = [] }
    var run = EngineHarness(try maker.make())
    try run.becomeReady("db")
    #expect(run.runningNames == ["ask", "db", "stays"])
  }
}

extension EngineHarness {
  /// The worker that runs a task.
  func worker(of name: String) -> WorkerID? {
    running.first { plan.nameString($0.value.0) == name }?.key
  }

  /// A service says that it is ready, where it has not.
  mutating func becomeReady(_ service: String) throws {
    settle()
    let runner = try #require(self.worker(of: service), "\(service) does not run")
    guard let (task, attempt) = running[runner] else { return }
    tell(.ready(runner, task, attempt: attempt, ports: []))
    settle()
  }
}
