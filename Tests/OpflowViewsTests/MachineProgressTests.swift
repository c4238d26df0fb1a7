import Fixtures
import OpflowBase
import OpflowEngine
import OpflowJournal
import OpflowPlan
import OpflowViews
import Testing

/// Nodes in the views of a live run.
@Suite struct MachineProgressTests {
  private static let hostile = "n\u{1b}[31m1\u{1b}]0;x\u{7}\u{202e}::error::x\n\u{9b}2J"

  private func view(_ mode: OutputMode, json: Bool = false, columns: Int = 80) throws -> ViewDriver
  {
    var options = ProgressOptions(mode: mode)
    options.json = json
    options.passesCommands = false
    options.size = TerminalSize(columns: columns, rows: 24)
    var view = ViewDriver(
      try ViewFixture.plan([("a", []), ("b", []), ("c", []), ("d", ["a"])]), options)
    _ = view.errorText()
    _ = view.outputText()
    return view
  }

  private func withTwo(_ mode: OutputMode, json: Bool = false) throws -> ViewDriver {
    var view = try view(mode, json: json)
    view.node(1, .joined, "n1")
    view.node(2, .joined, "n2")
    view.worker(0, at: 1)
    view.worker(1, at: 2)
    return view
  }

  // MARK: - Lines

