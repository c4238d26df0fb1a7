import Fixtures
import Foundation
import OpflowWire
import Testing

@testable import OpflowJournal
@testable import OpflowPlan
@testable import OpflowReports
@testable import OpflowViews

/// Nodes of a journal in its views and reports.
@Suite struct MachineReportTests {
  private static let hostile = "n\u{1b}[31m1\u{1b}]0;x\u{7}\u{202e}</script><b>\"\n\u{9b}2J"

  private func run(cores: UInt64 = 2) throws -> ReportFixture {
    var run = ReportFixture(
      try ViewFixture.plan([("a", []), ("b", []), ("c", ["b"]), ("d", []), ("e", [])]))
    join(1, "n1", &run, cores: cores)
    join(2, "n2", &run, cores: cores)
    worker(0, at: 1, &run)
    worker(1, at: 2, &run)
    worker(2, at: 0, &run)
    return run
  }

  private func join(_ number: Int32, _ host: String, _ run: inout ReportFixture, cores: UInt64 = 2)
  {
    var entry = NodeEntry(NodeID(number), .joined, host: host)
    entry.cores = cores
    entry.memoryBytes = 4 << 30
    run.tell(.node(entry))
  }

  private func change(
    _ number: Int32, _ state: NodeState, _ host: String, _ detail: String,
    _ run: inout ReportFixture
  ) {
    var entry = NodeEntry(NodeID(number), state, host: host)
    entry.detail = detail
    run.tell(.node(entry))
  }

  private func worker(_ number: Int32, at node: Int32, _ run: inout ReportFixture) {
    var entry = WorkerEntry(worker: WorkerID(number), pid: 9, startTime: 1, bootID: "")
    entry.node = NodeID(node)
    run.tell(.worker(entry))
  }

  private func start(
    _ name: String, _ worker: Int32, attempt: Int32 = 1, _ run: inout ReportFixture
  ) {
    run.tell(.start, name, attempt: attempt) { $0.worker = WorkerID(worker) }
  }

  /// `a` ran on n1, `b` runs on n2, `d` on this machine.
  private func going() throws -> ReportFixture {
    var run = try run()
    start("a", 0, &run)
    run.tell(.success, "a", .success, wall: 1_000_000)
    start("b", 1, &run)
    start("d", 2, &run)
    return run
  }

  // MARK: - status

  private func table(_ run: ReportFixture, isHeld: Bool = true) throws -> String {
    let view = StatusView(
      try run.status(isHeld: isHeld), resumeCommand: "opflow resume r1",
      nowMilliseconds: 1_767_323_059_000, showsAll: false, color: false)
    return String(decoding: view.text(), as: UTF8.self)
  }

