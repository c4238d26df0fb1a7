import Fixtures
import OpflowEngine
import OpflowJournal
import OpflowPlan
import Testing

/// Tasks that are added to a live run.
@Suite("Growth of runs")
struct RunGrowthTests {
  static func run(
    parallel: UInt64 = 2, maxFailures: Int = 0, openness: RunOpenness = .ordinary,
    _ fill: (inout PlanMaker) -> Void
  ) throws -> EngineHarness {
    var maker = PlanMaker()
    fill(&maker)
    return EngineHarness(
      try maker.make(), parallel: parallel, maxFailures: maxFailures, openness: openness)
  }

  // MARK: - Needs

  @Test func `what needs nothing starts at once`() throws {
    var run = try Self.run { $0.add("a") }
    #expect(run.runningNames == ["a"])
    #expect(try run.add("1") { $0.add("b") } == .done(count: 1))
    #expect(run.runningNames == ["a", "b"])
    run.end("a")
    #expect(run.close == nil)
    run.end("b")
    #expect(run.close?.state == .succeeded)
  }

  @Test(arguments: [
    (NeedCondition.success, "done", ["new"], TaskState.running),
    (.success, "broken", [], .skipped), (.failure, "broken", ["new"], .running),
    (.failure, "done", [], .skipped), (.finished, "broken", ["new"], .running),
    (.finished, "done", ["new"], .running), (.success, "going", [], .waiting),
    (.success, "lacking", [], .skipped), (.finished, "lacking", ["new"], .running),
    (.ran, "lacking", [], .skipped), (.ran, "broken", [], .skipped),
    (.ran, "done", ["new"], .running),
  ])
  func `a need for a task of the run is as if it had been there`(
    _ condition: NeedCondition, _ need: String, _ running: [String], _ state: TaskState
  ) throws {
    var run = try Self.run(parallel: 4) {
      $0.add("done")
      $0.add("broken")
      $0.add("lacking", needs: ["broken"])
      $0.add("going")
    }
    run.end("done")
    run.end("broken", exit: 1)
    try run.add("1") { $0.add("new") { $0.outerNeeds = [(need, condition)] } }
    run.settle()
    #expect(run.runningNames.filter { $0 == "new" } == running)
    #expect(run.state("new").map { $0 == .ready || $0 == .prefetched ? .running : $0 } == state)
    run.finish()
    #expect(run.state("new")?.isTerminal == true)
  }

  @Test
  func `what is added may need what was added, and what lacks a need is skipped down to the last`()
    throws
  {
    var run = try Self.run(parallel: 1) {
      $0.add("broken")
      $0.add("slow")
    }
    run.end("broken", exit: 1)
    try run.add("1") {
      $0.add("one") { $0.outerNeeds = [("broken", .success), ("slow", .success)] }
      $0.add("two", needs: ["one"])
      $0.add("cleanup", needs: ["two"], on: .finished)
    }
    try run.add("2") { $0.add("three") { $0.outerNeeds = [("two", .success)] } }
    #expect(["one", "two", "three"].map { run.state($0) } == [.skipped, .skipped, .skipped])
    run.finish()
    #expect(run.order == ["broken", "slow", "cleanup"])
  }

  @Test func `a task tried again by a request has what was skipped for it wait again`() throws {
    var run = try Self.run {
      $0.add("broken")
      $0.add("slow")
    }
    run.end("broken", exit: 1)
    try run.add("1") { $0.add("new") { $0.outerNeeds = [("broken", .success)] } }
    #expect(run.state("new") == .skipped)
    let broken = try #require(run.plan.task(named: "broken"))
    var request = ControlRequest(
      id: try #require(RequestID("again")),
      requester: Requester(pid: 1, user: 0, name: "opflow retry"), verb: .retry)
    request.tasks = [broken]
    run.tell(.request(request, from: ConnectionID(1)))
    #expect(run.state("new") == .waiting)
    run.finish()
    #expect(run.close?.state == .succeeded)
    #expect(run.order == ["broken", "slow", "broken", "new"])
  }

