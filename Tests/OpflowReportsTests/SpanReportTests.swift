import Fixtures
import Foundation
import OpflowBase
import OpflowJournal
import OpflowPlan
import Testing

/// A run as spans, read as the OpenTelemetry protocol has them in JSON.
@Suite struct SpanReportTests {
  private static let parent = TraceParent(
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")

  private func run(open: OpenEntry = .example) throws -> ReportFixture {
    ReportFixture(
      try ViewFixture.plan([("a", []), ("b", ["a"]), ("c", ["b"]), ("d", [])]), open: open)
  }

  @Test func `the run has a span, and each try has one within it`() throws {
    var run = try run()
    run.tell(.start, "a") { $0.worker = WorkerID(0) }
    run.tell(.retry, "a", .exit(2), wall: 900_000) {
      $0.delayMilliseconds = 1500
      $0.detail = "no\u{1b}[31m luck"
    }
    run.tell(.start, "a", attempt: 2) { $0.worker = WorkerID(1) }
    run.tell(.success, "a", attempt: 2, .success, wall: 800_000)
    run.tell(.start, "b") { $0.worker = WorkerID(0) }
    run.tell(.failure, "b", .signal(9), .timeout)
    run.tell(.skip(.upstream(try #require(run.plan.task(named: "b")))), "c", attempt: 0)
    run.close(.failed, exit: 1)
    let spans = try SpanFixture.spans(run)
    let texts: [String] = spans.map {
      "\($0.name) \($0.kind) \($0.seconds) \($0.status?.message ?? "")"
    }
    #expect(
      texts == [
        "RUN demo 2 0-7 1 task failed", "a 1 1-2 exit 2: no luck", "a 1 3-4 ", "b 1 5-6 timeout",
      ])
    #expect(spans.dropFirst().allSatisfy { $0.parentSpanId == spans[0].spanId })
    #expect(spans[0].parentSpanId == nil)
    #expect(spans[0].flags == 0x101)
    #expect(spans[0].values["cicd.pipeline.result"] == "failure")
    #expect(spans[0].values["error.type"] == "failed")
    #expect(spans[0].values["process.exit.code"] == "1")
    #expect(spans[0].values["opflow.tasks.skipped"] == "1")
    #expect(spans[0].values["opflow.unfinished"] == nil)
    func values(_ key: String) -> [String?] { spans.map { $0.values[key] } }
    #expect(values("cicd.pipeline.task.run.result") == [nil, "failure", "success", "timeout"])
    #expect(values("error.type") == ["failed", "exit", nil, "timeout"])
    #expect(values("cicd.pipeline.task.run.id") == [nil, "a#1", "a#2", "b#1"])
    #expect(spans[1].values["process.exit.code"] == "2")
    #expect(spans[3].values["opflow.signal"] == "9")
    #expect(values("cicd.worker.id") == [nil, "1.0", "1.1", "1.0"])
    let retry = try #require(spans[1].events?.first)
    #expect(retry.name == "retry")
    #expect(retry.values["opflow.delay_ms"] == "1500")
  }

  @Test func `made again it is the same, and what was there stays when the run goes on`() throws {
    var run = try run()
    run.tell(.start, "a")
    run.tell(.failure, "a", .exit(1))
    run.close(.failed, exit: 1)
    let before = try SpanFixture.spans(run)
    #expect(try SpanFixture.text(run) == SpanFixture.text(run))
    run.resume(("a", .failedBefore), reused: 3)
    run.tell(.start, "a", attempt: 2)
    run.tell(.success, "a", attempt: 2, .success)
    run.close(.succeeded, exit: 0)
    let after = try SpanFixture.spans(run)
    #expect(after.map(\.name) == ["RUN demo", "RESUME demo", "a", "a"])
    #expect(after[0].spanId == before[0].spanId)
    #expect(after[2].key == before[1].key)
    #expect(after[2].parentSpanId == after[0].spanId)
    #expect(after[1].parentSpanId == after[0].spanId)
    #expect(after[3].parentSpanId == after[1].spanId)
    #expect(after[1].values["opflow.reused"] == "3")
    #expect(after[0].status == nil)
    #expect(after[0].values["opflow.drives"] == "2")
    #expect(Set(after.map(\.traceId)).count == 1)
  }

  @Test func `it is in the trace of who began it`() throws {
    var open = OpenEntry.example
    open.trace = Self.parent
    var run = try run(open: open)
    run.tell(.start, "a")
    run.tell(.success, "a", .success)
    let spans = try SpanFixture.spans(run, isHeld: true)
    #expect(spans.allSatisfy { $0.traceId == Self.parent?.trace.text })
    #expect(spans[0].parentSpanId == Self.parent?.span.text && spans[0].flags == 0x301)
    #expect(spans[1].parentSpanId == spans[0].spanId && spans[1].flags == 0x101)
  }

  @Test func `a session that another trace began is in that one, and tells of the run`() throws {
    var run = try run()
    run.tell(.start, "a")
    run.resume(("a", .interrupted), trace: Self.parent)
    run.tell(.start, "a", attempt: 2)
    run.tell(.success, "a", attempt: 2, .success)
    run.close(.succeeded, exit: 0)
    run.resume(("a", .asked))
    run.tell(.start, "a", attempt: 3)
    run.close(.interrupted, exit: 130)
    let spans = try SpanFixture.spans(run)
    #expect(spans.map(\.name) == ["RUN demo", "RESUME demo", "RESUME demo", "a", "a", "a"])
    let theirs = Self.parent?.trace.text
    #expect(spans.map { $0.traceId == theirs } == [false, true, false, false, true, false])
    #expect(spans[1].parentSpanId == Self.parent?.span.text && spans[1].flags == 0x301)
    #expect(spans[1].links?.map(\.spanId) == [spans[0].spanId])
    #expect(spans[1].links?.map(\.traceId) == [spans[0].traceId])
    #expect(spans[2].parentSpanId == spans[0].spanId && spans[2].links == nil)
    #expect(spans[4].parentSpanId == spans[1].spanId)
    #expect(spans[3].values["opflow.end"] == "lost")
    #expect(spans[3].values["error.type"] == "lost" && spans[3].status?.code == 2)
  }

  @Test func `what goes on ends when it was last heard of, and says so`() throws {
    var run = try run()
    run.tell(.start, "a")
    run.tell(.start, "d")
    run.tell(.success, "d", .success)
    let live = try SpanFixture.spans(run, isHeld: true)
    #expect(live.map(\.seconds) == ["0-3", "1-3", "2-3"])
    #expect(live.map { $0.values["opflow.unfinished"] } == ["true", "true", nil])
    #expect(live[0].values["opflow.state"] == "running" && live[0].status == nil)
    #expect(live[0].values["cicd.pipeline.result"] == nil)
    #expect(live[1].values["opflow.end"] == "running")
    #expect(live[1].values["cicd.pipeline.task.run.result"] == nil)
    let dead = try SpanFixture.spans(run)
    #expect(dead[0].values["opflow.state"] == "interrupted")
    #expect(dead[0].values["cicd.pipeline.result"] == "error")
    #expect(dead[0].values["opflow.unfinished"] == "true" && dead[0].status?.code == 2)
    #expect(dead.map(\.key) == live.map(\.key))
  }

  @Test func `what was added is an event of its session`() throws {
    var run = try run()
    run.tell(.start, "a")
    let id = try #require(RequestID("x-1"))
    let requester = Requester(pid: 7, user: 0, name: "opflow add")
    run.tell(
      .extend(ExtendEntry(id: id, requester: requester, taskCount: run.plan.taskCount, added: 2)))
    let spans = try SpanFixture.spans(run)
    let event = try #require(spans[0].events?.first)
    #expect(event.name == "add" && event.values["opflow.tasks.added"] == "2")
    #expect(event.values["opflow.order.by"] == "opflow add (pid 7)")
    #expect(spans[1].events == nil)
  }

  @Test func `requests and signals are events of what they were about`() throws {
    var run = try run()
    run.tell(.start, "a")
    run.tell(.start, "d")
    var request = RequestEntry(
      id: try #require(RequestID("x-1")), verb: .cancel,
      requester: Requester(pid: 7, user: 0, name: "me"))
    request.tasks = [try #require(run.plan.task(named: "a"))]
    run.tell(.request(request))
    run.tell(.cancel, "a", .signal(15), .stopped(.cancel))
    run.tell(.stop(StopEntry(signal: 2)))
    run.tell(.interrupt, "d", .signal(15), .stopped(.signal))
    run.tell(.close(CloseEntry(state: .interrupted, exitCode: 130, signal: 2)))
    let spans = try SpanFixture.spans(run)
    #expect(spans[0].events?.map(\.name) == ["cancel", "stop"])
    #expect(spans[0].events?.first?.values["opflow.order.tasks"] == "a")
    #expect(spans[0].events?.last?.values["opflow.signal"] == "2")
    #expect(spans[0].values["cicd.pipeline.result"] == "cancellation")
    #expect(spans[0].status == nil)
    #expect(spans[1].events?.map(\.name) == ["cancel"])
    #expect(spans[2].events == nil)
    let results: [String?] = spans.dropFirst().map { $0.values["cicd.pipeline.task.run.result"] }
    #expect(results == ["cancellation", "cancellation"])
    #expect(spans.dropFirst().allSatisfy { $0.status == nil })
  }

  @Test func `what did not run has no span`() throws {
    var run = try run()
    run.tell(.fresh, "a", attempt: 0)
    run.tell(.skip(.condition), "d", attempt: 0)
    run.close(.succeeded, exit: 0)
    let spans = try SpanFixture.spans(run)
    #expect(spans.map(\.name) == ["RUN demo"])
    #expect(spans[0].values["opflow.tasks.up_to_date"] == "1")
    #expect(spans[0].values["opflow.tasks.skipped"] == "1")
    #expect(spans[0].values["opflow.tasks.pending"] == "2")
  }

  @Test func `a try that a damaged journal tells twice is two spans`() throws {
    var run = try run()
    for _ in 0..<3 { run.tell(.success, "a", .success, wall: 500_000) }
    #expect(try SpanFixture.spans(run).count == 4)
  }

  @Test func `a clock that was set back, and one beyond all time, do no harm`() throws {
    var run = try run()
    run.stepMilliseconds = -2_000_000
    run.tell(.start, "a")
    run.tell(.success, "a", .success)
    run.stepMilliseconds = 1 << 61
    run.tell(.start, "d")
    let spans = try SpanFixture.spans(run, isHeld: true)
    #expect(spans.last?.startTimeUnixNano == "18446744073709000000")
  }

  @Test func `hostile names are text`() throws {
    let hostile = ReportFixture.hostile.filter { $0 != 10 && $0 != 0 }
    let name = String(decoding: hostile, as: UTF8.self)
    let huge = String(repeating: "n", count: 200_000)
    var run = ReportFixture(try ViewFixture.plan([(name, []), (huge, [])]))
    run.tell(.start, name)
    run.tell(.failure, name, .exit(1), .refused) {
      $0.detail = String(decoding: ReportFixture.hostile, as: UTF8.self)
    }
    run.tell(.start, huge)
    let spans = try SpanFixture.spans(run)
    #expect(spans[1].name == CleanText.string(name) && spans[2].name == huge)
    let texts = spans.flatMap { [$0.name, $0.status?.message ?? ""] + $0.values.values }
    for text in texts {
      #expect(!text.unicodeScalars.contains { $0.value < 32 && $0 != "\t" || $0 == "\u{202e}" })
    }
  }

  @Test func `many spans are several requests, and none is lost`() throws {
    let names = (0..<6000).map { "task-\($0)" }
    var run = ReportFixture(try ViewFixture.plan(names.map { ($0, []) }))
    for name in names {
      run.tell(.start, name)
      run.tell(.success, name, .success, wall: 1)
    }
    let lines = try SpanFixture.text(run).split(separator: 10)
    #expect(lines.count == 2)
    #expect(lines.allSatisfy { $0.count < SpanFixture.mostLineBytes })
    #expect(try SpanFixture.spans(run).map(\.name) == ["RUN demo"] + names)
  }
}
