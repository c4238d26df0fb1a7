import Foundation
import Glibc
import Screen
import Testing

/// `status --watch`: the live view of a run of another process.
struct StatusWatchTests {
  private static let manifest = """
    name: demo
    max_parallel: 2
    max_failures: 0
    tasks:
      bad: { run: "echo oh no; exit 3", priority: very_high }
      a: { run: "echo before; echo here > here; read x < go; echo after" }
      b: { needs: [a], run: "echo here > here; read x < on" }
    """

  /// A run of which `bad` has failed and `a` runs.
  private func begin(
    _ manifest: String = manifest
  ) throws -> (place: Workplace, run: LiveProcess, id: String) {
    let place = try Workplace(manifest)
    let (here, _, _) = (try place.gate("here"), try place.gate("go"), try place.gate("on"))
    let run = try place.start("run")
    _ = try here.next()
    try run.waitForError("bad failed")
    try run.waitForError("a | before")
    return (place, run, try #require(place.runs.first))
  }

  /// Without what differs from run to run.
  private func plain(_ lines: [String]) -> [String] {
    lines.map { line in
      line.replacing(#/\d{8}-\d{6}-[0-9a-f]{4}/#, with: "RUN")
        .replacing(#/\d+(\.\d+)?s/#, with: "TIME").replacing(#/ +/#, with: " ")
        .replacing(#/pid \d+/#, with: "pid PID")
    }
  }

  @Test func `who comes later sees what runs and failed, then the same lines as the run's own`()
    throws
  {
    let (place, run, _) = try begin()
    let watching = try place.start("status", "--watch")
    try watching.waitForError("a | before")
    try place.opflow("priority", "b", "5")
    try watching.waitForError("priority of b set to 5")
    try place.gate("go").letGo()
    _ = try place.gate("here").next()
    try place.gate("on").letGo()
    let (own, watched) = (try run.finish(), try watching.finish())
    #expect(own.status == 1)
    #expect(watched.status == 1)
    #expect(watched.output == "")
    #expect(
      plain(Array(watched.errorLines.prefix(6))) == [
        "run RUN (demo): 3 tasks", "[1/3] bad failed after TIME: exit 3",
        " opflow.yaml:5: echo oh no; exit 3", "[1/3] still running: a (TIME)", "a | before",
        "priority of b set to 5 by opflow priority (pid PID)",
      ])
    // From there on both views are the same.
    let request = try #require(own.errorLines.firstIndex { $0.hasPrefix("priority of b set ") })
    let rest = plain(Array(own.errorLines[request...]))
    #expect(
      plain(Array(watched.errorLines[5...])).filter { !$0.hasPrefix("to continue:") }
        == rest.filter { !$0.hasPrefix("to continue:") })
    #expect(rest.contains("a | after"), "\(rest)")
  }

  @Test func `at a terminal it is the live view, and Ctrl-C leaves the run alone`() throws {
    let (place, run, _) = try begin()
    let terminal = try place.startAtTerminal("status", "--watch")
    try terminal.wait { $0.text.last?.hasPrefix("[1/3]") == true }
    try place.opflow("pause")
    try terminal.wait { $0.text.last?.contains("paused by opflow pause") == true }
    try terminal.resize(columns: 40, rows: 12)
    try terminal.wait { $0.text.last?.hasPrefix("[1/3]") == true }
    try terminal.type("\u{3}")
    #expect(try terminal.finish() == 0)
    let text = plain(terminal.screen.text)
    #expect(text.first == "run RUN (demo): 3 tasks")
    #expect(text.contains(" | oh no"), "\(text)")
    #expect(!text.contains { $0.hasPrefix("[1/3]") || $0.hasPrefix("a TIME") }, "\(text)")
    #expect(terminal.screen.isCursorVisible)
    try place.opflow("continue")
    try place.gate("go").letGo()
    _ = try place.gate("here").next()
    try place.gate("on").letGo()
    #expect(try run.finish().status == 1)
  }

  @Test(arguments: ["line", "group", "github", "quiet"])
  func `what a task printed before somebody came is told with its failure`(output: String) throws {
    let place = try Workplace(
      """
      tasks:
        a:
          retry: { max: 1, delay: 0s }
          run: |
            : begin
            test -e second && echo once more || echo at first
            test -e second || { touch second; exit 1; }
            echo here > here; read x < go; echo after; exit 4
      """)
    let (here, go) = (try place.gate("here"), try place.gate("go"))
    let run = try place.start("run")
    _ = try here.next()
    let watching = try place.start("status", "--watch", "--output", output)
    if output == "quiet" {
      // It does not list running tasks.
      try place.shell("sleep 1")
    } else {
      try watching.waitForError("still running: a (")
    }
    try go.letGo()
    let watched = try watching.finish()
    #expect(watched.status == 1)
    let lines = watched.errorLines.map { $0.trimmingPrefix("a | ") }
    #expect(lines.contains { $0.hasSuffix("once more") }, "\(watched)")
    #expect(lines.contains { $0.hasSuffix("after") }, "\(watched)")
    // That is from an earlier attempt.
    #expect(!watched.errors.contains("at first") && !watched.errors.contains("---"), "\(watched)")
    _ = try run.finish()
  }

  @Test func `two watch at once, and the end of the run ends both`() throws {
    let (place, run, id) = try begin()
    let watching = try place.start("status", "--watch", id, "-q")
    let terminal = try place.startAtTerminal("status", "--watch")
    try watching.waitForError("bad failed")
    try terminal.wait { $0.text.last?.hasPrefix("[1/3]") == true }
    try place.gate("go").letGo()
    _ = try place.gate("here").next()
    try terminal.wait { $0.text.contains { $0.hasPrefix("b ") } }
    try place.gate("on").letGo()
    #expect(try run.finish().status == 1)
    let watched = try watching.finish()
    #expect(watched.status == 1)
    #expect(watched.errors.contains("2 succeeded, 1 failed"), "\(watched)")
    #expect(try terminal.finish() == 1)
    #expect(terminal.screen.isCursorVisible)
    let text = terminal.screen.text
    #expect(text.contains { $0.contains("2 succeeded, 1 failed") }, "\(text)")
    #expect(!text.contains { $0.hasPrefix("[2/3]") }, "\(text)")
  }

  @Test func `a run that is over shows its summary, and ends with its code`() throws {
    let place = try Workplace("tasks: { a: { run: echo oh; test -e ok } }")
    try place.opflow("run", status: 1)
    let failed = try place.opflow("status", "--watch", status: 1)
    #expect(
      plain(failed.errorLines) == [
        "run RUN (opflow.yaml): 1 task", "[1/1] a failed after TIME: exit 1",
        " opflow.yaml:1: echo oh; test -e ok", "",
        "a failed after TIME: exit 1, log: .opflow/runs/RUN/logs/a.log",
        "run RUN failed in TIME: 1 failed", "to continue: opflow resume RUN",
      ])
    try place.write("ok", "")
    try place.opflow("resume")
    let done = try place.opflow("status", "--watch", "--output", "quiet", status: 0)
    #expect(plain(done.errorLines) == ["run RUN succeeded in TIME: 1 succeeded"])
  }

  @Test func `a run that is held says by what, once, to who comes later`() throws {
    let (place, run, _) = try begin()
    try place.opflow("pause")
    let watching = try place.start("status", "--watch")
    try watching.waitForError("still running: a (")
    run.send(SIGTSTP)
    try watching.waitForError("run suspended\n")
    let late = try place.start("status", "--watch")
    try late.waitForError("still running: a (")
    run.send(SIGCONT)
    try late.waitForError("run continued")
    try place.opflow("continue")
    try place.gate("go").letGo()
    _ = try place.gate("here").next()
    try place.gate("on").letGo()
    #expect(try run.finish().status == 1)
    let (first, second) = (try watching.finish(), try late.finish())
    #expect(
      plain(first.errorLines).count { $0 == "[1/3] run paused by opflow pause (pid PID)" } == 1,
      "\(first)")
    #expect(
      plain(second.errorLines).count { $0 == "[1/3] run suspended by a signal" } == 1, "\(second)")
  }

  @Test func `who watches a run that is watched sees its next round`() throws {
    let place = try Workplace("tasks: { a: { run: echo one } }")
    let run = try place.watch()
    let watching = try place.start("status", "--watch")
    try watching.waitForError("waiting for the next round")
    try place.write("opflow.yaml", "tasks: { a: { run: echo two; exit 3 } }")
    try watching.waitForError("a failed after ")
    try watching.waitForError("waiting for the next round", times: 2)
    run.send(SIGINT)
    _ = try run.finish()
    let end = try watching.finish()
    #expect(end.status == 1, "\(end)")
    #expect(end.errors.contains("1 succeeded") && end.errors.contains("1 failed"), "\(end)")
    #expect(end.errorLines.count { $0.hasPrefix("resuming ") } == 1, "\(end)")
  }

  /// A view that was stopped meanwhile sees all of it at once.
  @Test(arguments: [true, false])
  func `rounds that went by unseen are told as those that were seen`(isServed: Bool) throws {
    let service = "service: { ready: { log: up } }, run: \"echo up; exec tail -f /dev/null\""
    let place = try Workplace(
      """
      tasks:
        db: { \(isServed ? service : "run: 'true'") }
        lint: { inputs: [src], run: cat src }
      """)
    try place.write("src", "first\n")
    let run = try place.watch()
    let watching = try place.start("status", "--watch")
    try watching.waitForError(isServed ? "still running: db" : "waiting for the next round")
    watching.send(SIGSTOP)
    for (round, text) in ["second", "third"].enumerated() {
      try place.write("src", "\(text)\n")
      try run.waitForError("lint succeeded", times: round + 2)
      try run.waitForRounds(round + 2)
    }
    watching.send(SIGCONT)
    try watching.waitForError("resuming ", times: 2)
    try watching.waitForError("lint succeeded", times: 2)
    run.send(SIGINT)
    _ = try run.finish()
    let end = try watching.finish()
    #expect(end.errorLines.count { $0.hasPrefix("resuming ") } == 2, "\(end)")
    #expect(end.errorLines.count { $0.contains("lint succeeded") } == 2, "\(end)")
    let ends = end.errorLines.count { $0.hasPrefix("run ") && $0.contains(" succeeded in ") }
    #expect(ends == (isServed ? 1 : 3), "\(end)")
    place.expectNothingAlive()
  }

  @Test func `a round of an edited manifest that went by unseen is told with its tasks`() throws {
    let place = try Workplace("tasks: { a: { run: echo one } }")
    let run = try place.watch()
    let watching = try place.start("status", "--watch")
    try watching.waitForError("waiting for the next round")
    watching.send(SIGSTOP)
    try place.write(
      "opflow.yaml",
      "tasks: { new: { run: echo two }, a: { needs: [new], run: echo one } }")
    try run.waitForError("new succeeded")
    try run.waitForRounds(2)
    watching.send(SIGCONT)
    try watching.waitForError("new succeeded")
    run.send(SIGINT)
    _ = try run.finish()
    let end = try watching.finish()
    #expect(end.errorLines.count { $0.hasPrefix("resuming ") } == 1, "\(end)")
    #expect(end.errorLines.count { $0.contains("new started") } == 1, "\(end)")
  }

  @Test func `a run that dies is told, with the code of a wait`() throws {
    let (place, run, id) = try begin()
    let watching = try place.start("status", "--watch")
    try watching.waitForError("still running")
    run.send(SIGKILL)
    _ = try run.finish()
    let watched = try watching.finish()
    #expect(watched.status == 137)
    #expect(
      watched.errorLines.last
        == "opflow: run \(id) died: its opflow process is gone and recorded no end; to continue:"
        + " opflow resume \(id)")
    try place.opflow("status", "--watch", status: 137)
    place.expectNothingAlive()
  }

  @Test func `a reader that goes away ends the view, and not the run`() throws {
    let (place, run, _) = try begin()
    let cut = try place.startShell("$opflow status --watch 2>&1 | head -n 1; echo ${PIPESTATUS[0]}")
    try cut.waitForOutput("run ")
    try place.gate("go").letGo()
    #expect(try cut.finish().outputLines.last == "0")
    _ = try place.gate("here").next()
    try place.gate("on").letGo()
    #expect(try run.finish().status == 1)
  }

  @Test func `a shell's job is stopped and goes on, and the run does not`() throws {
    let (place, run, _) = try begin()
    let shell = try place.startShellAtTerminal()
    try shell.wait { $0.text.last == ">" }
    try shell.type("$opflow status --watch\n")
    try shell.wait { $0.text.last?.hasPrefix("[1/3]") == true }
    try shell.type("\u{1a}")
    try shell.wait { screen in
      screen.text.contains { $0.contains("Stopped") } && screen.text.last == ">"
    }
    try place.gate("go").letGo()
    _ = try place.gate("here").next()
    try shell.type("fg\n")
    try shell.wait { $0.text.last?.hasPrefix("[2/3]") == true }
    try place.gate("on").letGo()
    try shell.wait { screen in
      screen.text.contains { $0.contains("2 succeeded, 1 failed") } && screen.text.last == ">"
    }
    #expect(try run.finish().status == 1)
    try shell.type("exit $?\n")
    #expect(try shell.finish() == 1)
  }

  @Test func `a journal that is another one by now is begun with anew`() throws {
    let (place, run, id) = try begin()
    let watching = try place.start("status", "--watch")
    try watching.waitForError("still running")
    let folder = ".opflow/runs/\(id)"
    try place.shell("cp \(folder)/journal.log journal && cp journal \(folder)/journal.log.new")
    try place.shell("mv \(folder)/journal.log.new \(folder)/journal.log")
    try watching.waitForError("still running: a (")
    run.send(SIGKILL)
    _ = try run.finish()
    let watched = try watching.finish()
    #expect(watched.status == 137)
    #expect(watched.errorLines.count { $0.contains("still running") } == 2, "\(watched)")
    place.expectNothingAlive()
  }

  @Test func `a run whose folder goes away is told`() throws {
    let (place, run, id) = try begin()
    let watching = try place.start("status", "--watch")
    try watching.waitForError("still running")
    try place.shell("mv .opflow/runs/\(id) gone")
    let watched = try watching.finish()
    #expect(watched.status == 2)
    #expect(
      watched.errorLines.last
        == "opflow: run \(id) no longer exists; `opflow clean`, the `keep_runs` of a later run or a"
        + " user has just removed its folder")
    run.send(SIGKILL)
    _ = try run.finish()
    place.expectNothingAlive()
  }

  @Test func `a resume of an edited manifest is watched with its tasks`() throws {
    let place = try Workplace("tasks: { a: { run: 'false' }, b: { needs: [a], run: 'true' } }")
    try place.opflow("run", status: 1)
    // Other numbers for the same names.
    try place.write(
      "opflow.yaml",
      """
      tasks:
        first: { run: "echo here > here; read x < go" }
        b: { needs: [a], run: "true" }
        a: { needs: [first], run: "true" }
      """)
    let (here, go) = (try place.gate("here"), try place.gate("go"))
    let run = try place.start("resume")
    _ = try here.next()
    let watching = try place.start("status", "--watch")
    try watching.waitForError("still running: first (")
    try go.letGo()
    let watched = try watching.finish()
    #expect(watched.status == 0)
    #expect(watched.errorLines.first?.hasPrefix("resuming ") == true, "\(watched)")
    #expect(watched.errors.contains("[3/3] b succeeded"), "\(watched)")
    #expect(try run.finish().status == 0)
  }

  @Test func `flags that do not go together are refused`() throws {
    let place = try Workplace("tasks: { a: { run: 'true' } }")
    try place.opflow("run")
    let json = try place.opflow("status", "--watch", "--json", status: 2)
    #expect(
      json.errorLines.first
        == "opflow status: --json and --watch contradict each other; `opflow journal export` prints"
        + " the steps of a run as JSON")
    let table = try place.opflow("status", "--output", "line", status: 2)
    #expect(
      table.errorLines.first
        == "opflow status: --output and -q need --watch")
  }
}
