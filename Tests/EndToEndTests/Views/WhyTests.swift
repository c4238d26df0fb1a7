import Glibc
import Testing

/// `why`: of runs that are live, over and dead.
struct WhyTests {
  @Test func `a live run tells who holds what a task wants`() throws {
    let place = try Workplace(
      """
      resources: { gpu: 1 }
      tasks:
        a: { resources: { gpu: 1 }, priority: 1, run: "echo here > here; read x < go" }
        b: { resources: { gpu: 1 }, run: "true" }
        c: { needs: [b], run: "true" }
      """)
    let (here, go) = (try place.gate("here"), try place.gate("go"))
    let run = try place.start("run", "-j", "4")
    _ = try here.next()
    let why = try place.opflow("why", "b", "c")
    #expect(
      why.output == """
        b pending
          needs 1 of gpu; 0 of 1 is free; held by a (1)
          position 1 of 1 in the queue

        c pending
          needs b (pending)

        """)
    let json = try place.opflow("why", "--json", "c").output
    #expect(
      json.hasSuffix(
        #"""
        "state":"running","tasks":[{"id":"c","state":"pending","reasons":[\#
        {"kind":"needs","text":"needs b (pending)","tasks":["b"]}]}]}

        """#))
    try go.letGo()
    #expect(try run.finish().status == 0)
    try place.opflow("why", status: 2)
    let unknown = try place.opflow("why", "d", status: 2)
    #expect(unknown.errors == "opflow: why: no task matches `d`; its tasks: a, b, c\n")
  }

  @Test func `a resume fails what must not run twice, and why says so`() throws {
    let place = try Workplace(
      "tasks: { a: { run: 'echo here > here; read x < go', on_interrupted: fail } }")
    let (here, _) = (try place.gate("here"), try place.gate("go"))
    let run = try place.start("run")
    _ = try here.next()
    run.send(SIGKILL)
    _ = try run.finish()
    place.expectNothingAlive()
    let why = try place.opflow("why", "a").output
    #expect(
      why.contains(
        "  would fail on resume: it was interrupted, and has `on_interrupted: fail`; to re-run it:"
          + " opflow resume "), "\(why)")
  }

  @Test func `what only runs after a failure is skipped by a resume, and why says so`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "test -e ok" }
        b: { needs: [{ task: a, on: failure }], run: "true" }
        c: { needs: [b], run: "true" }
        d: { needs: [a], run: "true" }
      """)
    try place.opflow("run", status: 1)
    let why = try place.opflow("why", "b", "c", "d").output
    let outcomes = why.split(separator: "\n").filter { $0.contains("a resume would") }
    #expect(
      outcomes == [
        "  a resume would skip it because of a", "  a resume would skip it because of b",
        "  a resume would re-run it (skipped last time)",
      ])
    try place.write("ok", "")
    let resumed = try place.opflow("resume", "--output", "line").errors
    #expect(
      resumed.contains("b skipped: a did not fail") && resumed.contains("c skipped: b was skipped"))
  }

  @Test func `a dead run tells what a resume would do, by the manifest as it is now`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "true" }
        b: { needs: [a], run: "echo here > here; read x < go" }
        c: { needs: [b], run: "true" }
      """)
    let (here, _) = (try place.gate("here"), try place.gate("go"))
    let run = try place.start("run")
    _ = try here.next()
    run.send(SIGKILL)
    _ = try run.finish()
    place.expectNothingAlive()
    let why = try place.opflow("why", "b", "c").output
    #expect(
      why == """
        b pending
          was interrupted when the run died
          a resume would re-run it (interrupted)

        c pending
          did not start before the run died
          needs b (pending)
          a resume would run it

        """)
    try place.write("opflow.yaml", "tasks: { a: { run: 'true ; true' } }")
    #expect(
      try place.opflow("why", "a").output.contains(
        "a resume would re-run it (its `run` changed)\n"))
    #expect(
      try place.opflow("why", "c").output.contains(
        "is no longer in the manifest; a resume would remove it from the run\n"))
    try place.write("opflow.yaml", "tasks: [")
    let broken = try place.opflow("why", "b")
    #expect(
      broken.errors
        == "opflow: warning: cannot tell what a resume would do; `opflow check` shows why\n")
  }
}
