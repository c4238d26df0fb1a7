import Fixtures
import OpflowEngine
import OpflowJournal
import OpflowPlan
import Testing

/// Requests about what is on its way to a worker, or on its way back, and about what such tasks
/// need.
@Suite struct RequestRaceTests {
  /// `after` waits for the end of `one` and `other`, whatever that is.
  private static func run(_ change: (inout PlanMaker) -> Void = { _ in }) throws -> EngineHarness {
    var maker = PlanMaker()
    maker.add("one")
    maker.add("other")
    maker.add("after", needs: ["one", "other"], on: .finished)
    change(&maker)
    var run = EngineHarness(try maker.make(), parallel: 4, maxFailures: 0)
    run.end("one", exit: 1)
    run.end("other", exit: 1)
    run.settle()
    return run
  }

  @Test(arguments: [false, true])
  func `a cancelled task that its worker gives back is cancelled`(isSuspended: Bool) throws {
    var run = try Self.run()
    let worker = try #require(run.worker(of: "after"))
    if isSuspended { run.tell(.request(run.request(.suspend, ["after"]), from: ConnectionID(1))) }
    run.tell(.request(run.request(.cancel, ["after"]), from: ConnectionID(1)))
    run.running[worker] = nil
    run.inbox[worker] = nil
    run.tell(.revoked(worker, TaskID(2), attempt: 1))
    #expect(run.state("after") == .cancelled)
    let line = run.journal.last { $0.task == TaskID(2) }
    #expect(line?.event == .cancel)
    #expect(line?.outcome.reason == .stopped(.cancel))
    run.finish()
    #expect(run.close?.state == .failed)
    #expect(run.started.filter { $0.task == "after" }.count == 1)
  }

  @Test func `what a worker told of a cancelled try is not said of the next one`() throws {
    var run = try Self.run { $0.add("beside") }
    let worker = try #require(run.worker(of: "after"))
    run.tell(.restored(worker, TaskID(2), attempt: 1))
    run.tell(.request(run.request(.cancel, ["after"]), from: ConnectionID(1)))
    run.bury(worker)
    #expect(run.state("after") == .cancelled)
    #expect(run.ask(.retry, ["after"]) == .done(count: 1))
    run.end("after")
    #expect(run.journal.last { $0.task == TaskID(2) }?.event == .success)
    #expect(run.journal.last { $0.task == TaskID(2) }?.isRestored == false)
  }

  @Test func `a task whose worker was lost waits for what is tried again since`() throws {
    var run = try Self.run()
    #expect(run.ask(.pause) == .done(count: 0))
    run.bury(try #require(run.worker(of: "after")))
    #expect(run.state("after") == .ready)
    #expect(run.ask(.retry, ["one"]) == .done(count: 1))
    #expect(run.state("after") == .waiting)
    #expect(run.ask(.proceed) == .done(count: 0))
    #expect(run.runningNames == ["one"])
    #expect(run.ask(.retry, ["other"]) == .done(count: 1))
    run.end("one")
    #expect(run.runningNames == ["other"])
    run.end("other")
    #expect(run.runningNames == ["after"])
  }

  @Test func `a further try waits for what is tried again during its delay`() throws {
    var run = try Self.run {
      $0.tasks[2].policy = TaskPolicy(retryMax: 1, retryDelayMilliseconds: 1000)
    }
    run.end("after", exit: 1)
    #expect(run.ask(.retry, ["one"]) == .done(count: 1))
    run.wait(milliseconds: 2000)
    #expect(run.runningNames == ["one"])
    run.end("one")
    #expect(run.runningNames == ["after"])
    run.end("after")
    #expect(run.state("after") == .succeeded)
  }
}
