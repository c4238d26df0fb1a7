import Fixtures
import Foundation
import OpflowJournal
import OpflowPlan
import OpflowReports
import OpflowWire
import Testing

/// A run as a trace, read as the rules of the Trace Event Format have it.
@Suite struct TraceReportTests {
  private struct Event: Decodable {
    struct Arguments: Decodable {
      var name: String?
      var end: String?
      var outcome: String?
      var attempt: Int?
      var tasks: Int?
      var held: Double?
    }
    let ph: String
    let name: String
    var cat: String?
    var ts: Int64?
    var dur: Int64?
    let pid: Int
    var tid: Int?
    var id: Int?
    var bp: String?
    var s: String?
    var args: Arguments?

    var end: Int64 { (ts ?? 0) + (dur ?? 0) }
    var track: [Int] { [pid, tid ?? -1] }
  }

  private struct Trace: Decodable {
    let traceEvents: [Event]

    func of(_ phase: String) -> [Event] { traceEvents.filter { $0.ph == phase } }
  }

  /// Read, and held against the rules that readers have.
  private func trace(_ run: ReportFixture, isHeld: Bool = false) throws -> Trace {
    var report = TraceReport(try run.status(isHeld: isHeld))
    var bytes: [UInt8] = []
    while let piece = report.nextPiece() { bytes += piece }
    let trace = try JSONDecoder().decode(Trace.self, from: Data(bytes))
    for fault in Self.faults(trace) { Issue.record("\(fault)") }
    return trace
  }

  private static func faults(_ trace: Trace) -> [String] {
    var faults: [String] = []
    let named = Set(trace.of("M").filter { $0.name == "thread_name" }.map(\.track))
    let slices = trace.of("X").sorted { ($0.ts ?? 0) < ($1.ts ?? 0) }
    var last: [[Int]: Int64] = [:]
    for slice in slices {
      if slice.ts ?? -1 < 0 || slice.dur ?? 0 < 1 { faults.append("\(slice.name) has no time") }
      if !named.contains(slice.track) { faults.append("\(slice.name) is in a lane without a name") }
      if let last = last[slice.track], slice.ts ?? 0 < last {
        faults.append("\(slice.name) begins before the one before it ends")
      }
      last[slice.track] = slice.end
    }
    for event in trace.of("s") + trace.of("f") {
      let time = event.ts ?? -1
      if !slices.contains(where: {
        $0.track == event.track && $0.ts ?? 0 <= time && time < $0.end
      }) {
        faults.append("an arrow \(event.ph) at \(time) is at no slice")
      }
    }
    let starts = trace.of("s").map(\.id)
    if starts != trace.of("f").map(\.id) || Set(starts).count != starts.count {
      faults.append("an arrow without an end")
    }
    for (start, end) in zip(trace.of("s"), trace.of("f")) where start.ts ?? 0 > end.ts ?? 0 {
      faults.append("an arrow back in time")
    }
    var times: [String: Int64] = [:]
    for event in trace.of("C") {
      if times[event.name] ?? -1 >= event.ts ?? -1 { faults.append("\(event.name) goes back") }
      times[event.name] = event.ts
    }
    return faults
  }

  private func run() throws -> ReportFixture {
    ReportFixture(
      try ViewFixture.plan([("a", []), ("b", ["a"]), ("c", ["b"]), ("d", []), ("e", [])]))
  }