  @Test func `finally tasks wait for what was added, and may be added themselves`() throws {
    var run = try Self.run {
      $0.add("a")
      $0.add("last") { $0.flags.insert(.finally) }
    }
    try run.add("1") {
      $0.add("b")
      $0.add("further") { $0.flags.insert(.finally) }
    }
    run.end("a")
    #expect(run.runningNames == ["b"])
    run.end("b")
    #expect(run.runningNames == ["further", "last"])
    let late = try run.add("2") { $0.add("c") }
    #expect(
      late
        == .refused(detail: "the `finally` tasks have started; you cannot add tasks after them"))
    run.finish()
  }

  @Test func `what has an end of its own gets it`() throws {
    var run = try Self.run { $0.add("a") }
    try run.add("1", initial: [.run, .skipOption, .excluded, .run]) {
      $0.add("never") { $0.flags.insert(.conditionFalse) }
      $0.add("left")
      $0.add("manual")
      $0.add("after", needs: ["never", "left", "manual"], on: .finished)
    }
    #expect(["never", "left", "manual"].map { run.state($0) } == [.skipped, .skipped, .skipped])
    run.finish()
    #expect(run.order == ["a", "after"])
  }

  // MARK: - When

  @Test func `a request that was obeyed is answered and not obeyed again`() throws {
    var run = try Self.run { $0.add("a") }
    #expect(try run.add("1") { $0.add("b") } == .done(count: 1))
    #expect(try run.add("1") { $0.add("c") } == .done(count: 1))
    #expect(run.plan.taskCount == 2)
  }

  @Test func `a run that stops or has ended takes nothing`() throws {
    var run = try Self.run { $0.add("a") }
    run.settle()
    run.tell(.stop(.signal(2)))
    #expect(try run.add("1") { $0.add("b") } == .refused(detail: "the run is stopping"))
    run.settle()
    #expect(run.close != nil)
    #expect(try run.add("2") { $0.add("b") } == .refused(detail: "the run has ended"))
  }

  @Test func `beyond max_failures what is added waits, and continues when there are fewer`() throws
  {
    var run = try Self.run(maxFailures: 1) {
      $0.add("broken")
      $0.add("slow")
    }
    run.end("broken", exit: 1)
    try run.add("1") {
      $0.add("new")
      $0.add("last") { $0.flags.insert(.finally) }
    }
    #expect(run.runningNames == ["slow"])
    #expect(run.ask(.retry, ["broken"]) == .done(count: 1))
    run.finish()
    #expect(run.state("new") == .succeeded)
    #expect(run.state("last") == .succeeded)
  }

  @Test func `an open run waits until it is closed`() throws {
    var run = try Self.run(openness: .open) { $0.add("a") }
    run.end("a")
    #expect(run.close == nil)
    for round in 0..<3 {
      try run.add("\(round)") { $0.add("task\(round)") }
      run.end("task\(round)")
      #expect(run.close == nil)
    }
    try run.add("last") { $0.add("last") }
    let requester = Requester(pid: 1, user: 0, name: "opflow close")
    for id in ["close", "again"] {
      let request = ControlRequest(
        id: try #require(RequestID(id)), requester: requester, verb: .close)
      run.tell(.request(request, from: ConnectionID(1)))
    }
    #expect(
      run.answers.suffix(2) == [.done(count: 0), .refused(detail: "the run is already closed")])
    let late = try run.add("late") { $0.add("late") }
    #expect(late == .refused(detail: "the run is closed to new tasks"))
    run.end("last")
    #expect(run.close?.state == .succeeded)
  }

  @Test func `a task of a run that was closed may add to it for as long as it runs`() throws {
    var run = try Self.run(openness: .open) {
      $0.add("scan")
      $0.add("after", needs: ["scan"])
    }
    let request = ControlRequest(
      id: try #require(RequestID("close")),
      requester: Requester(pid: 1, user: 0, name: "opflow close"), verb: .close)
    run.tell(.request(request, from: ConnectionID(1)))
    let closed = RequestAnswer.refused(detail: "the run is closed to new tasks")
    #expect(run.runningNames == ["scan"])
    #expect(try run.add("early", by: "after") { $0.add("early") } == closed)
    #expect(try run.add("own", by: "scan") { $0.add("own") } == .done(count: 1))
    run.end("scan")
    #expect(try run.add("late", by: "scan") { $0.add("late") } == closed)
    run.end("after")
    #expect(run.close == nil)
    run.end("own")
    #expect(run.close?.state == .succeeded)
  }

  @Test func `an open run without a task waits, and ends by a signal`() throws {
    var run = try Self.run(openness: .open) { _ in }
    #expect(run.close == nil)
    run.tell(.stop(.signal(15)))
    #expect(run.close?.exitCode == 143)
  }

  @Test func `a run that nobody keeps open is not closed`() throws {
    var run = try Self.run { $0.add("a") }
    let request = ControlRequest(
      id: try #require(RequestID("close")),
      requester: Requester(pid: 1, user: 0, name: "opflow close"), verb: .close)
    run.tell(.request(request, from: ConnectionID(1)))
    guard case .refused = run.answers.last else {
      Issue.record("it was closed")
      return
    }
  }

  // MARK: - What tasks share

  @Test func `what is added shares what the run has`() throws {
    var run = try Self.run(parallel: 2) { $0.add("wide") { $0.demand = [(0, 2)] } }
    try run.add("1") {
      for name in ["x", "y", "z"] { $0.add(name) }
      $0.add("huge") { $0.demand = [(0, 9)] }
    }
    #expect(run.runningNames == ["wide"])
    run.end("wide")
    #expect(run.runningNames == ["x", "y"])
    run.finish()
    #expect(run.state("huge") == .succeeded)
  }

  @Test func `priorities hold across what was there and what came`() throws {
    var run = try Self.run(parallel: 1) {
      $0.add("first")
      $0.add("low") { $0.priority = -5 }
      $0.add("normal")
    }
    run.settle()
    try run.add("1") {
      $0.add("high") { $0.priority = 5 }
      $0.add("lowest") { $0.priority = -9 }
    }
    // A need inherits the priority of what came.
    try run.add("2") {
      $0.add("urgent") {
        $0.priority = 50
        $0.outerNeeds = [("low", .success)]
      }
    }
    run.finish()
    #expect(run.order == ["first", "low", "urgent", "high", "normal", "lowest"])
  }

  @Test func `what needs a task that a session leaves out is refused, unless that has its end`()
    throws
  {
    var maker = PlanMaker()
    for name in ["open", "outside", "done", "failed", "work"] { maker.add(name) }
    var run = EngineHarness(
      try maker.make(), initial: [.leftOpen, .excluded, .leftDone, .leftFailed, .run])
    for name in ["open", "outside"] {
      let answer = try run.add("of-\(name)") {
        $0.add("new") { $0.outerNeeds = [(name, .finished)] }
      }
      #expect(
        answer
          == .refused(detail: "new needs \(name), which is not part of this session"))
    }
    try run.add("1") {
      $0.add("a") { $0.outerNeeds = [("done", .success)] }
      $0.add("b") { $0.outerNeeds = [("failed", .success)] }
      $0.add("c") { $0.outerNeeds = [("failed", .failure)] }
    }
    run.finish()
    #expect(run.order == ["work", "a", "c"])
    #expect(run.state("b") == .skipped)
  }

  // MARK: - `finally`

  @Test(arguments: [true, false])
  func `a finally task that comes to a run of which something ran is owed`(
    _ ranBefore: Bool
  ) throws {
    var maker = PlanMaker()
    maker.add("a")
    var run = EngineHarness(
      try maker.make(), initial: [.succeeded], openness: .open, ranBefore: ranBefore)
    try run.add("1") { $0.add("last") { $0.flags.insert(.finally) } }
    let requester = Requester(pid: 1, user: 0, name: "opflow close")
    let request = ControlRequest(
      id: try #require(RequestID("close")), requester: requester, verb: .close)
    run.tell(.request(request, from: ConnectionID(1)))
    run.finish()
    #expect(run.order == (ranBefore ? ["last"] : []))
  }

  @Test func `a finally task that is skipped as it comes has no other one run`() throws {
    var maker = PlanMaker()
    maker.add("a")
    maker.add("last") { $0.flags.insert(.finally) }
    var run = EngineHarness(
      try maker.make(), initial: [.succeeded, .later],
      results: [TaskID(1): EarlierResult(state: .succeeded, origin: nil)], openness: .open,
      ranBefore: true)
    try run.add("1") { $0.add("other") { $0.flags = [.finally, .conditionFalse] } }
    #expect(run.state("other") == .skipped)
    #expect(run.ask(.close) == .done(count: 0))
    run.finish()
    #expect(run.order.isEmpty)
    #expect(run.close?.state == .succeeded)
  }
}
