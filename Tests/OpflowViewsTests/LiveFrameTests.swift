import Fixtures
import OpflowBase
import OpflowJournal
import OpflowPlan
import OpflowViews
import Screen
import Testing

/// Times, task output and the state of a paused or suspended run in a frame of the live view.
@Suite struct LiveFrameTests {
  private static let names = ["compile", "link", "test", "publish"]

  /// `compile` and `link` run, which were taken to last 30 seconds and 4.
  private func view(
    columns: Int = 80, rows: Int = 24, seconds: [Int64] = [30, 4, 60, 10],
    signals: TerminalSignals = TerminalSignals(), color: Bool = false, maxFailures: Int = 0
  ) throws -> ViewDriver {
    var options = ProgressOptions(mode: .live)
    options.size = TerminalSize(columns: columns, rows: rows)
    options.signals = signals
    options.color = color
    var view = ViewDriver(
      try ViewFixture.plan(Self.names.map { ($0, []) }), options, seconds: seconds,
      maxFailures: maxFailures)
    _ = view.errorText()
    view.start("compile")
    view.start("link")
    return view
  }

  @Test func `a bar stands against the expected time, and what lasts longer says by how much`()
    throws
  {
    var view = try view()
    view.wait(2000)
    let frame = view.frame(columns: 80, rows: 24)
    #expect(
      frame == [
        "compile    2.1s  [         ]  of 30s", "link       2.1s  [===>     ]  of 4s",
        "[0/4] 2.1s, 2 running, 2 pending, 60 to 80 s left",
      ])
    view.wait(10_000)
    view.say([
      "compile": "cc a.c\ncc\tb.c\n\n", "link": "10%\r20%\r30%\n\u{1b}[31mred\u{1b}[2J 進捗",
    ])
    #expect(
      view.frame(columns: 80, rows: 24) == [
        "compile   12.2s  [==>      ]  of 30s   cc      b.c",
        "link      12.2s  [=========]  8s over  red 進捗",
        "[0/4] 12.2s, 2 running, 2 pending, 60 to 85 s left",
      ])
  }

  @Test func `where nothing is known there is neither a bar nor an end`() throws {
    var unknown = try view(seconds: [])
    unknown.wait(2000)
    #expect(
      unknown.frame(columns: 80, rows: 24) == [
        "compile    2.1s", "link       2.1s", "[0/4] 2.1s, 2 running, 2 pending",
      ])
    var half = try view(seconds: [30, -1, 60, 10])
    half.wait(2000)
    #expect(
      half.frame(columns: 80, rows: 24) == [
        "compile    2.1s  [         ]  of 30s", "link       2.1s",
        "[0/4] 2.1s, 2 running, 2 pending",
      ])
  }

  @Test(arguments: [
    (40, ["compile   12.1s  of 30s   cc b.c", "link      12.1s  8s over  ok"]),
    (30, ["compile   12.1s  of 30s", "link      12.1s  8s over"]),
    (
      200,
      [
        "compile   12.1s  [========>               ]  of 30s   cc b.c",
        "link      12.1s  [========================]  8s over  ok",
      ]
    ),
  ]) func `a narrow terminal loses the bar before the words`(columns: Int, rows: [String]) throws {
    var view = try view(columns: columns)
    view.wait(12_000)
    view.say(["compile": "cc b.c\n", "link": "ok\n"])
    #expect(Array(view.frame(columns: columns, rows: 24).prefix(2)) == rows)
  }

  @Test(arguments: [10, 24, 40, 60, 80, 200], [1, 2, 4, 10, 24, 60])
  func `a frame is no wider than the terminal and takes half of its rows`(
    columns: Int, rows: Int
  ) throws {
    let names = (0..<40).map { "a/task-with-a-name-\($0)" } + ["x"]
    var options = ProgressOptions(mode: .live)
    options.size = TerminalSize(columns: columns, rows: rows)
    var view = ViewDriver(
      try ViewFixture.plan(names.map { ($0, []) }), options, seconds: names.map { _ in 40 })
    _ = view.errorText()
    for name in names.dropLast() { view.start(name) }
    view.wait(5000)
    view.say(Dictionary(names.map { ($0, "進捗\t\(String(repeating: "進捗 x", count: 90))\n") }) { $1 })
    for typed in ["", "t", "t?", "?l", "\r", "\u{1b}c", "jjjjjj", "\u{1b}"] {
      if !typed.isEmpty { view.type(typed) }
      let frame = view.frame(columns: columns, rows: rows)
      #expect(frame.count <= max(1, rows / 2), "\(typed): \(frame)")
      #expect(frame.allSatisfy { !$0.isEmpty })
      if typed.isEmpty, rows > 1 { #expect(frame.last?.hasPrefix("[0/41]") == true, "\(frame)") }
    }
  }

  @Test func `a line of counts loses whole words, and how long it takes last`() throws {
    var view = try view(columns: 80)
    view.wait(1000)
    for columns in 12...80 {
      view.resize(columns: columns, rows: 24)
      let line = view.frame(columns: columns, rows: 24).last ?? ""
      #expect(line.count < columns)
      let words = line.split(separator: ", ").map(String.init)
      for word in words.dropFirst() {
        let isWhole = word == "2 running" || word == "2 pending" || word.hasSuffix(" s left")
        #expect(isWhole, "\(columns): \(line)")
      }
      if words.contains("2 running") { #expect(line.contains(" left"), "\(columns): \(line)") }
    }
  }

  @Test(arguments: [10, 24, 60]) func `tails of some tasks say how many more there are`(rows: Int)
    throws
  {
    let names = (0..<30).map { "t\($0)" }
    var options = ProgressOptions(mode: .live)
    options.size = TerminalSize(columns: 80, rows: rows)
    var view = ViewDriver(try ViewFixture.plan(names.map { ($0, []) }), options)
    _ = view.errorText()
    for name in names { view.start(name) }
    view.type("t")
    let frame = view.frame(columns: 80, rows: rows)
    let shown = frame.count { $0.hasPrefix("t") }
    #expect(shown > 0 && frame.contains("… and \(30 - shown) more"), "\(frame)")
  }

  @Test(arguments: [40, 80, 120])
  func `the columns of tails are the same for all tasks`(columns: Int) throws {
    let names = ["a", "a/longer-name", "进捗"]
    var options = ProgressOptions(mode: .live)
    options.size = TerminalSize(columns: columns, rows: 24)
    var view = ViewDriver(
      try ViewFixture.plan(names.map { ($0, []) }), options, seconds: [40, 4000, 9])
    _ = view.errorText()
    for name in names { view.start(name) }
    view.wait(5000)
    view.type("t")
    view.say(["a": "one\n"])
    let rows = view.frame(columns: columns, rows: 24).filter { $0.contains(" 5.1s  ") }
    #expect(rows.count == 3)
    let widths = rows.map { row in
      row.prefix { $0 != "5" }.count + (row.hasPrefix("进") ? 2 : 0)
    }
    #expect(Set(widths).count == 1, "\(rows)")
    #expect(rows.allSatisfy { $0.contains(" of ") }, "\(rows)")
  }

  @Test func `a list to choose from keeps the times of long ids whole`() throws {
    let long = String(repeating: "long/", count: 12)
    var options = ProgressOptions(mode: .live)
    options.size = TerminalSize(columns: 40, rows: 24)
    var view = ViewDriver(try ViewFixture.plan([(long, []), ("b", [])]), options)
    _ = view.errorText()
    view.start(long)
    view.start("b")
    view.wait(3000)
    view.type("c")
    let frame = view.frame(columns: 40, rows: 24)
    #expect(frame[0].hasPrefix("> long/"))
    #expect(frame[0].contains("    3.1s"), "\(frame)")
    #expect(frame[1].hasPrefix("  b ") && frame[1].contains(" 3.1s"), "\(frame)")
    #expect(frame.allSatisfy { $0.count < 40 })
  }

  @Test func `a terminal with a keyboard shows that there is help`() throws {
    var view = try view(seconds: [])
    view.type("\u{1b}")
    view.wait(1000)
    #expect(
      view.frame(columns: 80, rows: 24).last == "[0/4] 1.1s, 2 running, 2 pending  (? for help)")
    view.type("?")
    let help = view.frame(columns: 80, rows: 24)
    #expect(help.first?.hasPrefix("t last output · l follow a log") == true)
    #expect(help.last == "[0/4] 1.2s, 2 running, 2 pending")
  }

  @Test func `a paused or suspended run says so, and shows no time left`() throws {
    var view = try view()
    view.wait(2000)
    view.request(.pause)
    #expect(
      view.frame(columns: 80, rows: 24).last == "[0/4] 2.1s, paused by me, 2 running, 2 pending")
    view.request(.proceed)
    view.wait(1000)
    #expect(view.frame(columns: 80, rows: 24).last?.hasSuffix(" left") == true)
    view.tell(Transition(.pause, .none, attempt: 0))
    view.wait(1000)
    #expect(
      view.frame(columns: 80, rows: 24).last
        == "[0/4] 4.3s, suspended by a signal, 2 running, 2 pending")
    view.tell(Transition(.proceed, .none, attempt: 0))
    view.stop(by: 15)
    view.wait(1000)
    #expect(view.frame(columns: 80, rows: 24).last == "[0/4] 5.4s, 2 running, then the run ends")
  }

  @Test func `a failure that ends the run ends the promise`() throws {
    var view = try view()
    view.wait(1000)
    view.end("link", .failure, .exit(1))
    view.wait(1000)
    #expect(view.frame(columns: 80, rows: 24).last?.contains(" left") == true)
    var limited = try self.view(maxFailures: 1)
    limited.wait(1000)
    #expect(limited.frame(columns: 80, rows: 24).last?.hasSuffix(" left") == true)
    limited.end("link", .failure, .exit(1))
    #expect(
      limited.frame(columns: 80, rows: 24).last
        == "[1/4] 1.2s, 1 failed, 1 running, then the run ends")
    limited.resize(columns: 32, rows: 24)
    #expect(limited.frame(columns: 32, rows: 24).last == "[1/4], 1 failed")
  }

  @Test func `what is to come may be as slow as what was`() throws {
    var view = try view()
    view.wait(1000)
    #expect(view.frame(columns: 80, rows: 24).last?.hasSuffix(", 60 to 85 s left") == true)
    view.wait(1000)
    view.end("link", .success, wall: 8_000_000)
    view.end("compile", .success, wall: 60_000_000)
    #expect(view.frame(columns: 80, rows: 24).last?.hasSuffix(", 1 to 3 min left") == true)
  }

  @Test func `nothing is written while nothing changes, and a signal when the share does`() throws {
    let ghostty = TerminalSignals { ["TERM": "xterm", "TERM_PROGRAM": "ghostty"][$0] }
    var view = try view(seconds: [], signals: ghostty)
    view.wait(100_000)
    view.tick()
    var screen = Screen(columns: 80, rows: 24)
    screen.write(view.errorBytes())
    #expect(screen.signals == ["9;4;1;0"])
    #expect(!screen.isSynchronized)
    view.wait(100)
    view.tick()
    #expect(view.errorText() == "")
    view.end("compile", .failure, .exit(1), outputBytes: 3)
    view.wait(1000)
    view.tick()
    screen.write(view.errorBytes())
    #expect(
      screen.signals.dropFirst() == ["9;4;2;25", "8;;file://here/my%20logs/compile.log", "8;;"])
    #expect(screen.text.contains("  log: logs/compile.log"))
    screen.write(view.erasure())
    #expect(screen.signals.last == "9;4;0;0")
    #expect(screen.unknown == [])
  }

  @Test func `colours change no word`() throws {
    var plain = try view()
    var colored = try view(color: true)
    for time: Int64 in [1000, 20_000] {
      plain.wait(time)
      colored.wait(time)
      #expect(plain.frame(columns: 80, rows: 24) == colored.frame(columns: 80, rows: 24))
    }
  }
}