  @Test func `attempts are on tracks of their workers, with arrows along the critical path`() throws
  {
    var run = try run()
    run.tell(.start, "a") { $0.worker = WorkerID(0) }
    run.tell(.start, "d") { $0.worker = WorkerID(1) }
    run.tell(.retry, "a", .exit(2), wall: 2_000_000)
    run.tell(.start, "a", attempt: 2) { $0.worker = WorkerID(0) }
    run.tell(.success, "a", attempt: 2, .success, wall: 1_000_000)
    run.tell(.start, "b") { $0.worker = WorkerID(0) }
    run.tell(.success, "d", .success, wall: 3_000_000)
    run.tell(.success, "b", .success, wall: 2_000_000)
    run.tell(.start, "c") { $0.worker = WorkerID(1) }
    run.tell(.failure, "c", .signal(9), wall: 1_000_000)
    let trace = try trace(run)
    let slices: [String] = trace.of("X").map {
      "\($0.name) \($0.tid ?? 0) \($0.ts ?? 0)+\($0.dur ?? 0) \($0.cat ?? "")"
    }
    #expect(
      slices == [
        "a 1 1000000+2000000 retried", "d 2 2000000+5000000 succeeded",
        "a 1 4000000+1000000 succeeded", "b 1 6000000+2000000 succeeded",
        "c 2 9000000+1000000 failed",
      ])
    #expect(trace.of("X").map { $0.args?.attempt } == [1, 1, 2, 1, 1])
    #expect(trace.of("X").last?.args?.outcome == "signal 9 (KILL)")
    #expect(trace.of("s").map(\.ts) == [4_999_999, 7_999_999])
    #expect(trace.of("f").map(\.ts) == [6_000_000, 9_000_000])
    #expect(trace.of("f").allSatisfy { $0.bp == "e" })
    let running = trace.of("C").filter { $0.name == "running" }
    #expect(running.map { $0.args?.tasks } == [1, 2, 1, 2, 1, 2, 1, 0, 1, 0])
    let cpu = trace.of("C").filter { $0.name == "cpu" }
    #expect(cpu.map { $0.args?.held } == [1, 2, 1, 2, 1, 2, 1, 0, 1, 0])
  }

  @Test func `a worker that has many tasks at once has a lane for each`() throws {
    var run = try run()
    for name in ["a", "b", "c"] { run.tell(.start, name) { $0.worker = WorkerID(0) } }
    run.tell(.success, "b", .success)
    run.tell(.start, "d") { $0.worker = WorkerID(0) }
    let trace = try trace(run, isHeld: true)
    #expect(trace.of("X").map(\.tid) == [1, 2, 3, 2])
    let names = trace.of("M").filter { $0.name == "thread_name" }.map { $0.args?.name }
    #expect(names == ["worker 0", "worker 0 (2)", "worker 0 (3)"])
    #expect(trace.of("X").map { $0.args?.end } == ["running", "succeeded", "running", "running"])
  }

  @Test func `machines are processes, and sessions share tracks`() throws {
    var run = try run()
    let far = WorkerEntry(
      worker: WorkerID(1), pid: 9, startTime: 1, bootID: "", autogroup: 0,
      host: "far\u{1b}[31m\u{202e}")
    run.tell(.worker(far))
    run.tell(.start, "a") { $0.worker = WorkerID(0) }
    run.tell(.start, "d") { $0.worker = WorkerID(1) }
    run.resume(("a", .interrupted), ("d", .interrupted))
    run.tell(.start, "a", attempt: 2) { $0.worker = WorkerID(0) }
    run.tell(.success, "a", attempt: 2, .success)
    let trace = try trace(run)
    let names = trace.of("M").filter { $0.name == "process_name" }.map { $0.args?.name }
    #expect(names == ["this machine", "far"])
    #expect(
      trace.of("X").map { "\($0.pid) \($0.tid ?? 0) \($0.cat ?? "")" }
        == ["1 1 lost", "2 2 lost", "1 1 succeeded"])
  }

  @Test func `what was added is an instant`() throws {
    var run = try run()
    run.tell(.start, "a") { $0.worker = WorkerID(0) }
    let id = try #require(RequestID("x-1"))
    let requester = Requester(pid: 7, user: 0, name: "opflow add")
    run.tell(
      .extend(ExtendEntry(id: id, requester: requester, taskCount: run.plan.taskCount, added: 2)))
    let instants = try trace(run).of("i")
    #expect(instants.map(\.name) == ["2 tasks added by opflow add (pid 7)"])
    #expect(instants.map(\.ts) == [2_000_000])
  }

  @Test func `what happens within a millisecond is kept apart`() throws {
    var run = ReportFixture(try ViewFixture.plan((0..<50).map { ("t\($0)", []) }))
    run.stepMilliseconds = 0
    for task in 0..<50 {
      run.tell(.start, "t\(task)") { $0.worker = WorkerID(0) }
      run.tell(.success, "t\(task)", .success, wall: 10)
    }
    #expect(try trace(run).of("X").map(\.ts) == (0..<50).map { Int64($0) })
  }

  @Test func `names of tasks cannot break it, and a run that never began has one`() throws {
    let name = String(decoding: ReportFixture.hostile.filter { $0 != 10 && $0 != 0 }, as: UTF8.self)
    var run = ReportFixture(try ViewFixture.plan([(name, [])]))
    run.tell(.start, name)
    let slice = try #require(try trace(run).of("X").first)
    #expect(!slice.name.unicodeScalars.contains { $0.value < 32 || $0.value == 0x202E })
    #expect(try trace(self.run()).of("X").isEmpty)
  }
}