  @Test func `the table has the node of each task that ran`() throws {
    var run = try going()
    change(1, .lost, "n1", "its connection was closed", &run)
    #expect(
      try table(run) == """
        run r1 (demo): running for 14.0s
        5 tasks: 1 succeeded, 2 running, 2 pending
        nodes: 1 (n2)
          n1 is lost (its connection was closed)

        TASK  STATE      TIME  NODE          WHY
        a     succeeded  1.0s  n1
        b     running    6.0s  n2
        c     pending                        after b
        d     running    5.0s  this machine
        e     pending

        """)
  }

  @Test func `workers of another session are other workers`() throws {
    var run = try going()
    run.resume(("b", .interrupted), ("d", .interrupted))
    start("b", 1, attempt: 2, &run)
    let status = try run.status(isHeld: true)
    let plan = run.plan
    func host(_ name: String) -> String? {
      status.history.node(of: plan.task(named: name) ?? .none)?.offer.host
    }
    #expect(host("a") == "n1" && host("b") == nil && host("c") == nil)
  }

  @Test func `JSON has the node of each task, and all nodes`() throws {
    var run = try going()
    change(1, .lost, "n1", "its connection was closed", &run)
    let bytes = StatusJSON.text(try run.status(isHeld: true), nowMilliseconds: 0) { _ in nil }
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    let tasks = try #require(object["tasks"] as? [[String: Any]])
    #expect(tasks.map { $0["host"] as? String } == ["n1", "n2", nil, nil, nil])
    #expect(tasks.allSatisfy { $0["host"] != nil })
    let machines = try #require(object["machines"] as? [[String: Any]])
    #expect(machines.map { $0["host"] as? String } == ["n1", "n2"])
    #expect(machines.map { $0["state"] as? String } == ["lost", "joined"])
    #expect(machines[0]["what"] as? String == "its connection was closed")
    #expect(machines[1]["cores"] as? Int == 2 && machines[1]["memory_bytes"] as? Int == 4 << 30)
  }

  @Test func `a run on one machine does not mention nodes`() throws {
    var run = ReportFixture(try ViewFixture.plan([("a", [])]))
    run.tell(.worker(WorkerEntry(worker: WorkerID(0), pid: 1, startTime: 1, bootID: "b")))
    start("a", 0, &run)
    let table = try table(run)
    #expect(!table.contains("NODE") && !table.contains("node"), "\(table)")
    let json = StatusJSON.text(try run.status(isHeld: true), nowMilliseconds: 0) { _ in nil }
    let text = String(decoding: json, as: UTF8.self)
    #expect(!text.contains("host") && !text.contains("machines"))
    #expect(try TakenPage(run).section("machines") == "")
  }

  @Test func `the wait for nodes is shown while the run is live`() throws {
    let run = ReportFixture(try ViewFixture.plan([("a", [])]))
    var status = try run.status(isHeld: true)
    status.awaited = "Slurm job 12 is pending: Resources\u{1b}[2J"
    let view = StatusView(
      status, resumeCommand: "", nowMilliseconds: 1_767_323_045_000, showsAll: false, color: false)
    let text = String(decoding: view.text(), as: UTF8.self)
    #expect(text.contains("\nwaits for nodes: Slurm job 12 is pending: Resources\n"), "\(text)")
    let why = WhyView(status, durations: .unknown, nowMilliseconds: 0) { _ in nil }
    let words = String(decoding: why.text([TaskID(0)], color: false, columns: nil), as: UTF8.self)
    #expect(
      words == "a pending\n  waits for a node: Slurm job 12 is pending: Resources\n", "\(words)")
  }

  // MARK: - why

  private func why(
    _ name: String, _ run: ReportFixture, isHeld: Bool = true, at now: Int64 = 1_767_323_060_000
  ) throws -> String {
    let view = WhyView(
      try run.status(isHeld: isHeld), durations: .unknown, nowMilliseconds: now
    ) { _ in nil }
    let task = try #require(run.plan.task(named: name))
    return String(decoding: view.text([task], color: false, columns: nil), as: UTF8.self)
  }

  @Test func `the node of a task is a reason`() throws {
    let run = try going()
    #expect(try why("a", run).contains("\n  ran on node n1\n"))
    #expect(try why("b", run).contains("on worker 1 of node n2\n"))
    #expect(try why("d", run).contains("on worker 2\n"))
  }

  @Test func `a task waits for a node, or for room on one`() throws {
    var run = try run(cores: 1)
    start("a", 0, &run)
    start("b", 1, &run)
    #expect(
      try why("e", run) == """
        e pending
          needs 1 of cpu; no node has room: n1 has 0 of 1 cpu free, n2 has 0 of 1 cpu free

        """)
    run.tell(.success, "b", .success)
    #expect(try why("e", run).contains("is ready and waits for a free slot"))
    change(1, .lost, "n1", "", &run)
    change(2, .silent, "n2", "its connection was closed", &run)
    #expect(
      try why("e", run) == """
        e pending
          waits for a node; none is available: n2 does not respond (its connection was closed)

        """)
  }

  // MARK: - Reports

  private func trace(_ run: ReportFixture) throws -> [[String: Any]] {
    var report = TraceReport(try run.status())
    var bytes: [UInt8] = []
    while let piece = report.nextPiece() { bytes += piece }
    let object = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
    return try #require(object?["traceEvents"] as? [[String: Any]])
  }

  @Test func `a trace has a process for each node, and marks when it joined and left`() throws {
    var run = try going()
    change(2, .lost, "n2", "its connection was closed", &run)
    let events = try trace(run)
    let names = events.filter { $0["name"] as? String == "process_name" }
      .map { ($0["args"] as? [String: Any])?["name"] as? String }
    #expect(names == ["this machine", "n1", "n2"])
    #expect(
      events.filter { $0["ph"] as? String == "X" }
        .map { "\($0["name"] ?? "") \($0["pid"] ?? "")" } == ["a 2", "b 3", "d 1"])
    #expect(
      events.filter { $0["ph"] as? String == "i" }.map { $0["name"] as? String }
        == ["n1 joined", "n2 joined", "n2 is lost (its connection was closed)"])
  }

  @Test func `a span has the name of its node`() throws {
    let spans = try SpanFixture.spans(try going())
    #expect(spans.dropFirst().map { $0.values["host.name"] } == ["n1", "n2", nil])
  }

  @Test func `a page has tracks by node, and a table of nodes`() throws {
    var run = try going()
    change(2, .lost, "n2", "its connection was closed", &run)
    let page = try TakenPage(run)
    let tracks = try #require(page.data.first?["lanes"] as? [[Any]])
    #expect(tracks.map { $0.first as? String } == ["", "n1", "n2"])
    let section = page.section("machines")
    #expect(section.contains("n1 2 4GiB +1.0s 1"), "\(section)")
    #expect(section.contains("is lost, +10.0s: its connection was closed"), "\(section)")
  }

  @Test func `a suite of tests names its node if there is only one`() throws {
    func hostnames(_ run: ReportFixture) throws -> [Substring] {
      var report = JUnitReport(try run.status(), output: run.output)
      var bytes: [UInt8] = []
      while let piece = report.nextPiece() { bytes += piece }
      return String(decoding: bytes, as: UTF8.self).matches(of: #/hostname="([^"]*)"/#).map(\.1)
    }
    var run = try run()
    start("a", 0, &run)
    #expect(try hostnames(run) == ["n1"])
    start("b", 1, &run)
    #expect(try hostnames(run) == [])
  }

  @Test func `names and reasons are harmless`() throws {
    var run = ReportFixture(try ViewFixture.plan([("a", []), ("b", [])]))
    join(1, Self.hostile, &run)
    worker(0, at: 1, &run)
    start("a", 0, &run)
    change(1, .lost, Self.hostile, Self.hostile, &run)
    let page = try TakenPage(run)
    #expect(!page.text.contains("</script><b>") && page.section("machines").contains("is lost"))
    for text in [
      try table(run), try why("a", run), try why("b", run), page.text,
      try trace(run).map { "\($0["name"] ?? "")" }.joined(separator: "|"),
    ] {
      for part in ["\u{1b}", "\u{7}", "\u{202e}", "\u{9b}"] {
        #expect(!text.contains(part), "\(part.debugDescription) in \(text.debugDescription)")
      }
    }
  }
}
