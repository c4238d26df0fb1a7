import OpflowCore
import Testing

/// What follows when services that need others lose these, and some are slower than others to go.
@Suite("Scheduler with services")
struct SchedulerServiceTests {
  /// `test` needs `api`, and that needs `db`; all run, and the services are up.
  private func run() throws -> ImaginedRun {
    var maker = PlanMaker()
    maker.addService("db", restarts: 1)
    maker.addService("api", needs: ["db"])
    maker.add("test", needs: ["api"]) {
      $0.policy = TaskPolicy(retryMax: 1, retryDelayMilliseconds: 0)
    }
    var run = ImaginedRun(try maker.make())
    for service in ["db", "api"] { try run.becomeReady(service) }
    #expect(run.runningNames == ["api", "db", "test"])
    return run
  }

  @Test func `nothing starts with a service that was told to go and has not gone`() throws {
    var run = try run()
    let api = try #require(run.worker(of: "api"))
    run.end(try #require(run.worker(of: "db")), Outcome(status: .exit(7)))
    // It takes its time, while all else goes on.
    let orders = run.inbox.removeValue(forKey: api)
    run.settle()
    run.wait(milliseconds: 10)
    if run.runningNames.contains("db") { try run.becomeReady("db") }
    #expect(run.order.count { $0 == "test" } == 1)
    run.inbox[api] = orders
    run.settle()
    for service in ["db", "api"] { try run.becomeReady(service) }
    #expect(run.runningNames == ["api", "db", "test"])
    run.end("test")
    #expect(run.state("test") == .succeeded && run.state("api") == .succeeded)
    #expect(run.close?.exitCode == 0)
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
    var run = ImaginedRun(try maker.make(), initial: [.run, .run, .afterNeeds])
    try run.becomeReady("db")
    run.end("test")
    #expect(run.runningNames == ["db", "dump"])
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
    var run = ImaginedRun(try maker.make())
    try run.becomeReady("db")
    #expect(run.runningNames == ["ask", "db", "stays"])
  }
}

extension ImaginedRun {
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
