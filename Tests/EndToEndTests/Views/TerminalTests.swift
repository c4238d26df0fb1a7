import Glibc
import Screen
import Testing

/// The live view at a real terminal.
struct TerminalTests {
  private func place() throws -> Workplace {
    try Workplace(
      """
      name: demo
      tasks:
        first: { run: "echo here > here; read x < go" }
        second: { run: "echo here > here; read x < go" }
        third: { needs: [first, second], run: "true" }
      """)
  }

  private func begin(
    _ place: Workplace, columns: Int = 80, environment: [String: String] = [:]
  ) throws -> LiveTerminal {
    let here = try place.gate("here")
    _ = try place.gate("go")
    let terminal = try place.startAtTerminal(
      "run", "-j", "2", columns: columns, environment: environment)
    _ = try here.next(2)
    try terminal.wait { $0.text.last?.hasPrefix("[0/3]") == true }
    return terminal
  }

  /// The screen without what differs from run to run.
  private func shown(_ terminal: LiveTerminal) -> [String] {
    terminal.screen.text.map { line in
      line.replacing(#/\d{8}-\d{6}-[0-9a-f]{4}/#, with: "RUN")
        .replacing(#/\d+(\.\d+)?s/#, with: "TIME").replacing(#/ +/#, with: " ")
    }
  }

  private static let summary = [
    "run RUN (demo): 3 tasks", "run RUN succeeded in TIME: 3 succeeded",
  ]

  @Test func `what runs is shown while it runs, and only the summary stays`() throws {
    let place = try place()
    let terminal = try begin(place)
    try terminal.wait { $0.text.last?.hasSuffix("(? for help)") == true }
    #expect(shown(terminal).count == 4)
    #expect(
      Set(shown(terminal)) == [
        "run RUN (demo): 3 tasks", "first TIME", "second TIME",
        "[0/3] TIME, 2 running, 1 pending (? for help)",
      ])
    #expect(!terminal.screen.isSynchronized)
    try place.gate("go").letGo(2)
    #expect(try terminal.finish() == 0)
    #expect(shown(terminal) == Self.summary)
    #expect(terminal.screen.isCursorVisible)
    #expect(terminal.screen.cursor == (2, 0))
    #expect(terminal.screen.unknown == [])
  }

  @Test func `a terminal that changes its size is drawn on anew`() throws {
    let place = try place()
    let terminal = try begin(place)
    for (columns, counts) in [(20, "[0/3]"), (60, "[0/3]"), (12, "[0/3]"), (80, "[0/3]")] {
      try terminal.resize(columns: columns, rows: 10)
      let seen = terminal.bytes.count
      try terminal.wait { _ in terminal.bytes.count > seen }
      try terminal.wait { $0.text.last?.hasPrefix(counts) == true }
    }
    try place.gate("go").letGo(2)
    #expect(try terminal.finish() == 0)
    let text = terminal.screen.text
    // The heading may have been wrapped by the terminal; of frames nothing is left.
    #expect(!text.contains { $0.contains("first") || $0.contains("[0/3]") }, "\(text)")
    #expect(text.last?.contains("3 succeeded") == true, "\(text)")
  }

  @Test func `Ctrl-C leaves a clean screen`() throws {
    let place = try place()
    let terminal = try begin(place, columns: 100)
    try terminal.type("\u{3}")
    #expect(try terminal.finish() == -SIGINT)
    let text = shown(terminal)
    #expect(
      text.dropLast() == [
        "run RUN (demo): 3 tasks",
        "warning: stopping: opflow ends the running tasks (Ctrl-C again to kill them)",
        "pending: third",
        "run RUN interrupted by SIGINT in TIME: 2 cancelled, 1 pending",
      ], "\(text)")
    #expect(terminal.screen.isCursorVisible)
  }

  @Test func `Ctrl-Z stops a job of a shell, and nobody where there is none to continue it`() throws
  {
    let place = try Workplace(
      """
      tasks:
        slow: { run: "echo here > here; read x < go; echo $x" }
      """)
    let here = try place.gate("here")
    let go = try place.gate("go")
    let shell = try place.startShellAtTerminal()
    try shell.wait { $0.text.last == ">" }
    try shell.type("$opflow run --output line\n")
    _ = try here.next()
    try shell.type("\u{1a}")
    try shell.wait { screen in
      screen.text.contains { $0.contains("Stopped") } && screen.text.last == ">"
    }
    try shell.type("fg\n")
    try shell.wait { $0.text.contains { $0.contains("run continued") } }
    try go.letGo()
    try shell.wait { screen in
      screen.text.contains { $0.contains("1 succeeded") } && screen.text.last == ">"
    }
    try shell.type("exit $?\n")
    #expect(try shell.finish() == 0)

    let alone = try place.startAtTerminal("run", "--output", "line")
    _ = try here.next()
    try alone.type("\u{1a}")
    // opflow reads the key before the end of the task.
    try alone.wait { $0.text.contains { $0.contains("^Z") } }
    try go.letGo()
    #expect(try alone.finish() == 0)
    #expect(!alone.screen.text.contains { $0.contains("suspended") })
  }

