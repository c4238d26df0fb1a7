import Glibc
import Screen
import Testing

/// `wait`: until a run ends, or some of its tasks.
struct WaitTests {
  private static let gated = """
    tasks:
      a: { run: "echo here > here; read x < go; test $x = go" }
      b: { needs: [a], run: "echo b > here; read x < on" }
    """

  @Test func `a run that is over says at once how it ended`() throws {
    let place = try Workplace("tasks: { a: { run: test -e ok } }")
    try place.opflow("run", status: 1)
    let waited = try place.opflow("wait", status: 1)
    #expect(waited.output == "")
    #expect(waited.errors == "")
    try place.write("ok", "")
    try place.opflow("resume")
    try place.opflow("wait", status: 0)
    try place.opflow("wait", "opflow.yaml", status: 0)
    try place.opflow("wait", "zzz", status: 2)
  }

  @Test func `a live run is waited for, and its code is the code`() throws {
    let place = try Workplace("tasks: { a: { run: 'echo here > here; read x < go; exit 3' } }")
    let (here, go) = (try place.gate("here"), try place.gate("go"))
    let run = try place.start("run")
    _ = try here.next()
    let id = try #require(place.runs.first)
    let waiting = try place.start("wait", "-v", id)
    try waiting.waitForError("waiting for run \(id) (process \(run.pid))\n")
    try go.letGo()
    #expect(try run.finish().status == 1)
    let waited = try waiting.finish()
    #expect(waited.status == 1)
    #expect(waited.output == "")
  }

  @Test func `tasks are waited for while the run goes on`() throws {
    let place = try Workplace(Self.gated)
    let (here, go, on) = (try place.gate("here"), try place.gate("go"), try place.gate("on"))
    let run = try place.start("run")
    _ = try here.next()
    let waiting = try place.start("wait", "-v", "--for", "a")
    try waiting.waitForError("opflow: waiting for a of run")
    try go.letGo()
    #expect(try waiting.finish().status == 0)
    _ = try here.next()
    try place.opflow("wait", "--for", "a", status: 0)
    let both = try place.start("wait", "-v", "--for", "a", "--for", "b")
    try both.waitForError("waiting for b of run")
    try on.letGo()
    #expect(try both.finish().status == 0)
    #expect(try run.finish().status == 0)
  }

