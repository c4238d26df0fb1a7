import Fixtures
import OpflowBase
import OpflowJournal
import OpflowPlan
import OpflowViews
import Testing

/// Views whose reader is slow, or reads nothing.
@Suite struct ViewReaderTests {
  private func plan(_ count: Int) throws -> Plan {
    try ViewFixture.plan((1...count).map { ("t\($0)", []) })
  }

  /// Of four digits.
  private func grouped(_ count: Int) -> String { "\(count / 1000),\("\(count)".suffix(3))" }

  @Test func `output is left out where nobody reads, and what happens is not`() throws {
    var view = ViewDriver(try plan(2), ProgressOptions(mode: .line))
    view.start("t1")
    let line = String(repeating: "x", count: 999) + "\n"
    for _ in 0..<10_000 { view.output("t1", line) }
    #expect(view.outputRoom == 0)
    view.end("t1", .success)
    view.start("t2")
    view.warning("the disk is slow")
    view.end("t2", .failure, .exit(1))
    let lines = view.errorText().split(separator: "\n").map(String.init)
    let shown = lines.count { $0.hasPrefix("t1 | ") }
    #expect((4000...4300).contains(shown))
    #expect(
      lines.dropFirst(shown + 2) == [
        "… \(grouped(10_000 - shown)) lines not shown; the log has them",
        "[1/2] t1 succeeded in 1.2s", "[1/2] t2 started", "warning: the disk is slow",
        "[2/2] t2 failed after 1.2s: exit 1",
        "  make t2",
      ])
    #expect(view.outputRoom > 0)
  }

  @Test func `output that was skipped in a log is told in its place`() throws {
    var view = ViewDriver(try plan(1), ProgressOptions(mode: .line))
    _ = view.errorText()
    view.start("t1")
    view.output("t1", "one\ntwo")
    view.skipped("t1", bytes: 700_000, lines: 12_345)
    view.output("t1", "three\n")
    view.skipped("t1", bytes: 700 << 20, lines: nil)
    #expect(
      view.errorText() == """
        [0/1] t1 started
        t1 | one
        t1 | two
        t1 | … 12,345 lines not shown; full log: logs/t1.log
        t1 | three
        t1 | … 700.0MiB not shown; full log: logs/t1.log

        """)
  }

  @Test func `in the end what tasks printed makes way for what happened`() throws {
    var view = ViewDriver(try plan(2), ProgressOptions(mode: .line))
    for name in ["t1", "t2"] {
      view.start(name)
      view.output(name, "a\nb\n")
      view.end(name, .success)
    }
    view.close(.succeeded)
    view.leaveOutOutput()
    #expect(
      view.errorText() == """
        run r1 (demo): 2 tasks
        [0/2] t1 started
        … 2 lines not shown; the log has them
        [1/2] t1 succeeded in 1.2s
        [1/2] t2 started
        … 2 lines not shown; the log has them
        [2/2] t2 succeeded in 1.2s
        run r1 succeeded in 0.00s: 2 succeeded

        """)
  }

  @Test(arguments: [OutputMode.live, .line, .gitHub, .quiet])
  func `what waits for a reader is bounded, and the last words are there`(mode: OutputMode) throws {
    var options = ProgressOptions(mode: mode)
    options.json = true
    // Long names: it takes fewer of them to say too much.
    let names = (1...500).map { "t\($0)-" + String(repeating: "n", count: 1600) }
    var view = ViewDriver(try ViewFixture.plan(names.map { ($0, []) }), options)
    let output = [UInt8](repeating: 121, count: 2 << 20)
    for round in 1...12 {
      for (task, name) in names.enumerated() {
        view.start(name)
        // Some print much more than anybody reads.
        let prints = task == round && round <= 3
        if prints { view.output(name, output) }
        view.end(name, .failure, .exit(1), outputBytes: prints ? 2 << 20 : 0)
      }
    }
    view.close(.failed, exit: 1)
    let errors = view.errorText()
    #expect(errors.utf8.count < 12 << 20)
    #expect(errors.hasSuffix("to continue: opflow resume r1\n"))
    let objects = view.outputText()
    #expect(objects.utf8.count < 17 << 20)
    let last = objects.split(separator: "\n").suffix(2)
    #expect(last.first?.contains(#""event":"missing","lines":"#) == true)
    #expect(last.last?.contains(#""event":"close""#) == true)
  }

  @Test(arguments: [OutputMode.line, .group])
  func `after a minute of silence the running tasks are listed`(mode: OutputMode) throws {
    var view = ViewDriver(try plan(8), ProgressOptions(mode: mode))
    for task in 1...7 { view.start("t\(task)") }
    _ = view.errorText()
    for _ in 1...60 {
      view.tick()
      #expect(view.errorText() == "")
      view.wait(1000)
    }
    view.tick()
    #expect(
      view.errorText() == "[0/8] still running: t1 (1m00s), t2 (1m00s), t3 (1m00s), "
        + "t4 (1m00s), t5 (1m00s) … and 2 more\n")
    view.wait(59_000)
    view.tick()
    view.warning("x")
    view.wait(1000)
    view.tick()
    #expect(view.errorText() == "warning: x\n")
    view.wait(60_000)
    view.tick()
    #expect(view.errorText().hasPrefix("[0/8] still running: t1 (3m00s)"))
    for task in 1...7 { view.end("t\(task)", .success) }
    _ = view.errorText()
    view.wait(600_000)
    view.tick()
    view.tick()
    #expect(view.errorText() == "")
  }
}