/// What terminals are known to understand.
@Suite struct TerminalSignalsTests {
  private func signals(_ environment: [String: String]) -> String {
    let signals = TerminalSignals { environment[$0] }
    return (signals.hasProgress ? "progress " : "") + (signals.hasLinks ? "links" : "")
  }

  @Test(
    arguments: [
      ([:], ""), (["TERM": "dumb", "WT_SESSION": "1"], ""), (["TERM": "xterm-256color"], ""),
      (["TERM": "linux"], ""), (["TERM": "xterm", "WT_SESSION": "1"], "progress links"),
      (["TERM": "xterm", "ConEmuANSI": "ON"], "progress links"),
      (["TERM": "xterm", "ConEmuANSI": "OFF"], ""),
      (["TERM": "xterm-256color", "VTE_VERSION": "7600"], "links"),
      (["TERM": "xterm-256color", "VTE_VERSION": "8002"], "progress links"),
      (["TERM": "xterm-256color", "VTE_VERSION": "5000"], ""),
      (["TERM": "xterm", "TERM_PROGRAM": "iTerm.app", "TERM_PROGRAM_VERSION": "3.5.10"], "links"),
      (
        ["TERM": "xterm", "TERM_PROGRAM": "iTerm.app", "TERM_PROGRAM_VERSION": "3.6.6"],
        "progress links"
      ),
      (["TERM": "xterm", "TERM_PROGRAM": "Apple_Terminal", "VTE_VERSION": "8000"], ""),
      (
        [
          "TERM": "xterm", "TERM_PROGRAM": "WezTerm",
          "TERM_PROGRAM_VERSION": "20240203-110809-5046",
        ],
        "links"
      ),
      // It was started in a terminal of another kind.
      (["TERM": "xterm-kitty", "VTE_VERSION": "8002", "TERM_PROGRAM": "iTerm.app"], "links"),
      (["TERM": "xterm", "KONSOLE_VERSION": "230800"], "links"),
      (["TERM": "screen-256color", "STY": "1", "WT_SESSION": "1"], ""),
      (["TERM": "screen", "TMUX": "/tmp/x", "WT_SESSION": "1"], ""),
      (
        [
          "TERM": "tmux-256color", "TMUX": "/tmp/x", "TERM_PROGRAM": "tmux",
          "TERM_PROGRAM_VERSION": "3.3a", "KITTY_WINDOW_ID": "1",
        ], ""
      ),
      (
        [
          "TERM": "tmux-256color", "TMUX": "/tmp/x", "TERM_PROGRAM": "tmux",
          "TERM_PROGRAM_VERSION": "3.4",
        ], "links"
      ),
    ] as [([String: String], String)])
  func `nothing is sent to what is not known to take it`(
    environment: [String: String], expected: String
  ) {
    #expect(signals(environment) == expected)
  }

  @Test func `a link holds nothing that ends it`() {
    let signals = TerminalSignals { ["TERM": "foot"][$0] }
    #expect(
      signals.link("a log", to: "/a\u{1b}\\b c%/é;.log", host: "h\u{7}")
        == "\u{1b}]8;;file://h%07/a%1b%5cb%20c%25/%c3%a9%3b.log\u{1b}\\a log\u{1b}]8;;\u{1b}\\")
    #expect(signals.link("a log", to: "relative", host: "h") == "a log")
  }
}
