import Fixtures
import OpflowBase
import OpflowJournal
import OpflowPlan
import OpflowViews
import Screen
import Testing

/// The live view: exact bytes, and what a terminal makes of them.
@Suite struct ViewLiveTests {
  private static let mebibyte: Int64 = 1 << 20

  private func plan() throws -> Plan {
    try ViewFixture.plan(
      [("fetch", []), ("build", []), ("test", ["build"]), ("publish", ["test"])],
      downloads: ["fetch": ["http://example.org/file"]])
  }

  private func owner(_ plan: Plan, columns: Int = 80, rows: Int = 24) throws -> ViewDriver {
    var options = ProgressOptions(mode: .live)
    options.size = TerminalSize(columns: columns, rows: rows)
    return ViewDriver(plan, options)
  }

  @Test func `frames are drawn over each other in one piece, below the text that stays`() throws {
    var view = try owner(plan(), columns: 40)
    #expect(view.errorText() == "run r1 (demo): 4 tasks\n")
    view.start("fetch")
    #expect(view.errorText() == "")
    view.wait(100)
    view.tick()
    #expect(
      view.errorText() == """
        \u{1b}[?2026h\u{1b}[?25l\u{1b}[?7lfetch   0.10s\u{1b}[K
        [0/4] 0.10s, 1 running, 3 pending\u{1b}[K\u{1b}[?7h\r\u{1b}[1A\u{1b}[?25h\u{1b}[?2026l
        """)
    view.wait(50)
    view.tick()
    #expect(view.errorText() == "")
    view.start("build")
    view.wait(2000)
    view.tick()
    #expect(
      view.errorText() == """
        \u{1b}[?2026h\u{1b}[?25l\r\u{1b}[?7lfetch    2.1s\u{1b}[K
        build    2.0s\u{1b}[K
        [0/4] 2.1s, 2 running, 2 pending\u{1b}[K\u{1b}[?7h\r\u{1b}[2A\u{1b}[?25h\u{1b}[?2026l
        """)
    // What stays waits for the next frame.
    view.warning("the disk is slow")
    view.wait(99)
    view.tick()
    #expect(view.errorText() == "")
    view.wait(1)
    view.tick()
    #expect(
      view.errorText() == """
        \u{1b}[?2026h\u{1b}[?25l\r\u{1b}[K\u{1b}[C\u{1b}[J\rwarning: the disk is slow
        \u{1b}[?7lfetch    2.2s
        build    2.1s
        [0/4] 2.2s, 2 running, 2 pending\u{1b}[?7h\r\u{1b}[2A\u{1b}[?25h\u{1b}[?2026l
        """)
    view.end("build", .success)
    view.wait(100)
    view.tick()
    #expect(
      view.errorText() == """
        \u{1b}[?2026h\u{1b}[?25l\r\u{1b}[?7lfetch    2.3s\u{1b}[K
        [1/4] 2.3s, 1 running, 2 pending\u{1b}[K\u{1b}[J\u{1b}[?7h\r\u{1b}[1A\u{1b}[?25h\u{1b}[?2026l
        """)
    view.close(.interrupted, exit: 130, signal: 2)
    #expect(
      view.errorText() == """
        \u{1b}[?2026h\u{1b}[?25l\r\u{1b}[K\u{1b}[C\u{1b}[J\rpending: test, publish
        run r1 interrupted by SIGINT in 2.3s: 1
          succeeded, 2 pending
        to continue: opflow resume r1
        \u{1b}[?25h\u{1b}[?2026l
        """)
    #expect(view.errorText() == "")
  }

  @Test func `a run that is over at once is not drawn at all`() throws {
    var view = try owner(plan())
    view.start("fetch")
    view.end("fetch", .success)
    view.wait(99)
    view.tick()
    view.close(.succeeded)
    #expect(!view.errorText().contains("\u{1b}"))
  }

  @Test func `failures stay above, and the summary has the command for the output`() throws {
    var view = try owner(plan())
    _ = view.errorText()
    view.start("fetch")
    view.wait(100)
    view.tick()
    _ = view.errorText()
    view.wait(100)
    view.end("fetch", .retry, .exit(75), outputBytes: 3) { $0.delayMilliseconds = 100 }
    #expect(
      view.errorText() == """
        \u{1b}[?2026h\u{1b}[?25l\r\u{1b}[K\u{1b}[C\u{1b}[J\r[0/4] fetch failed after 1.2s: exit 75; attempt 2 in 0.10s
        \u{1b}[?7l[0/4] 0.20s, 0 running, 4 pending\u{1b}[?7h\r\u{1b}[?25h\u{1b}[?2026l
        """)
    view.close(.succeeded)
    #expect(view.errorText().contains("to see the output of tasks: opflow logs --run r1\n"))
  }

  @Test func `a success that the next run does not use stays above`() throws {
    var view = try owner(plan())
    _ = view.errorText()
    view.start("build")
    view.end("build", .success) { $0.detail = "changed: a.c while it ran; re-run next" }
    view.close(.succeeded)
    let text = view.errorText()
    #expect(
      text.contains(
        "build succeeded in 1.2s, changed: a.c while it ran; re-run next\n"), "\(text)")
  }

  @Test func `a download shows a bar, its speed and the time that is left`() throws {
    var view = try owner(plan(), columns: 100)
    view.start("build")
    view.wait(3200)
    view.start("fetch")
    view.wait(1000)
    view.download(
      "fetch", done: 76 * Self.mebibyte, of: 200 * Self.mebibyte, speed: 24 * Self.mebibyte)
    let lines = shown(&view, columns: 100)
    #expect(
      lines == [
        "run r1 (demo): 4 tasks",
        "build    4.2s",
        "fetch    1.0s  [========>               ]   38%   76.0MiB/200.0MiB    24.0MiB/s  6s left",
        "[0/4] 4.2s, 2 running, 2 pending",
      ])
  }

  @Test func `a download of unknown length shows its bytes, a silent one for how long it is`()
    throws
  {
    var view = try owner(plan())
    view.start("fetch")
    view.wait(500)
    view.download("fetch", done: 1536, speed: 3000)
    #expect(shown(&view)[1] == "fetch   0.50s     1.5KiB     2.9KiB/s")
    view.wait(5000)
    view.tick()
    #expect(shown(&view)[0] == "fetch    5.5s     1.5KiB  stalled for 5s")
  }

  @Test(arguments: [2, 3, 5, 10, 20, 33, 60, 80, 200], [1, 2, 3, 4, 10, 24])
  func `nothing is wider or higher than the terminal`(columns: Int, rows: Int) throws {
    let names = (1...30).map { "task-\($0)" } + ["下载/長い名前", "e\u{301}te\u{301}-long-name"]
    var view = try owner(
      ViewFixture.plan(
        names.map { ($0, []) }, downloads: ["task-2": ["http://h/"], "下载/長い名前": ["http://h/"]]),
      columns: columns, rows: rows)
    _ = view.errorText()
    var screen = Screen(columns: columns, rows: rows)
    for (index, name) in names.reversed().enumerated() {
      view.start(name)
      view.download(name, done: Int64(index) << 20, of: 100 << 20, speed: 1 << 20)
      view.wait(100)
      view.tick()
      screen.write(view.errorBytes())
      #expect(screen.text.count <= rows)
      // A line that wrapped would begin with a piece of itself.
      #expect(screen.text.count == min(max(1, rows / 2), index + 2))
    }
    #expect(screen.unknown.isEmpty)
    #expect(screen.isCursorVisible)
    view.close(.succeeded)
    screen.write(view.errorBytes())
    #expect(screen.text.joined().filter { $0 != " " }.hasPrefix("runr1succeeded"))
  }

  @Test func `of more tasks than there is room for the oldest are shown`() throws {
    let names = (1...30).map { "t\($0)" }
    var view = try owner(ViewFixture.plan(names.map { ($0, []) }), rows: 10)
    for name in names { view.start(name) }
    view.wait(1000)
    view.tick()
    #expect(
      shown(&view) == [
        "run r1 (demo): 30 tasks", "t1    1.0s", "t2    1.0s", "t3    1.0s", "… and 27 more",
        "[0/30] 1.0s, 30 running",
      ])
  }

  @Test func `long names are cut in front of what there is to tell about them`() throws {
    let name = "an/id/that/is/much/longer/than/any/line"
    var view = try owner(
      ViewFixture.plan([(name, [])], downloads: [name: ["http://h/"]]), columns: 50)
    view.start(name)
    view.wait(100)
    view.tick()
    #expect(shown(&view, columns: 50)[1] == "\(name)   0.10s")
    view.wait(100)
    view.download(name, done: 5 << 20, of: 10 << 20, speed: 1 << 20)
    #expect(shown(&view, columns: 50)[0] == "an/id/…/line   0.20s   50%     1.0MiB/s  5s left")
  }

  @Test func `after a resize the frame takes the place of the one that was wrapped`() throws {
    var view = try owner(plan(), columns: 90)
    var screen = Screen(columns: 90, rows: 24)
    view.start("fetch")
    view.start("build")
    view.wait(1000)
    view.download("fetch", done: 5 << 20, of: 10 << 20, speed: 1 << 20)
    screen.write(view.errorBytes())
    for columns in [30, 7, 90, 12, 40] {
      screen.resize(columns: columns, rows: 24)
      view.resize(columns: columns, rows: 24)
      view.wait(100)
      view.tick()
      screen.write(view.errorBytes())
      let begins = ["fetch", "build", "[0/4]"].map { String($0.prefix(max(1, columns - 5))) }
      let text = screen.text
      #expect(text.count > 3)
      for (line, beginning) in zip(text.suffix(3), begins) {
        #expect(line.hasPrefix(beginning), "\(columns): \(text)")
      }
      // Nothing of an earlier frame is left above.
      #expect(!text.dropLast(3).contains { $0.contains("1.0s") || $0.hasPrefix("build") })
    }
  }

  @Test func `a stopped program releases the terminal, and draws again afterwards`() throws {
    var view = try owner(plan())
    var screen = Screen(columns: 80, rows: 24)
    view.start("fetch")
    view.wait(100)
    view.tick()
    screen.write(view.errorBytes())
    #expect(screen.text.count == 3)
    view.warning("stopping")
    screen.write(view.erasure())
    #expect(screen.text == ["run r1 (demo): 4 tasks", "warning: stopping"])
    #expect(screen.cursor == (2, 0))
    screen.write("[1]+ Stopped\n$ fg\n".utf8)
    view.forgetScreen()
    view.setVisible(false)
    view.wait(100)
    view.tick()
    #expect(view.errorText() == "")
    view.setVisible(true)
    view.tick()
    screen.write(view.errorBytes())
    #expect(
      screen.text.dropFirst(2) == [
        "[1]+ Stopped", "$ fg", "fetch   0.20s", "[0/4] 0.20s, 1 running, 3 pending",
      ])
  }

  /// A user resizes the window while frames are drawn, some of them before the view knows the new
  /// size. Terminals then either wrap lines again or cut them.
  @Test(arguments: [true, false], 0..<40)
  func `a window of any size keeps the lines above and nothing of old frames`(
    reflows: Bool, seed: Int
  ) throws {
    var random = SplitMix64(seed: UInt64(seed) &* 0x2545_F491_4F6C_DD1D)
    let name = "an/id/that/is/much/longer/than/others"
    let plan = try ViewFixture.plan(
      [(name, []), ("fetch", []), ("build", [])],
      downloads: [name: ["http://h/"], "fetch": ["http://h/"]])
    var view = try owner(plan)
    var screen = Screen(columns: 80, rows: 24)
    // Such as the terminals that cut lines leave whole.
    let before = ["$ make", "done", "$ opflow", "run r1 (demo)"]
    let above = reflows ? ["$ " + String(repeating: "long ", count: 25) + "line"] + before : before
    for line in above.dropLast() { screen.write("\(line)\n".utf8) }
    view.start(name)
    view.start("fetch")
    view.start("build")
    for step in 1..<30 {
      if Bool.random(using: &random) {
        let columns = Int.random(in: 15...120, using: &random)
        screen.resize(columns: columns, rows: 24, reflows: reflows)
        if Bool.random(using: &random) { view.resize(columns: columns, rows: 24) }
      }
      view.wait(100)
      for task in [name, "fetch"] where Bool.random(using: &random) {
        view.download(task, done: Int64(step) << 22, of: 200 << 20, speed: 1 << 22)
      }
      view.tick()
      screen.write(view.errorBytes())
    }
    screen.resize(columns: 160, rows: 24, reflows: reflows)
    view.resize(columns: 160, rows: 24)
    view.close(.succeeded)
    screen.write(view.errorBytes())
    let text = screen.text.map { $0.hasPrefix("run r1 (demo)") ? "run r1 (demo)" : $0 }
    #expect(text.dropLast() == above[...], "\(text)")
    #expect(text.last?.hasPrefix("run r1 succeeded") == true)
    #expect(screen.unknown == [])
  }

  @Test(arguments: [40, 60, 80, 120, 200])
  func `a long name costs no row its bar or its numbers`(columns: Int) throws {
    let name = "pretrained/model-with-a-name-that-nobody-can-read/weights-00012-of-00048"
    let plan = try ViewFixture.plan(
      [(name, []), ("fetch", []), ("build", [])],
      downloads: [name: ["http://h/"], "fetch": ["http://h/"]])
    var view = try owner(plan, columns: columns)
    for name in [name, "fetch", "build"] { view.start(name) }
    view.wait(1000)
    view.download(name, done: 1200 << 20, of: 5000 << 20, speed: 24 << 20)
    view.download("fetch", done: 5 << 20, of: 10 << 20, speed: 1 << 20)
    let rows = shown(&view, columns: columns).filter { $0.contains("%") }
    #expect(rows.count == 2)
    #expect(rows.allSatisfy { $0.hasSuffix(" left") }, "\(rows)")
    // Bars are as wide in one row as in the other.
    let bars = rows.map { row in
      row.firstIndex(of: "]").map { row.distance(from: row.startIndex, to: $0) }
    }
    #expect(bars[0] == bars[1])
    #expect((bars[0] != nil) == (columns >= 80))
    #expect(rows[0].contains("048 "))
  }

  private func kept(_ text: String, columns: Int, color: Bool = false) throws -> String {
    var options = ProgressOptions(mode: .live)
    options.size = TerminalSize(columns: columns, rows: 24)
    options.color = color
    var view = ViewDriver(try plan(), options)
    _ = view.errorText()
    view.warning(text)
    return view.errorText()
  }

  @Test func `what stays is broken at spaces, and a long path after a slash`() throws {
    let text = "no file /srv/projects/example/data/2026/part-0001.bin in sight"
    #expect(try kept(text, columns: 80) == "warning: \(text)\n")
    #expect(
      try kept(text, columns: 60) == """
        warning: no file
          /srv/projects/example/data/2026/part-0001.bin in sight

        """)
    #expect(
      try kept(text, columns: 40) == """
        warning: no file /srv/projects/example/
          data/2026/part-0001.bin in sight

        """)
    #expect(
      try kept(text, columns: 40, color: true) == """
        \u{1b}[33mwarning: \u{1b}[0mno file /srv/projects/example/
          data/2026/part-0001.bin in sight

        """)
    // Behind a colour the indent is the same.
    var options = ProgressOptions(mode: .live)
    options.size = TerminalSize(columns: 40, rows: 24)
    options.color = true
    var view = ViewDriver(try plan(), options)
    _ = view.errorText()
    view.start("build")
    view.output("build", "\(text)\n")
    view.end("build", .failure, .exit(1), outputBytes: 63)
    let lines = view.errorText().split(separator: "\n")
    #expect(lines.contains("\u{1b}[2m  | \u{1b}[0mno file /srv/projects/example/data/"))
    #expect(lines.contains("    2026/part-0001.bin in sight"), "\(lines)")
    // No space and no slash: the terminal breaks it.
    let word = String(repeating: "進", count: 30)
    #expect(try kept("a \(word) b/c", columns: 40) == "warning: a\n  \(word)\n  b/c\n")
  }

  @Test func `a command that is copied from several lines is one command`() throws {
    let text = "it waits: opflow resume 20261129-123053-4038 --on ssh:n1,n2 --set a=/b/c"
    #expect(
      try kept(text, columns: 60) == """
        warning: it waits:
          opflow resume 20261129-123053-4038 --on ssh:n1,n2 --set \\
            a=/b/c

        """)
    #expect(
      try kept(text, columns: 40) == """
        warning: it waits:
          opflow resume 20261129-123053-4038 \\
            --on ssh:n1,n2 --set a=/b/c

        """)
    #expect(
      try kept("it waits: opflow resume 20261129-123053-4038xy", columns: 38)
        == "warning: it waits:\n  opflow resume 20261129-123053-4038xy\n")
  }

  @Test func `colours take no room`() throws {
    var options = ProgressOptions(mode: .live)
    options.color = true
    options.size = TerminalSize(columns: 100, rows: 24)
    var colored = ViewDriver(try plan(), options)
    options.color = false
    var plain = ViewDriver(try plan(), options)
    let session = { (view: inout ViewDriver) -> [String] in
      view.start("fetch")
      view.wait(1000)
      view.end("build", .failure, .exit(1))
      view.download("fetch", done: 5 << 20, of: 10 << 20, speed: 1 << 20)
      return shown(&view, columns: 100)
    }
    #expect(session(&colored) == session(&plain))
  }

  /// What the bytes that the view has now make of an empty terminal.
  private func shown(_ view: inout ViewDriver, columns: Int = 80) -> [String] {
    var screen = Screen(columns: columns, rows: 24)
    screen.write(view.errorBytes())
    #expect(screen.unknown.isEmpty)
    return screen.text
  }
}
