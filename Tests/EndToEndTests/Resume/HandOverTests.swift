import Glibc
import Testing

/// The time between two rounds of `opflow run --watch`, while services keep running.
struct HandOverTests {
  private static func serving(_ name: String) -> String {
    "trap 'echo \(name) ends >> trace; exit' TERM; echo \(name) >> trace; echo up;"
      + " while :; do sleep 0.05; done"
  }

  private func begin(_ manifest: String) throws -> (Workplace, LiveProcess) {
    let place = try Workplace(manifest)
    try place.write("src", "1\n")
    try place.write("key", "first-value\n")
    let run = try place.watch()
    return (place, run)
  }

  @Test func `a secret with another value has services start again that could show it`() throws {
    let (place, run) = try begin(
      """
      secrets: { KEY: { file: key } }
      tasks:
        db: { service: { ready: { log: up } }, run: "\(Self.serving("db"))" }
        web:
          secrets: [KEY]
          service: { ready: { log: up } }
          run: "echo key $KEY; \(Self.serving("web"))"
        lint: { inputs: [src], secrets: [KEY], run: echo lint $KEY; echo lint >> trace }
      """)
    // opflow does not watch the file of a secret.
    try place.write("key", "second-value\n")
    try place.write("src", "2\n")
    try run.waitForRounds(2)
    try run.waitForError("web is ready", times: 2)
    try run.waitForError("db is ready", times: 2)
    // The same again leaves them.
    try place.write("src", "3\n")
    try run.waitForRounds(3)
    run.send(SIGINT)
    let end = try run.finish()
    #expect(end.status == -SIGINT, "\(end)")
    #expect(place.lines().count { $0 == "web" } == 2, "\(end)")
    #expect(place.lines().count { $0 == "web ends" } == 2, "\(end)")
    #expect(place.lines().count { $0 == "db" } == 2, "\(end)")
    #expect(place.lines().count { $0 == "lint" } == 3, "\(end)")
    #expect(end.errors.contains("web | key ***"), "\(end)")
    for value in ["first-value", "second-value"] {
      #expect(!end.errors.contains(value), "\(end)")
      try place.shell("! grep -r -e \(value) .opflow")
    }
    place.expectNothingAlive()
  }

  @Test func `a secret of the environment is there in every round, and for what starts again`()
    throws
  {
    let place = try Workplace(
      """
      secrets:
        KEY: { env: GIVEN }
        OTHER: { run: [sh, -c, "echo from-$GIVEN"] }
      tasks:
        web:
          secrets: [KEY, OTHER]
          service: { ready: { log: up }, restart: 1 }
          run: "echo $$ > pid; echo web ${#KEY} ${#OTHER} >> trace; echo up; exec tail -f /dev/null"
        lint: { inputs: [src], secrets: [KEY], run: "echo lint ${#KEY} >> trace" }
      """)
    try place.write("src", "1\n")
    let run = try place.watch(environment: ["GIVEN": "some-value"])
    for round in 2...3 {
      try place.write("src", "\(round)\n")
      try run.waitForRounds(round)
    }
    try place.shell("kill -9 $(ps -o ppid= -p $(cat pid))")
    try run.waitForError("web is ready", times: 2)
    // The definition of a service changed, so opflow reads its secrets again.
    try place.write(
      "opflow.yaml", try place.text("opflow.yaml").replacing("echo up;", with: "echo up ;"))
    try run.waitForRounds(4)
    try run.waitForError("web is ready", times: 3)
    run.send(SIGINT)
    let end = try run.finish()
    #expect(end.status == -SIGINT, "\(end)")
    #expect(place.lines().count { $0 == "web 10 15" } == 3, "\(end)")
    #expect(place.lines().count { $0 == "lint 10" } == 3, "\(end)")
    place.expectNothingAlive()
  }

  /// A run the next round of which waits for a command that prints a secret.
  private func waitInBetween() throws -> (Workplace, LiveProcess) {
    let place = try Workplace(
      """
      secrets: { KEY: { run: [sh, -c, "echo > asked; read x < go; echo some-value"] } }
      tasks:
        db: { service: { ready: { log: up } }, run: "\(Self.serving("db"))" }
        lint: { inputs: [src], secrets: [KEY], run: echo lint >> trace }
        last: { finally: true, run: echo last >> trace }
      """)
    try place.write("src", "1\n")
    let (asked, go) = (try place.gate("asked"), try place.gate("go"))
    let run = try place.start("run", "--watch")
    _ = try asked.next()
    try go.letGo()
    try run.waitForRounds(1)
    try place.write("src", "2\n")
    _ = try asked.next()
    return (place, run)
  }

  @Test func `Ctrl-C between two rounds ends the run as at any other time`() throws {
    let (place, run) = try waitInBetween()
    run.send(SIGINT)
    try place.gate("go").letGo()
    let end = try run.finish()
    #expect(end.status == -SIGINT, "\(end)")
    #expect(place.lines().suffix(2) == ["db ends", "last"], "\(end)")
    #expect(place.lines().count { $0 == "db" } == 1, "\(end)")
    #expect(try place.journal().last?.event == "close")
    place.expectNothingAlive()
  }

