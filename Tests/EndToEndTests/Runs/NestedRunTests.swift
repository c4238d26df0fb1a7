import Glibc
import Screen
import Testing

/// A task that runs `opflow run` itself.
struct NestedRunTests {
  private static let outer = """
    tasks:
      x: { run: $opflow run inner.yaml }
    """

  /// `b` runs until SIGTERM, unless there is a file `go`.
  private static let inner = """
    tasks:
      a: { run: echo a >> trace }
      b:
        needs: a
        run: |
          echo b >> trace
          [ -e go ] && exit
          trap 'echo b ends >> trace; exit 143' TERM
          echo up
          while :; do sleep 0.05; done
      c: { needs: b, run: echo c >> trace }
    """

  private func place(_ outer: String = outer) throws -> Workplace {
    let place = try Workplace(outer)
    try place.write("inner.yaml", Self.inner)
    return place
  }

  @Test func `it is stopped with the run around, by its own rules, and goes on with it`() throws {
    let place = try place()
    let run = try place.start("run")
    try run.waitForError("x | b | up")
    run.send(SIGTERM)
    let end = try run.finish()
    #expect(end.errors.contains("x | [2/3] b cancelled"), "\(end)")
    #expect(!end.errors.contains("failed"), "\(end)")
    // Told by nobody but its own run.
    #expect(place.lines() == ["a", "b", "b ends"], "\(end)")
    place.expectNothingAlive()
    try place.write("go", "")
    let resumed = try place.opflow("resume")
    #expect(resumed.errors.contains("x | resuming "), "\(resumed)")
    #expect(place.lines().suffix(2) == ["b", "c"], "\(resumed)")
    #expect(place.lines().count == 5, "\(resumed)")
  }

  @Test func `nothing of it is left when all around it was killed, and what it did is kept`()
    throws
  {
    let place = try place()
    let run = try place.start("run")
    try run.waitForError("x | b | up")
    try place.shell("kill -9 \(run.pid) $(pgrep -P \(run.pid))")
    _ = try run.finish()
    try place.write("go", "")
    let resumed = try place.opflow("resume")
    #expect(place.lines().filter { $0 != "b ends" } == ["a", "b", "b", "c"], "\(resumed)")
    place.expectNothingAlive()
  }

  @Test func `its counts stand beside the task for as long as it goes on`() throws {
    let place = try place()
    let run = try place.start("run")
    try run.waitForError("x | b | up")
    let status = try place.opflow("status")
    let inner = try #require(place.entries(".opflow/runs").max())
    #expect(status.output.contains("[1/3] 1 running of run \(inner)"), "\(status)")
    let json = try place.opflow("status", "--json")
    #expect(json.output.contains(#""inner_run":{"run":"\#(inner)","counts":{"#), "\(json)")
    run.send(SIGTERM)
    _ = try run.finish()
    let over = try place.opflow("status", "--json")
    #expect(!over.output.contains("inner_run"), "\(over)")
  }

  @Test func `its counts stand beside the task in the live view`() throws {
    let place = try place()
    let terminal = try place.startAtTerminal("run")
    try terminal.wait { $0.text.contains { $0.contains("[1/3] 1 running") } }
    kill(terminal.pid, SIGTERM)
    _ = try terminal.finish()
  }

  @Test func `a task that is tried again goes on with what it ran`() throws {
    let place = try Workplace(
      """
      tasks:
        x: { run: $opflow run inner.yaml, retry: { max: 1, delay: 10ms } }
      """)
    try place.write(
      "inner.yaml",
      """
      tasks:
        a: { run: echo a >> trace }
        b: { needs: a, run: "echo b >> trace; [ $(grep -c b trace) -gt 1 ]" }
      """)
    let end = try place.opflow("run")
    #expect(place.lines() == ["a", "b", "b"], "\(end)")
    #expect(end.errors.contains("x | resuming "), "\(end)")
    // What succeeded is not gone on with: who runs the task again wants it to run.
    try place.opflow("run", "--resume", "--rerun", "x")
    #expect(place.lines() == ["a", "b", "b", "a", "b"], "\(end)")
  }

  @Test func `what another task ran is not gone on with, nor what was run with other values`()
    throws
  {
    let place = try Workplace(
      """
      tasks:
        x: { run: "$opflow run inner.yaml --set n=$OPFLOW_ATTEMPT", retry: { max: 1, delay: 10ms } }
        y: { needs: [{ task: x, on: finished }], run: $opflow run inner.yaml, allow_failure: true }
      """)
    try place.write(
      "inner.yaml",
      """
      vars: { n: "0" }
      tasks:
        a: { run: "echo a ${{ vars.n }} >> trace" }
        b: { needs: a, run: "false" }
      """)
    let end = try place.opflow("run", status: 1)
    #expect(place.lines() == ["a 1", "a 2", "a 0"], "\(end)")
  }