  @Test func `a start and a failure name their node`() throws {
    var view = try withTwo(.line)
    view.start("a", worker: 0)
    view.start("b", worker: 7)
    view.start("c", attempt: 2, worker: 1)
    view.end("c", .failure, .exit(3), attempt: 2)
    #expect(
      view.errorText() == """
        [0/4] a started on n1
        [0/4] b started
        [0/4] c started on n2 (attempt 2)
        [1/4] c failed on n2 after 1.2s (attempt 2): exit 3
          make c

        """)
  }

  @Test func `a prefetched task starts on the node of its worker`() throws {
    var view = try withTwo(.line)
    var ahead = Transition(.start, view.id("a"), attempt: 1)
    ahead.worker = WorkerID(1)
    ahead.isPrefetched = true
    view.tell(ahead)
    view.start("a")
    #expect(view.errorText() == "[0/4] a started on n2\n")
  }

  @Test func `the loss of a node is one line, and its tasks have no lines of their own`()
    throws
  {
    var view = try withTwo(.line)
    view.start("a", worker: 1)
    view.start("b", worker: 1)
    view.start("c", worker: 0)
    _ = view.errorText()
    view.node(2, .silent, "n2", detail: "its connection was closed")
    view.node(2, .lost, "n2", detail: "it sent nothing within the heartbeat timeout")
    for task in ["a", "b"] {
      view.end(task, .interrupt) { $0.outcome.reason = .workerLost }
    }
    view.node(1, .lost, "n1")
    view.end("c", .interrupt) { $0.outcome.reason = .workerLost }
    #expect(
      view.errorText() == """
        [0/4] node n2 is lost (it sent nothing within the heartbeat timeout): 2 tasks run on another \
        node: a, b
        [0/4] node n1 is lost: 1 task waits for a node: c

        """)
    // The loss of a worker without its node has a line for its task.
    view.node(3, .joined, "n3")
    view.worker(2, at: 3)
    view.start("a", worker: 2)
    view.end("a", .interrupt) { $0.outcome.reason = .workerLost }
    #expect(
      view.errorText()
        == "[0/4] a started on n3\n[0/4] a interrupted: its worker was lost\n")
  }

  @Test func `a node that leaves, is quarantined or is used again has a line`() throws {
    var view = try withTwo(.line)
    view.node(1, .quarantined, "n1", detail: "opflow starts no more tasks there; it is odd")
    view.start("a", worker: 1)
    view.node(2, .leaving, "n2", detail: "preempted")
    view.end("a", .interrupt) { $0.outcome.reason = .workerLost }
    view.node(2, .lost, "n2", detail: "its agent exited")
    view.node(1, .readmitted, "n1", detail: "no other node is left")
    #expect(
      view.errorText() == """
        [0/4] node n1: opflow starts no more tasks there; it is odd
        [0/4] a started on n2
        [0/4] node n2 is leaving (preempted); no further task starts there
        [0/4] node n2 is gone (its agent exited): 1 task waits for a node: a
        [0/4] node n1 is used again: no other node is left

        """)
    var quiet = try withTwo(.quiet)
    quiet.start("a", worker: 0)
    quiet.awaitMachines("Slurm job 1 is pending")
    #expect(quiet.errorText() == "")
    // A quiet view reports the loss of a node, as it reports failures.
    quiet.node(1, .lost, "n1")
    #expect(quiet.errorText() == "[0/4] node n1 is lost: 1 task runs on another node: a\n")
  }

  @Test func `each change of a wait for nodes is a line`() throws {
    var view = try view(.line)
    view.awaitMachines("Slurm job 12 is pending", isNews: false)
    view.awaitMachines("Slurm job 12 is pending: Resources")
    view.awaitMachines("Slurm job 12 is pending: Resources")
    view.endWait("Slurm job 12 runs on n1, n2")
    #expect(
      view.errorText() == """
        [0/4] Slurm job 12 is pending: Resources
        [0/4] Slurm job 12 runs on n1, n2

        """)
  }

  @Test func `a run without nodes says so, and does not name a signal`() throws {
    var view = try withTwo(.line)
    view.stop(by: 15, detail: "no node is left for the waiting tasks; n1 could not be reached")
    view.close(.interrupted, exit: 143, signal: 15)
    let text = view.errorText()
    #expect(
      text.contains(
        """
        warning: stopping the run: no node is left for the waiting tasks; n1 could not be reached

        """
      ), "\(text)")
    #expect(text.contains("run r1 interrupted (no node was left) in 0.00s: 4 pending\n"))
    #expect(text.contains("to continue when nodes are available: opflow resume r1\n"), "\(text)")
    #expect(!text.contains("SIGTERM"), "\(text)")
  }

  // MARK: - JSON

  @Test func `JSON has the nodes, and the node of each start`() throws {
    var view = try withTwo(.quiet, json: true)
    view.start("a", worker: 1)
    view.start("b", worker: 5)
    view.node(2, .lost, "n2", detail: "its connection was closed")
    view.awaitMachines("Slurm job 1 is pending: \"Priority\"\u{1b}")
    let text = view.outputText()
    #expect(
      text == """
        {"time_ms":1000,"event":"machine","host":"n1","state":"joined","cores":2,"memory_bytes":null,"gpus":0}
        {"time_ms":1000,"event":"machine","host":"n2","state":"joined","cores":2,"memory_bytes":null,"gpus":0}
        {"time_ms":1000,"event":"start","task":"a","attempt":1,"host":"n2"}
        {"time_ms":1000,"event":"start","task":"b","attempt":1}
        {"time_ms":1000,"event":"machine","host":"n2","state":"lost","what":"its connection was closed"}
        {"time_ms":1000,"event":"wait","what":"Slurm job 1 is pending: \\"Priority\\"\\u001b"}

        """, "\(text)")
  }

  // MARK: - Live

  @Test func `a frame has the nodes, and the node of each task`() throws {
    var view = try withTwo(.live)
    view.start("a", worker: 0)
    view.start("b", worker: 9)
    view.wait(900)
    #expect(
      view.frame(columns: 80, rows: 24) == [
        "a    1.0s  n1", "b    1.0s", "nodes: 2 (n1 n2)", "[0/4] 1.0s, 2 running, 2 pending",
      ])
    view.node(2, .silent, "n2", detail: "its connection was closed")
    #expect(view.frame(columns: 80, rows: 24)[2] == "nodes: 1 (n1), n2 does not respond")
    // Where there are few rows or columns it is left out.
    view.resize(columns: 80, rows: 6)
    #expect(
      view.frame(columns: 80, rows: 6)
        == ["a    1.2s  n1", "b    1.2s", "[0/4] 1.2s, 2 running, 2 pending"])
    view.resize(columns: 13, rows: 24)
    #expect(view.frame(columns: 13, rows: 24).first?.hasPrefix("a    1.3s") == true)
  }

  @Test func `a frame shows the wait for nodes until it ends`() throws {
    var view = try view(.live)
    view.awaitMachines("Slurm job 12 is pending: Resources")
    #expect(
      view.frame(columns: 80, rows: 24) == [
        "Slurm job 12 is pending: Resources, nodes: none", "[0/4] 0.10s, 0 running, 4 pending",
      ])
    view.endWait("Slurm job 12 runs on n1")
    view.node(1, .joined, "n1")
    #expect(view.frame(columns: 80, rows: 24).first == "nodes: 1 (n1)")
    #expect(!view.errorText().contains("Slurm"))
  }

  @Test(arguments: [1, 2, 4, 7, 10, 24], [10, 24, 40, 80, 200])
  func `a frame with many machines is bounded as any other`(rows: Int, columns: Int) throws {
    var options = ProgressOptions(mode: .live)
    options.size = TerminalSize(columns: columns, rows: rows)
    var view = ViewDriver(
      try ViewFixture.plan((0..<40).map { ("task-\($0)", []) }), options)
    _ = view.errorText()
    view.awaitMachines("Slurm job 1 is pending: \(String(repeating: "進捗", count: 60))")
    for number in 1...40 {
      view.node(Int32(number), .joined, "進捗-node\(number)\u{1b}[2J\t\(Self.hostile)")
      view.worker(Int32(number), at: Int32(number))
      if number < 40 { view.start("task-\(number)", worker: Int32(number)) }
    }
    view.wait(2_000)
    let frame = view.frame(columns: columns, rows: rows)
    #expect(frame.count <= max(1, rows / 2), "\(frame)")
    #expect(frame.allSatisfy { !$0.isEmpty })
  }

  // MARK: - Text from elsewhere

  @Test(arguments: [OutputMode.line, .live, .group, .gitHub])
  func `names and reasons are harmless`(mode: OutputMode) throws {
    var view = try view(mode)
    view.awaitMachines("Slurm job 1 is pending: \(Self.hostile)")
    view.node(1, .joined, Self.hostile)
    view.worker(0, at: 1)
    view.start("a", worker: 0)
    view.node(1, .quarantined, Self.hostile, detail: Self.hostile)
    view.node(1, .leaving, Self.hostile, detail: Self.hostile)
    view.start("b", worker: 0)
    view.end("b", .failure, .exit(1))
    view.node(1, .lost, Self.hostile, detail: Self.hostile)
    view.stop(by: 15, detail: Self.hostile)
    view.close(.interrupted, exit: 143, signal: 15)
    let text = view.errorText()
    for part in ["\u{1b}[31m", "\u{1b}]0", "\u{7}", "\u{202e}", "\u{9b}"] {
      #expect(!text.contains(part), "\(part.debugDescription) in \(text.debugDescription)")
    }
    if mode == .gitHub {
      #expect(!text.split(separator: "\n").contains { $0.hasPrefix("::error::x") }, "\(text)")
    }
  }
}