  @Test func `one that is killed between two rounds leaves nothing, and a resume goes on`() throws {
    let (place, run) = try waitInBetween()
    run.send(SIGKILL)
    _ = try run.finish()
    try place.gate("go").letGo()
    let resume = try place.start("resume")
    _ = try place.gate("asked").next()
    try place.gate("go").letGo()
    try resume.waitForError("db is ready")
    try resume.waitForError("lint succeeded")
    resume.send(SIGINT)
    let end = try resume.finish()
    #expect(end.status == 0, "\(end)")
    #expect(place.lines().count { $0 == "db" } == 2 && place.lines().last == "last", "\(end)")
    place.expectNothingAlive()
  }

  @Test func `Ctrl-C while services end for the next round ends the run`() throws {
    let place = try Workplace(
      """
      tasks:
        db: { service: { ready: { log: up } }, run: "\(Self.serving("db"))" }
        web:
          service: { ready: { log: up } }
          run: "trap 'echo > asked; read x < go; exit' TERM; echo up; while :; do sleep 0.05; done"
          stop: { grace: 5m }
        last: { finally: true, run: echo last >> trace }
      """)
    _ = (try place.gate("asked"), try place.gate("go"))
    let run = try place.start("run", "--watch")
    try run.waitForError("web is ready")
    try run.waitForError("db is ready")
    let other = try place.text("opflow.yaml").replacing("< go; exit", with: "< go ; exit")
    try place.write("opflow.yaml", other)
    _ = try place.gate("asked").next()
    run.send(SIGINT)
    try run.waitForError("stopping")
    try place.gate("go").letGo()
    let end = try run.finish()
    #expect(end.status == -SIGINT, "\(end)")
    #expect(place.lines() == ["db", "db ends", "last"], "\(end)")
    #expect(try place.journal().filter { $0.event == "close" }.count == 1)
    place.expectNothingAlive()
  }

  @Test func `a further Ctrl-C ends at once what ends between two rounds`() throws {
    let place = try Workplace(
      """
      secrets: { KEY: { file: key } }
      tasks:
        web:
          service: { ready: { log: up } }
          stop: { grace: 5m }
          run: |
            [ -e once ] || trap 'echo > asked' TERM
            touch once; echo up; while :; do sleep 0.05; done
        lint: { inputs: [src], secrets: [KEY], run: echo lint >> trace }
        last: { finally: true, run: echo last >> trace }
      """)
    for name in ["src", "key"] { try place.write(name, "first-value\n") }
    let asked = try place.gate("asked")
    let run = try place.watch()
    for name in ["key", "src"] { try place.write(name, "second-value\n") }
    _ = try asked.next()
    // Of two that are the same, one might not be seen.
    run.send(SIGINT)
    run.send(SIGTERM)
    let end = try run.finish()
    #expect([-SIGINT, -SIGTERM].contains(end.status), "\(end)")
    // If the second signal is late, the next session sees both and ends at once, too.
    #expect(["lint", "last"].contains(place.lines().last), "\(end)")
    #expect(try place.journal().last?.event == "close")
    place.expectNothingAlive()
  }

  @Test func `reports of a run whose services stay come when all of it ends`() throws {
    let place = try Workplace(
      """
      tasks:
        db: { service: { ready: { log: up } }, run: "\(Self.serving("db"))" }
        lint: { inputs: [src], run: echo lint >> trace }
      """)
    try place.write("src", "1\n")
    let run = try place.start(
      "run", "--watch", "--junit", "results.xml", "--notify", "cat >> told; echo told >> trace")
    try run.waitForRounds(1)
    try place.write("src", "2\n")
    try run.waitForRounds(2)
    #expect(!place.exists("results.xml") && !place.exists("told"))
    run.send(SIGINT)
    let end = try run.finish()
    #expect(end.status == -SIGINT, "\(end)")
    // The first two start side by side.
    let lines = place.lines()
    #expect(Set(lines.prefix(2)) == ["db", "lint"], "\(end)")
    #expect(lines.dropFirst(2) == ["lint", "db ends", "told"], "\(end)")
    #expect(try place.text("results.xml").contains("name=\"lint\""))
  }

  @Test func `reports of a run without services come after each round`() throws {
    let place = try Workplace("tasks: { lint: { inputs: [src], run: echo lint >> trace } }")
    try place.write("src", "1\n")
    let gate = try place.gate("gate")
    let run = try place.start(
      "run", "--watch", "--notify", "cat > told; echo told >> trace; echo > gate")
    _ = try gate.next()
    try run.waitForRounds(1)
    try place.write("src", "2\n")
    _ = try gate.next()
    try run.waitForRounds(2)
    run.send(SIGINT)
    _ = try run.finish()
    #expect(place.lines() == ["lint", "told", "lint", "told"])
  }

  @Test func `a signal to what tells of a round is one to the run that is watched`() throws {
    let place = try Workplace("tasks: { lint: { run: echo lint >> trace } }")
    let gate = try place.gate("gate")
    let run = try place.start("run", "--watch", "--notify", "echo > gate; exec tail -f /dev/null")
    _ = try gate.next()
    run.send(SIGINT)
    let end = try run.finish()
    // As it does while nothing runs.
    #expect(end.status == -SIGINT, "\(end)")
    #expect(
      end.errors.contains("the command was killed because opflow received a signal"), "\(end)")
    place.expectNothingAlive()
  }
}
