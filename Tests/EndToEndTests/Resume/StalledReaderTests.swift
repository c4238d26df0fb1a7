import Foundation
import Glibc
import Screen
import Testing

/// Nobody who reads what opflow says, or does not read it, holds the run.
struct StalledReaderTests {
  /// A pipe `out` at descriptor 9 that is full and that nobody reads.
  private static let full = "mkfifo out; exec 9<>out; head -c 65536 /dev/zero >&9; "

  @Test(arguments: ["--output line", "--output group", "--output quiet --json", "--json", "-v"])
  func `a pipe that nobody reads holds neither tasks nor the end`(options: String) throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "echo a >> trace; seq 30000" }
        b: { needs: [a], run: "echo b >> trace; exit 3" }
      """)
    try place.shell("\(Self.full) \"$opflow\" run \(options) >&9 2>&9", status: 1)
    #expect(place.lines() == ["a", "b"])
    #expect(try place.log("a").hasSuffix("\n30000\n"))
    #expect(try place.status()["b"]?.state == "failed")
    place.expectNothingAlive()
  }

  @Test func `signals end a run whose view is stalled, the second one at once`() throws {
    let place = try Workplace(
      """
      tasks:
        a:
          run: "trap '' TERM; seq 30000; echo here > here; while :; do sleep 1; done"
          stop: { grace: 1h }
      """)
    let here = try place.gate("here")
    let live = try place.startShell(
      "\(Self.full) exec \"$opflow\" run --output line >&9 2>&9")
    _ = try here.next()
    live.send(SIGTERM)
    live.send(SIGINT)
    #expect([-SIGINT, -SIGTERM].contains(try live.finish().status))
    place.expectNothingAlive()
  }

  @Test func `who reads at once is shown all that a task prints in a moment`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "cat much; echo here > here; read x < go" }
      """)
    let lines = (1...20_000).map { "\($0) \(String(repeating: "x", count: 60))" }
    try place.write("much", lines.joined(separator: "\n") + "\n")
    let here = try place.gate("here")
    let go = try place.gate("go")
    let live = try place.startShell("\"$opflow\" run --output line 2>&1 | cat > shown")
    _ = try here.next()
    try go.letGo()
    _ = try live.finish()
    let shown = place.lines("shown").filter { $0.hasPrefix("a | ") }
    #expect(shown == lines.map { "a | \($0)" })
  }

  @Test func `a run that is continued before it has stopped goes on`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "seq 30000; echo here > here; tail -f /dev/null" }
      """)
    let here = try place.gate("here")
    let live = try place.startShell(
      "\(Self.full) exec \"$opflow\" run --output line >&9 2>&9")
    _ = try here.next()
    live.send(SIGTSTP)
    try place.waitForJournal { $0.contains { $0.event == "pause" } }
    live.send(SIGCONT)
    live.send(SIGTERM)
    #expect(try live.finish().status == -SIGTERM)
    place.expectNothingAlive()
  }

  @Test func `what is shown when a stall ends is in order, and nothing of it is lost`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "seq 9000" }
        b: { needs: [a], run: "echo here > here; read x < go; echo last" }
      """)
    let here = try place.gate("here")
    let go = try place.gate("go")
    let live = try place.startShell(
      """
      \(Self.full)
      "$opflow" run --output line 2>&9 9>&- &
      read line < reads
      exec 8<out 9>&-
      tr -d '\\0' <&8 > shown &
      wait
      """)
    let reads = try place.gate("reads")
    _ = try here.next()
    try reads.letGo()
    try go.letGo()
    _ = try live.finish()
    let shown = place.lines("shown").drop { !$0.hasPrefix("run ") }.map { line in
      line.replacing(#/\d{8}-\d{6}-[0-9a-f]{4}/#, with: "RUN")
        .replacing(#/\d+(\.\d+)?s/#, with: "TIME")
    }
    let expected =
      ["run RUN (opflow.yaml): 2 tasks", "[0/2] a started"] + (1...9000).map { "a | \($0)" } + [
        "[1/2] a succeeded in TIME", "[1/2] b started", "b | last", "[2/2] b succeeded in TIME",
        "run RUN succeeded in TIME: 2 succeeded",
      ]
    #expect(shown == expected)
  }

  @Test func `a terminal that is held does not hold the run`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "echo here > here; read x < go" }
        b: { needs: [a], run: "echo b >> trace" }
      """)
    let here = try place.gate("here")
    let go = try place.gate("go")
    let terminal = try place.startAtTerminal("run")
    _ = try here.next()
    try terminal.wait { $0.text.last?.hasPrefix("[0/2]") == true }
    try terminal.type("\u{13}")
    try go.letGo()
    #expect(try terminal.finish() == 0)
    #expect(place.lines() == ["b"])
  }

  @Test func `a slow line loses none of the last words`() throws {
    let place = try Workplace(
      """
      max_failures: 0
      max_parallel: 80
      tasks:
        a: { matrix: { n: [\((1...80).map(String.init).joined(separator: ", "))] }, run: "seq -f '%070g' 20; exit 3" }
      """)
    // Reading takes some seconds, while the run prints everything at once.
    try place.write(
      "reader.py",
      """
      import os, pty, select
      pid, terminal = pty.fork()
      if pid == 0:
          os.environ["NO_COLOR"] = "1"
          os.execv(os.environ["opflow"], ["opflow", "run", "--output", "live"])
      while True:
          try:
              chunk = os.read(terminal, 1000)
          except OSError:
              break
          if not chunk:
              break
          os.write(1, chunk.replace(b"\\r", b""))
          select.select([], [], [], 0.03)
      raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
      """)
    let run = try place.shell("python3 reader.py", status: 1)
    #expect(run.outputLines.count { $0.contains(/\] failed after [0-9.]+s: exit 3/) } == 100)
    #expect(run.outputLines.contains { $0.hasPrefix("to continue: ") })
  }

  @Test func `a pipe that somebody made non-blocking gets all of it`() throws {
    let place = try Workplace("tasks: { a: { run: 'seq 20000' } }")
    try place.write(
      "reader.py",
      """
      import os, subprocess
      reading, writing = os.pipe()
      os.set_blocking(writing, False)
      run = subprocess.Popen([os.environ["opflow"], "run", "--output", "line"], stderr=writing)
      os.close(writing)
      while chunk := os.read(reading, 1000):
          os.write(1, chunk)
      """)
    let run = try place.shell("python3 reader.py")
    #expect(run.outputLines.filter { $0.hasPrefix("a | ") } == (1...20000).map { "a | \($0)" })
  }

  @Test func `a full disk ends the view and not the run`() throws {
    let place = try Workplace("tasks: { a: { run: 'echo a >> trace; seq 100' } }")
    try place.shell("\"$opflow\" run --output line --json > /dev/full 2> /dev/full")
    let run = try place.shell("\"$opflow\" run --output quiet --json > /dev/full")
    #expect(place.lines() == ["a", "a"])
    #expect(
      run.errors.contains(
        "warning: cannot write to standard output, so --json ends here: No space left on device"),
      "\(run)")
  }

  @Test func `both streams in one pipe have whole lines`() throws {
    let place = try Workplace("tasks: { a: { run: 'seq 5000' } }")
    let run = try place.shell("\"$opflow\" run --output line --json 2>&1 | cat")
    let lines = run.outputLines
    #expect(lines.filter { $0.hasPrefix("a | ") } == (1...5000).map { "a | \($0)" })
    #expect(lines.filter { $0.hasPrefix("{") && $0.hasSuffix("}") }.count == 4, "\(lines.count)")
  }

  @Test(
    arguments: [
      "--output line", "--output line --json", "--output group", "--output quiet",
    ],
    ["yes 0123456789 | head -c 48M", "head -c 48M /dev/zero | tr '[:cntrl:]' x"])
  func `memory does not grow with what tasks print`(options: String, prints: String) throws {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        a: { run: "\(prints)" }
        b: { run: "\(prints); exit 3" }
        c: { needs: [{ task: a, on: finished }, { task: b, on: finished }], run: "echo here > here; read x < go" }
      """)
    let here = try place.gate("here")
    let go = try place.gate("go")
    let live = try place.startShell(
      "exec \"$opflow\" run \(options) > /dev/null 2> shown")
    _ = try here.next()
    let status = try String(contentsOfFile: "/proc/\(live.pid)/status", encoding: .utf8)
    let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
      .flatMap { Int($0.split(separator: " ")[1]) }
    try go.letGo()
    #expect(try live.finish().status == 1)
    #expect(try #require(peak) < 44 << 10, "KiB")
    #expect(place.lines("shown").contains { $0.hasPrefix("run ") && $0.contains("1 failed") })
  }
}
