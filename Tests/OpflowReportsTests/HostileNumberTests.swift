import Fixtures
import Testing

@testable import OpflowJournal
@testable import OpflowPlan
@testable import OpflowReports
@testable import OpflowViews

/// Impossible numbers in a journal with valid checksums: all readers end, and use no more memory
/// than the journal has bytes.
@Suite struct HostileNumberTests {
  private static let most: Int64 = .max

  private func plan() throws -> Plan {
    try ViewFixture.plan(
      [("a", []), ("b", ["a"]), ("c", []), ("d", ["b", "c"])],
      downloads: ["c": ["http://example.org/file"]])
  }

  /// Tries of which all that can be measured is as large as can be written.
  private func run(step: Int64) throws -> ReportFixture {
    var run = ReportFixture(try plan())
    run.stepMilliseconds = step
    func endless(_ transition: inout Transition) {
      transition.worker = WorkerID(0)
      transition.outcome.usage.wallMicroseconds = Self.most
      transition.outcome.usage.userMicroseconds = Self.most
      transition.outcome.usage.systemMicroseconds = Self.most
      transition.outcome.usage.peakKibibytes = Self.most
      transition.outcome.usage.outputBytes = Self.most
      transition.delayMilliseconds = Self.most
    }
    for task in ["a", "b"] {
      run.tell(.start, task) { $0.worker = WorkerID(0) }
      run.tell(.pause, task)
      run.tell(.proceed, task)
      run.tell(.pause, task)
      run.tell(.success, task, .success, change: endless)
    }
    run.tell(.start, "c")
    run.tell(.retry, "c", .exit(1), change: endless)
    run.tell(.start, "d")
    run.tell(.failure, "d", .exit(1), change: endless)
    run.tell(.retry, "c", attempt: 2, .exit(1), change: endless)
    return run
  }

  /// All that is made of a journal.
  private func look(at run: ReportFixture) throws {
    for isHeld in [true, false] {
      let status = try run.status(isHeld: isHeld)
      var page = PageReport(
        status, before: status, resumeCommand: "opflow resume r1", output: run.output)
      while page.nextPiece() != nil {}
      var tests = JUnitReport(status, output: run.output)
      while tests.nextPiece() != nil {}
      var trace = TraceReport(status)
      while trace.nextPiece() != nil {}
      var spans = SpanReport(status)
      while spans.nextPiece() != nil {}
      _ = StepSummary(status, resumeCommand: "", output: run.output).text(atMost: 1 << 20)
      _ = SessionSummary.text(status, resumeCommand: "") { _ in nil }
      _ = StatusJSON.text(status, nowMilliseconds: 1) { _ in nil }
      for now in [0, 1, 1_800_000_000_000, Self.most] {
        _ = StatusView(
          status, resumeCommand: "", nowMilliseconds: now, showsAll: true, color: false
        ).text()
        _ = RunsView.text([.run(status, manifest: "")], nowMilliseconds: now, color: false)
        let why = TaskReasons(
          status, durations: .unknown, nowMilliseconds: now,
          controlCommand: ControlAction.plainCommand)
        for task in status.plan.tasks { _ = why.of(TaskID(task)) }
      }
    }
  }

  @Test(arguments: [0, 1, 1 << 57])
  func `times as large as can be written have all views and reports come to their end`(step: Int64)
    throws
  {
    var run = try run(step: step)
    try look(at: run)
    run.close(.failed, exit: 1)
    run.resume(("a", .changed(nil)))
    run.tell(.start, "a", attempt: 2)
    try look(at: run)
  }

  @Test(arguments: [4_294_967_295, Int.max - 1])
  func `a session can have no higher number than the journal has lines`(session: Int) throws {
    var run = try run(step: 1000)
    run.pretend(session: session)
    run.tell(.start, "a", attempt: 2)
    run.tell(.success, "a", attempt: 2, .success, wall: 1)
    var lost = ResumeEntry(planKey: "", opflowVersion: "0.1.0")
    lost.reused = 1
    run.tell(.resume(lost))
    let history = try run.status().history
    #expect(history.sessions > 1 && history.sessions < 30)
    #expect(history.attempts.all.allSatisfy { $0.session < 30 })
    try look(at: run)
  }

  @Test func `how much runs at once can be as much as a request says`() throws {
    let plan = try plan()
    var model = SessionModel(plan: plan, scope: SessionScope(plan.tasks.map { _ in .run }))
    var request = RequestEntry(
      id: try #require(RequestID("o1")), verb: .parallel,
      requester: Requester(pid: 7, user: 0, name: "me"))
    request.carried.resource = LiveKeys.resource
    request.carried.number = Self.most
    model.apply(request, atMilliseconds: 1)
    var keys = LiveKeys()
    #expect(
      keys.type(Array("+".utf8), model, parallel: 1)
        == [.request(.parallel, .none, value: Self.most)])
  }
}
