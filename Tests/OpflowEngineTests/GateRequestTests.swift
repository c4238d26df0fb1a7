import Fixtures
import OpflowEngine
import OpflowJournal
import OpflowPlan
import Testing

/// Tasks that ask for approval, and repeated requests.
@Suite struct GateRequestTests {
  private static func run(
    maxFailures: Int = 0, _ change: (inout PlanMaker) -> Void = { _ in }
  ) throws -> EngineHarness {
    var maker = PlanMaker()
    for name in ["ask", "also"] {
      maker.add(name) {
        $0.kind = .approve
        $0.demand = []
      }
    }
    maker.add("b", needs: ["ask"])
    maker.add("c", needs: ["also"])
    change(&maker)
    return EngineHarness(try maker.make(), parallel: 1, maxFailures: maxFailures)
  }

  @Test func `questions need no worker, and wait for answers alone`() throws {
    var run = try Self.run()
    #expect(run.runningNames.isEmpty)
    #expect(run.state("ask") == .running)
    #expect(run.close == nil)
    #expect(run.ask(.approve, ["ask"]) == .done(count: 1))
    #expect(run.state("ask") == .succeeded)
    #expect(run.runningNames == ["b"])
    #expect(
      run.ask(.reject, ["ask"]) == .refused(detail: "ask was already approved by opflow (pid 1)"))
    #expect(run.ask(.reject, ["also"]) == .done(count: 1))
    run.finish()
    #expect(run.close?.exitCode == 1)
    #expect(run.state("c") == .skipped)
  }

  /// The first no is one failure too many, and yet the second was said as well.
  @Test func `what is answered together has its answer whatever comes of the first`() throws {
    var run = try Self.run(maxFailures: 1)
    #expect(run.ask(.reject, ["ask", "also"]) == .done(count: 2))
    #expect(run.state("ask") == .failed)
    #expect(run.state("also") == .failed)
  }

  @Test func `a run that goes no further takes its questions back`() throws {
    var run = try Self.run(maxFailures: 1) { $0.add("x") }
    run.settle()
    run.end("x", exit: 1)
    #expect(run.state("ask") == .ready)
    #expect(run.close?.exitCode == 1)
  }

  @Test func `a question taken back waits for what is tried again before it is asked again`()
    throws
  {
    var maker = PlanMaker()
    maker.add("first")
    maker.add("x")
    maker.add("ask", needs: ["first"], on: .failure) {
      $0.kind = .approve
      $0.demand = []
    }
    var run = EngineHarness(try maker.make(), parallel: 2, maxFailures: 1)
    run.settle()
    run.end("first", exit: 1)
    #expect(run.state("ask") == .running)
    #expect(run.ask(.retry, ["first"]) == .done(count: 1))
    run.end("x", exit: 1)
    #expect(run.state("ask") == .waiting)
    run.end("first", exit: 1)
    #expect(run.state("ask") == .running)
  }

  @Test func `a question is cancelled also where what is cancelled with it has another task fail`()
    throws
  {
    var run = try Self.run(maxFailures: 1) {
      $0.add("first")
      $0.add("told", needs: ["first"]) { $0.flags = .leavesValues }
      $0.add("maybe", needs: ["told"], on: .finished) { $0.decidedBy = "told" }
    }
    #expect(run.runningNames == ["first"])
    #expect(run.ask(.cancel, ["ask", "told"]) == .done(count: 2))
    #expect(run.state("maybe") == .failed)
    #expect(run.state("ask") == .cancelled)
    run.finish()
    #expect(run.started.filter { $0.task == "ask" }.count == 1)
  }

  @Test func `who asks again for what was refused is told the same`() throws {
    var run = try Self.run { $0.add("x") }
    let request = run.request(.retry, ["x"])
    run.tell(.request(request, from: ConnectionID(50)))
    #expect(run.answers.last == .refused(detail: "x has not run yet"))
    run.settle()
    run.end("x", exit: 1)
    // The request would now succeed, but a repeated one gets the first answer.
    run.tell(.request(request, from: ConnectionID(51)))
    #expect(run.answers.last == .refused(detail: "x has not run yet"))
    #expect(run.ask(.retry, ["x"]) == .done(count: 1))
  }
}