  @Test func `Ctrl-Z gives the terminal back, and going on draws below what came meanwhile`()
    throws
  {
    let place = try place()
    let terminal = try begin(place)
    // As the key of a shell's job does; for a key there is no shell here.
    #expect(Glibc.kill(terminal.pid, SIGTSTP) == 0)
    try terminal.waitUntilStopped()
    try terminal.wait { !$0.text.contains { $0.contains("first") } }
    #expect(terminal.screen.isCursorVisible)
    // What a shell would write now; nobody reads it, so the terminal echoes it only.
    try terminal.type("fg\n")
    try terminal.wait { $0.text.contains("fg") }
    terminal.proceed()
    try terminal.wait { $0.text.last?.hasPrefix("[0/3]") == true }
    try place.gate("go").letGo(2)
    #expect(try terminal.finish() == 0)
    #expect(
      shown(terminal) == [
        Self.summary[0], "[0/3] run suspended", "fg", "[0/3] run continued", Self.summary[1],
      ])
  }

  @Test func `no colours is live all the same`() throws {
    let place = try place()
    let terminal = try begin(place, environment: ["NO_COLOR": "1"])
    try place.gate("go").letGo(2)
    #expect(try terminal.finish() == 0)
    #expect(!String(decoding: terminal.bytes, as: UTF8.self).contains(#/\x{1b}\[[0-9;]*m/#))
  }

  @Test func `a terminal for plain text gets lines`() throws {
    let place = try Workplace("tasks: { only: { run: echo said } }")
    let terminal = try place.startAtTerminal("run", environment: ["TERM": "dumb"])
    #expect(try terminal.finish() == 0)
    #expect(terminal.screen.text.contains("only | said"))
    #expect(!terminal.bytes.contains(27))
  }

  @Test func `a terminal that says nothing of itself gets lines`() throws {
    let place = try Workplace("tasks: { only: { run: echo said } }")
    let terminal = try place.startAtTerminal("run", environment: ["TERM": ""])
    #expect(try terminal.finish() == 0)
    #expect(terminal.screen.text.contains("only | said"))
    #expect(!terminal.bytes.contains(27))
    let forced = try place.opflow("run", environment: ["CLICOLOR_FORCE": "1"])
    #expect(forced.errors.contains("\u{1b}["))
    let neither = try place.opflow("run", environment: ["CLICOLOR_FORCE": "1", "NO_COLOR": "1"])
    #expect(!neither.errors.contains("\u{1b}["))
    let not = try place.opflow("run", environment: ["CLICOLOR_FORCE": "0"])
    #expect(!not.errors.contains("\u{1b}["))
  }

  @Test
  func `a known terminal is told how far the run is and where logs are, and told to forget it`()
    throws
  {
    let place = try Workplace(
      "tasks: { bad: { run: echo oh; exit 1 }, a: { run: 'echo here > here; read x < go' } }")
    let here = try place.gate("here")
    let go = try place.gate("go")
    let terminal = try place.startAtTerminal(
      "run", "-k", columns: 120, environment: ["TERM_PROGRAM": "ghostty"])
    _ = try here.next()
    try terminal.wait { $0.signals.contains("9;4;2;50") }
    try go.letGo()
    #expect(try terminal.finish() == 1)
    #expect(terminal.screen.signals.last == "8;;")
    #expect(terminal.screen.signals.filter { $0.hasPrefix("9;") }.last == "9;4;0;0")
    let link = terminal.screen.signals.first { $0.hasPrefix("8;;file://") }
    #expect(link?.hasSuffix("/logs/bad.log") == true)
    #expect(terminal.screen.unknown == [])
  }

  @Test func `the second run knows how long tasks take, and shows what they print`() throws {
    let place = try Workplace(
      """
      name: demo
      max_parallel: 2
      tasks:
        one: { run: "printf 'from\\tone\\n'; echo here > here; read x < go" }
        two: { needs: [one], run: "true" }
      """)
    let here = try place.gate("here")
    let go = try place.gate("go")
    let first = try place.startAtTerminal("run")
    _ = try here.next()
    // Of what takes no second no bar is drawn.
    try first.wait { $0.text.contains { $0.contains(#/^one +[1-9][0-9]*\.[0-9]s/#) } }
    #expect(!first.screen.text.contains { $0.contains("]  of") || $0.contains(" left") })
    try go.letGo()
    #expect(try first.finish() == 0)
    let terminal = try place.startAtTerminal("run")
    _ = try here.next()
    try terminal.wait { screen in
      screen.text.contains { $0.hasPrefix("one ") && $0.hasSuffix("from    one") }
        && screen.text.contains { $0.hasPrefix("one ") && $0.contains("]  ") }
        && screen.text.last?.contains(" s left") == true
    }
    // A later viewer sees the same.
    let watching = try place.startAtTerminal("status", "--watch")
    try watching.wait { screen in
      screen.text.contains {
        $0.hasPrefix("one ") && $0.contains("]  ") && $0.hasSuffix("from    one")
      }
        && screen.text.last?.contains(" s left") == true
    }
    try go.letGo()
    #expect(try terminal.finish() == 0)
    #expect(try watching.finish() == 0)
    #expect(!terminal.screen.text.contains { $0.contains(" left") })
  }

  @Test func `live is for terminals only`() throws {
    let place = try Workplace("tasks: { only: { run: echo said } }")
    let run = try place.opflow("run", "--output", "live")
    #expect(run.errors.contains("only | said"), "\(run)")
    #expect(!run.errors.contains("\u{1b}"))
  }
}