  @Test func `who names no run means the one around`() throws {
    let place = try place()
    let run = try place.start("run")
    try run.waitForError("x | b | up")
    let status = try place.opflow("status")
    #expect(status.output.contains("(opflow.yaml): running"), "\(status)")
    // A request of somebody outside, and of nobody named.
    try place.opflow("cancel", "x")
    let end = try run.finish()
    #expect(end.status == 1 || end.status == 6, "\(end)")
    #expect(place.lines() == ["a", "b", "b ends"], "\(end)")
  }

  @Test(arguments: [
    "wait $outer", "wait $outer --for x", "status --watch $outer", "logs -f $outer",
  ])
  func `it does not wait for what waits for it`(_ command: String) throws {
    let place = try Workplace(Self.outer)
    try place.write(
      "inner.yaml",
      """
      tasks:
        a:
          run: |
            outer=${OPFLOW_RUNS%% *}
            $opflow \(command) 2> told || echo $? >> trace
      """)
    let end = try place.opflow("run")
    #expect(place.lines() == ["5"], "\(end)")
    let told = try place.text("told")
    #expect(told.contains("this command was started by a run within "), "\(told)")
    #expect(told.contains("would never end"), "\(told)")
  }

  @Test func `it may wait for other tasks of the run around`() throws {
    let place = try Workplace(
      """
      tasks:
        x: { run: $opflow run inner.yaml }
        y: { run: 'true' }
      """)
    try place.write(
      "inner.yaml",
      "tasks: { a: { run: '$opflow wait ${OPFLOW_RUNS%% *} --for y && echo waited >> trace' } }")
    let end = try place.opflow("run", "-j", "2")
    #expect(place.lines() == ["waited"], "\(end)")
  }

  /// `test` runs `opflow` with those words; `build` needs it, and `other` nothing.
  @Test(arguments: [
    "run test", "run", "run build", "run outer.yaml", "run middle.yaml",
  ])
  func `a task does not run itself`(_ command: String) throws {
    let place = try Workplace()
    let words = command.contains(".yaml") ? command : "\(command) -f outer.yaml"
    try place.write(
      "outer.yaml",
      """
      tasks:
        other: { run: echo other >> trace }
        test:
          run: |
            echo test >> trace
            [ $(grep -c test trace) -lt 4 ] || exit 9
            $opflow \(words) 2> told || { echo $? >> trace; exit 1; }
        build: { needs: test, run: echo build >> trace }
      """)
    try place.write("middle.yaml", "tasks: { x: { run: '$opflow run -q outer.yaml' } }")
    try place.opflow("run", "-f", "outer.yaml", "test", status: 1)
    let code = command.contains("middle") ? "1" : "5"
    #expect(place.lines() == ["test", code])
    let told = try place.text("told")
    #expect(
      told.contains("task test runs this command and would run itself again without end"),
      "\(told)")
  }

  @Test func `a task whose manifest comes from standard input does not run itself`() throws {
    let place = try Workplace()
    try place.write(
      "piped.yaml",
      """
      tasks:
        test:
          run: |
            echo test >> trace
            [ $(grep -c test trace) -lt 4 ] || exit 9
            $opflow run - < piped.yaml 2> told || { echo $? >> trace; exit 1; }
      """)
    try place.opflow("run", "-", status: 1, input: try place.text("piped.yaml"))
    #expect(place.lines() == ["test", "5"])
    #expect(try place.text("told").contains("would run itself again without end"))
  }

  @Test(arguments: [
    "tasks: { t: { run: 'true', inputs: [{ run: [sh, again] }] } }",
    "{ secrets: { S: { run: [sh, again] } }, tasks: { t: { run: 'true', secrets: [S] } } }",
  ])
  func `a command of an input or a secret does not run itself`(_ manifest: String) throws {
    for command in ["run -q", "plan"] {
      let place = try Workplace(manifest)
      try place.write(
        "again",
        """
        echo again >> trace
        [ $(grep -c again trace) -lt 9 ] && $opflow \(command) >> told 2>&1
        echo some-value
        """)
      try place.opflow("run")
      // Inputs are read before and after.
      #expect(place.lines().count <= 2, "\(command): \(place.lines())")
      if command != "plan" || manifest.contains("inputs") {
        #expect(try place.text("told").contains("again, without end"))
      }
    }
  }

  @Test func `a task may run other tasks of its manifest, and its namesake of another one`() throws
  {
    let place = try Workplace(
      """
      tasks:
        other: { run: echo other >> trace }
        test: { run: "echo test >> trace; $opflow run -q other; $opflow run -q --skip test; $opflow run -q inner.yaml; $opflow plan" }
      """)
    try place.write("inner.yaml", "tasks: { test: { run: echo inner >> trace } }")
    try place.opflow("run", "test")
    #expect(place.lines() == ["test", "other", "other", "inner"])
  }

  @Test func `tasks know all runs around them, the outermost first`() throws {
    let place = try place()
    try place.write("inner.yaml", "tasks: { a: { run: echo $OPFLOW_RUNS >> trace } }")
    try place.opflow("run")
    let runs: [String] = place.lines()[0].split(separator: " ").map { String($0) }
    #expect(runs.count == 2)
    let there: [String] = place.entries(".opflow/runs").filter { runs.contains($0) }
    #expect(there == runs.sorted())
    #expect(runs[0] < runs[1])
  }
}