  /// `b` needs `a`, `c` needs `b`, and `last` runs after all; `s` is a service that `u` needs.
  @Test(arguments: [
    ("wait --for a", "5"), ("wait --for b", "5"), ("wait --for c", "5"), ("logs -f c", "5"),
    ("wait --for last", "5"), ("wait --for x", "0"),
  ])
  func `a task does not wait for what waits for it`(_ words: String, code: String) throws {
    let place = try Workplace(
      """
      max_parallel: 2
      tasks:
        a: { run: '$opflow \(words) 2> told && echo 0 >> trace || echo $? >> trace' }
        b: { needs: [a], run: 'true' }
        c: { needs: [b], run: 'true' }
        x: { run: 'true' }
        last: { finally: true, run: 'true' }
      """)
    try place.opflow("run")
    #expect(place.lines() == [code])
    if code == "5" { #expect(try place.text("told").contains("would never end")) }
  }

  @Test func `a service may wait for what needs it`() throws {
    let place = try Workplace(
      """
      tasks:
        s: { service: { ready: { log: up } }, run: 'echo up; $opflow wait --for u; echo $? >> trace; read x < end' }
        u: { needs: [s], run: echo u >> trace }
        v: { needs: [s, u], run: 'until [ $(wc -l < trace) = 2 ]; do sleep 0.01; done' }
      """)
    _ = try place.gate("end")
    try place.opflow("run")
    #expect(place.lines() == ["u", "0"])
  }

  @Test func `a task that failed, or never ran because of it, is no success`() throws {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        bad: { run: "false" }
        below: { needs: [bad], run: "true" }
        good: { run: "true" }
        off: { if: "false", run: "true" }
        mend: { needs: [{ task: good, on: failure }], run: "true" }
        may: { run: "false", allow_failure: true }
      """)
    try place.opflow("run", status: 1)
    for (task, status) in [
      ("bad", 1), ("below", 1), ("good", 0), ("off", 0), ("mend", 0), ("may", 0), ("*", 1),
    ] as [(String, Int32)] {
      try place.opflow("wait", "--for", task, status: status)
    }
    let unknown = try place.opflow("wait", "--for", "belo", status: 2)
    #expect(unknown.errors == "opflow: --for: no task matches `belo`; did you mean `below`?\n")
  }

  @Test func `a task that is no part of the run is a mistake`() throws {
    let place = try Workplace("tasks: { a: { run: 'true' }, b: { run: 'true' } }")
    try place.opflow("run", "a")
    let id = try #require(place.runs.first)
    let waited = try place.opflow("wait", "--for", "b", status: 2)
    #expect(
      waited.errors
        == "opflow: --for: `b` is not part of run \(id), so waiting for it would never end\n")
  }

  @Test func `a run that is stopped before the tasks ended gives its own code`() throws {
    let place = try Workplace(Self.gated)
    let (here, _) = (try place.gate("here"), try place.gate("go"))
    let run = try place.start("run")
    _ = try here.next()
    let waiting = try place.start("wait", "-v", "--for", "b")
    try waiting.waitForError("waiting for b")
    run.send(SIGTERM)
    #expect(try run.finish().status == -SIGTERM)
    let id = try #require(place.runs.first)
    let waited = try waiting.finish()
    #expect(waited.status == 143)
    #expect(waited.errorLines.last?.hasPrefix("opflow: run \(id) has ended (") == true, "\(waited)")
    #expect(waited.errorLines.last?.hasSuffix(", but b did not end in it") == true, "\(waited)")
  }

  @Test func `a run that dies is told, with and without tasks`() throws {
    let place = try Workplace(Self.gated)
    let (here, _) = (try place.gate("here"), try place.gate("go"))
    let run = try place.start("run")
    _ = try here.next()
    let waiting = try place.start("wait", "-v")
    try waiting.waitForError("waiting for run")
    let tasks = try place.start("wait", "-v", "--for", "b")
    try tasks.waitForError("waiting for b")
    run.send(SIGKILL)
    _ = try run.finish()
    let id = try #require(place.runs.first)
    let line =
      "opflow: run \(id) died: its opflow process is gone and recorded no end; to continue:"
      + " opflow resume \(id)"
    let later = try place.opflow("wait", status: 137)
    for waited in [try waiting.finish(), try tasks.finish(), later] {
      #expect(waited.status == 137)
      #expect(waited.errorLines.last == line)
    }
    place.expectNothingAlive()
  }

  @Test func `a resume of an edited manifest is waited for as the same run`() throws {
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
    let waiting = try place.start("wait", "-v", "--for", "b")
    try waiting.waitForError("waiting for b of run")
    try go.letGo()
    #expect(try waiting.finish().status == 0)
    #expect(try run.finish().status == 0)
  }

  @Test func `Ctrl-C leaves the run alone`() throws {
    let place = try Workplace("tasks: { a: { run: 'echo here > here; read x < go' } }")
    let (here, go) = (try place.gate("here"), try place.gate("go"))
    let run = try place.start("run")
    _ = try here.next()
    let waiting = try place.startAtTerminal("wait")
    try waiting.wait { $0.text.contains { $0.contains("waiting for run") } }
    try waiting.type("\u{3}")
    #expect(try waiting.finish() == -SIGINT)
    try go.letGo()
    #expect(try run.finish().status == 0)
  }

  @Test func `that the run's folder was removed is told as that`() throws {
    let place = try Workplace(
      """
      tasks: { a: { run: 'echo said; echo here > here; read x < go' }, \
      b: { needs: [a], run: 'true' } }
      """
    )
    let (here, _) = (try place.gate("here"), try place.gate("go"))
    let run = try place.start("run")
    _ = try here.next()
    let id = try #require(place.runs.first)
    let waiting = try place.start("wait", "-v")
    try waiting.waitForError("waiting for run")
    let tasks = try place.start("wait", "-v", "--for", "b")
    try tasks.waitForError("waiting for b")
    let logs = try place.start("logs", "-f", "a")
    try logs.waitForOutput("said")
    try place.shell("rm -rf .opflow/runs/*")
    for looking in [waiting, tasks, logs] {
      let end = try looking.finish()
      #expect(end.status == 2)
      #expect(end.errors.contains("opflow: run \(id) no longer exists; "), "\(end)")
    }
    run.send(SIGKILL)
    _ = try run.finish()
  }
}
