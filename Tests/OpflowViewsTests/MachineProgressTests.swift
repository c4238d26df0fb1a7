import Fixtures
import OpflowBase
import OpflowEngine
import OpflowJournal
import OpflowPlan
import OpflowViews
import Testing

/// What people see of further machines while a run goes on.
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

  @Test func `a start names its machine, and a failure`() throws {
    var view = try withTwo(.line)
    view.start("a", worker: 0)
    view.start("b", worker: 7)
    view.start("c", attempt: 2, worker: 1)
    view.end("c", .failure, .exit(3), attempt: 2)
    #expect(
      view.errorText() == """
        [0/4] a started on n1
        [0/4] b started
        [0/4] c started on n2 (try 2)
        [1/4] c failed on n2: exit 3 after 1.2s (try 2)
          make c

        """)
  }

  @Test func `one that was handed ahead begins where its worker is`() throws {
    var view = try withTwo(.line)
    var ahead = Transition(.start, view.id("a"), attempt: 1)
    ahead.worker = WorkerID(1)
    ahead.isPrefetched = true
    view.tell(ahead)
    view.start("a")
    #expect(view.errorText() == "[0/4] a started on n2\n")
  }

  @Test func `a loss is a line that tells what follows, and its tasks have none of their own`()
    throws
  {
    var view = try withTwo(.line)
    view.start("a", worker: 1)
    view.start("b", worker: 1)
    view.start("c", worker: 0)
    _ = view.errorText()
    view.node(2, .silent, "n2", detail: "its stream ended")
    view.node(2, .lost, "n2", detail: "nothing was heard of it in time")
    for task in ["a", "b"] {
      view.end(task, .interrupt) { $0.outcome.reason = .workerLost }
    }
    view.node(1, .lost, "n1")
    view.end("c", .interrupt) { $0.outcome.reason = .workerLost }
    #expect(
      view.errorText() == """
        [0/4] n2 is lost (nothing was heard of it in time): 2 tasks run elsewhere: a, b
        [0/4] n1 is lost: 1 task waits for a machine: c

        """)
    // A worker that is lost alone is told of as ever.
    view.node(3, .joined, "n3")
    view.worker(2, at: 3)
    view.start("a", worker: 2)
    view.end("a", .interrupt) { $0.outcome.reason = .workerLost }
    #expect(
      view.errorText()
        == "[0/4] a started on n3\n[0/4] a interrupted: its worker was lost\n")
  }

  @Test func `what leaves, is shunned and is used again is told, each in a line`() throws {
    var view = try withTwo(.line)
    view.node(1, .quarantined, "n1", detail: "nothing more starts there: it is odd")
    view.start("a", worker: 1)
    view.node(2, .leaving, "n2", detail: "preempted")
    view.end("a", .interrupt) { $0.outcome.reason = .workerLost }
    view.node(2, .lost, "n2", detail: "its agent left")
    view.node(1, .readmitted, "n1", detail: "no other machine is left")
    #expect(
      view.errorText() == """
        [0/4] n1: nothing more starts there: it is odd
        [0/4] a started on n2
        [0/4] n2 is about to go (preempted): nothing new starts there
        [0/4] n2 is gone (its agent left): 1 task waits for a machine: a
        [0/4] n1 is used again: no other machine is left

        """)
    var quiet = try withTwo(.quiet)
    quiet.start("a", worker: 0)
    quiet.awaitMachines("job 1 of Slurm waits")
    #expect(quiet.errorText() == "")
    // As a failure, a loss is told to those who want to hear of nothing else.
    quiet.node(1, .lost, "n1")
    #expect(quiet.errorText() == "[0/4] n1 is lost: 1 task runs elsewhere: a\n")
  }

  @Test func `what is waited for is a line for each change`() throws {
    var view = try view(.line)
    view.awaitMachines("job 12 of Slurm waits", isNews: false)
    view.awaitMachines("job 12 of Slurm waits: Resources")
    view.awaitMachines("job 12 of Slurm waits: Resources")
    view.endWait("job 12 of Slurm runs on n1, n2")
    #expect(
      view.errorText() == """
        [0/4] job 12 of Slurm waits: Resources
        [0/4] job 12 of Slurm runs on n1, n2

        """)
  }

  @Test func `a run that no machine was left for says so, and nothing of a signal`() throws {
    var view = try withTwo(.line)
    view.stop(by: 15, detail: "no machine is left for tasks that wait; n1 could not be reached")
    view.close(.interrupted, exit: 143, signal: 15)
    let text = view.errorText()
    #expect(
      text.contains(
        """
        warning: the run is being stopped: no machine is left for tasks that wait; \
        n1 could not be reached

        """
      ), "\(text)")
    #expect(text.contains("run r1 interrupted, since no machine was left, in 0.00s: 4 pending\n"))
    #expect(text.contains("resume it when machines can be had: opflow resume r1\n"), "\(text)")
    #expect(!text.contains("SIGTERM"), "\(text)")
  }

  // MARK: - JSON

  @Test func `programs are told of machines, and where a task starts`() throws {
    var view = try withTwo(.quiet, json: true)
    view.start("a", worker: 1)
    view.start("b", worker: 5)
    view.node(2, .lost, "n2", detail: "its stream ended")
    view.awaitMachines("job 1 of Slurm waits: \"Priority\"\u{1b}")
    let text = view.outputText()
    #expect(
      text == """
        {"time_ms":1000,"event":"machine","host":"n1","state":"joined","cores":2,"memory_bytes":null,"gpus":0}
        {"time_ms":1000,"event":"machine","host":"n2","state":"joined","cores":2,"memory_bytes":null,"gpus":0}
        {"time_ms":1000,"event":"start","task":"a","attempt":1,"host":"n2"}
        {"time_ms":1000,"event":"start","task":"b","attempt":1}
        {"time_ms":1000,"event":"machine","host":"n2","state":"lost","what":"its stream ended"}
        {"time_ms":1000,"event":"wait","what":"job 1 of Slurm waits: \\"Priority\\"\\u001b"}

        """, "\(text)")
  }

  // MARK: - Live

  @Test func `a frame tells of machines, and behind each task of its own`() throws {
    var view = try withTwo(.live)
    view.start("a", worker: 0)
    view.start("b", worker: 9)
    view.wait(900)
    #expect(
      view.frame(columns: 80, rows: 24) == [
        "a    1.0s  n1", "b    1.0s", "machines: 2 (n1 n2)", "[0/4] 1.0s, 2 running, 2 waiting",
      ])
    view.node(2, .silent, "n2", detail: "its stream ended")
    #expect(view.frame(columns: 80, rows: 24)[2] == "machines: 1 (n1), n2 says nothing")
    // Where there are few rows or columns it is left out.
    view.resize(columns: 80, rows: 6)
    #expect(
      view.frame(columns: 80, rows: 6)
        == ["a    1.2s  n1", "b    1.2s", "[0/4] 1.2s, 2 running, 2 waiting"])
    view.resize(columns: 13, rows: 24)
    #expect(view.frame(columns: 13, rows: 24).first?.hasPrefix("a    1.3s") == true)
  }

  @Test func `what is waited for stands in the frame for as long as it is`() throws {
    var view = try view(.live)
    view.awaitMachines("job 12 of Slurm waits: Resources")
    #expect(
      view.frame(columns: 80, rows: 24) == [
        "job 12 of Slurm waits: Resources, machines: none", "[0/4] 0.10s, 0 running, 4 waiting",
      ])
    view.endWait("job 12 of Slurm runs on n1")
    view.node(1, .joined, "n1")
    #expect(view.frame(columns: 80, rows: 24).first == "machines: 1 (n1)")
    #expect(!view.errorText().contains("Slurm"))
  }

  @Test(arguments: [1, 2, 4, 7, 10, 24], [10, 24, 40, 80, 200])
  func `a frame with many machines is bounded as any other`(rows: Int, columns: Int) throws {
    var options = ProgressOptions(mode: .live)
    options.size = TerminalSize(columns: columns, rows: rows)
    var view = ViewDriver(
      try ViewFixture.plan((0..<40).map { ("task-\($0)", []) }), options)
    _ = view.errorText()
    view.awaitMachines("job 1 of Slurm waits: \(String(repeating: "進捗", count: 60))")
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
    view.awaitMachines("job 1 of Slurm waits: \(Self.hostile)")
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
