import Glibc
import Screen
import Testing

/// Services that stay from one round of `opflow run --watch` to the next.
struct StandingServiceTests {
  /// Writes a line when it starts, and when it gets its stop signal.
  private static func serving(_ name: String) -> String {
    // Works if either of its two processes gets the signal first.
    "echo \(name) >> trace; trap : TERM; echo up; tail -f /dev/null & wait || :;"
      + " echo \(name) ends >> trace"
  }

  private func count(_ line: String, _ place: Workplace) -> Int {
    place.lines().count { $0 == line }
  }

  private func begin(_ manifest: String) throws -> (Workplace, LiveProcess) {
    let place = try Workplace(manifest)
    try place.write("src", "1\n")
    try place.write("text", "1\n")
    let run = try place.watch()
    return (place, run)
  }

  @Test func `a change leaves a service alone that it does not concern`() throws {
    let (place, run) = try begin(
      """
      tasks:
        db: { service: { ready: { log: up } }, run: "\(Self.serving("db"))" }
        lint: { inputs: [src], run: echo lint >> trace }
        last: { finally: true, run: echo last >> trace }
      """)
    for round in 2...3 {
      try place.write("src", "\(round)\n")
      try run.waitForRounds(round)
      #expect(try place.status()["db"]?.state == "running")
      #expect(try place.opflow("status").output.contains(" ready\n"))
      #expect(count("lint", place) == round && count("db", place) == 1)
    }
    let told = try run.leave()
    #expect(told.contains("db keeps running\n"), "\(told)")
    // The `finally` task runs once, after it.
    #expect(place.lines().suffix(2) == ["db ends", "last"])
    #expect(count("db", place) == 1 && count("db ends", place) == 1)
    let events = try place.journal().filter { $0.task == "db" }.map(\.event)
    #expect(events == ["start", "ready", "ready", "ready", "stopping", "success"])
    #expect(try place.journal().filter { $0.event == "close" }.count == 1)
    place.expectNothingAlive()
  }

  @Test func `a terminal shows each line of a service that stays up once`() throws {
    let place = try Workplace(
      """
      tasks:
        db: { service: true, run: echo DB-BEGAN; exec tail -f /dev/null }
        lint: { inputs: [src], run: echo lint >> trace }
      """)
    try place.write("src", "1\n")
    let terminal = try place.startAtTerminal("run", "--watch")
    func waitForRounds(_ count: Int) throws {
      try terminal.wait { $0.text.count { $0.contains(" for changes (Ctrl-C to quit)") } == count }
    }
    try waitForRounds(1)
    for round in 2...3 {
      try place.write("src", "\(round)\n")
      try waitForRounds(round)
    }
    #expect(terminal.screen.text.count { $0.contains("DB-BEGAN") } == 1, "\(terminal.screen.text)")
    try terminal.type("\u{3}")
    _ = try terminal.finish()
    place.expectNothingAlive()
  }

  @Test func `an edit ends what is gone, starts what is another, and leaves the rest`() throws {
    func manifest(_ tasks: [String]) -> String {
      "tasks:\n" + tasks.map { "  \($0)\n" }.joined()
    }
    func service(_ name: String, _ says: String) -> String {
      "\(name): { service: { ready: { log: up } }, run: \"\(Self.serving(says))\" }"
    }
    let (place, run) = try begin(
      manifest([service("a", "a"), service("b", "b"), service("c", "c")]))
    try place.write("opflow.yaml", manifest([service("b", "other"), service("c", "c")]))
    try run.waitForRounds(2)
    #expect(count("a ends", place) == 1 && count("b ends", place) == 1)
    #expect(count("other", place) == 1)
    // By its number in the plan it was another one when it was started.
    #expect(count("c", place) == 1 && count("c ends", place) == 0)
    _ = try run.leave()
    #expect(count("c", place) == 1 && count("c ends", place) == 1)
    #expect(try place.status()["c"]?.state == "succeeded")
    place.expectNothingAlive()
  }

  @Test func `an edit of a service leaves what it needs`() throws {
    func manifest(_ says: String) -> String {
      """
      tasks:
        db: { service: { ready: { log: up } }, run: "\(Self.serving("db"))" }
        web: { needs: [db], service: { ready: { log: up } }, run: "\(Self.serving(says))" }
        last: { finally: true, run: echo last >> trace }
      """
    }
    let (place, run) = try begin(manifest("web"))
    try place.write("opflow.yaml", manifest("other"))
    try run.waitForRounds(2)
    _ = try run.leave()
    #expect(place.lines() == ["db", "web", "web ends", "other", "other ends", "db ends", "last"])
    place.expectNothingAlive()
  }

  @Test func `what runs again ends the service that needs it first, and not what that needs`()
    throws
  {
    let (place, run) = try begin(
      """
      tasks:
        db: { service: { ready: { log: up } }, run: "\(Self.serving("db"))" }
        build:
          inputs: [src]
          outputs: [page]
          run: "[ ! -e busy ] && echo build >> trace; cp src page"
        docs: { inputs: [text], run: echo docs >> trace }
        web:
          needs: [build, db]
          service: { ready: { log: up } }
          run: |
            echo web $(cat page) >> trace; echo > busy
            trap : TERM; echo up; tail -f /dev/null & wait || :; rm busy
      """)
    try place.write("text", "2\n")
    try run.waitForRounds(2)
    #expect(count("docs", place) == 2 && count("web 1", place) == 1)
    try place.write("src", "2\n")
    try run.waitForRounds(3)
    let told = try run.leave()
    #expect(told.contains("build is re-run\n"), "\(told)")
    #expect(count("build", place) == 2, "\(told)")
    #expect(count("web 1", place) == 1 && count("web 2", place) == 1)
    #expect(count("db", place) == 1 && count("db ends", place) == 1)
    place.expectNothingAlive()
  }

  @Test func `one that ends after a round starts again as often as it may`() throws {
    let (place, run) = try begin(
      """
      tasks:
        web:
          service: { ready: { log: up }, restart: 1 }
          run: "echo web >> trace; echo $$ > pid; echo up; exec tail -f /dev/null"
        lint: { inputs: [src], run: echo lint >> trace }
      """)
    try place.write("src", "2\n")
    try run.waitForRounds(2)
    try place.shell("kill $(cat pid)")
    try run.waitForError("web is ready", times: 2)
    #expect(count("web", place) == 2)
    try place.write("src", "3\n")
    try run.waitForRounds(3)
    _ = try run.leave()
    #expect(count("web", place) == 2)
    place.expectNothingAlive()
  }

  @Test func `a killed run leaves none, and a resume starts them`() throws {
    let (place, run) = try begin(
      """
      tasks:
        db: { service: { ready: { log: up } }, run: "\(Self.serving("db"))" }
        lint: { inputs: [src], run: echo lint >> trace }
      """)
    try place.write("src", "2\n")
    try run.waitForRounds(2)
    run.send(SIGKILL)
    _ = try run.finish()
    let resume = try place.start("resume")
    try resume.waitForError("db is ready")
    resume.send(SIGINT)
    let end = try resume.finish()
    #expect(end.status == 0, "\(end)")
    #expect(end.errors.contains("db: re-run (interrupted)"), "\(end)")
    #expect(count("db", place) == 2)
    place.expectNothingAlive()
  }

  @Test func `who reads objects is told of the next round`() throws {
    let place = try Workplace(
      """
      tasks:
        db: { service: { ready: { log: up } }, run: "\(Self.serving("db"))" }
        lint: { inputs: [src], run: echo lint >> trace }
      """)
    try place.write("src", "1\n")
    let run = try place.start("run", "--watch", "--json")
    try run.waitForRounds(1)
    try place.write("src", "2\n")
    try run.waitForRounds(2)
    run.send(SIGINT)
    let end = try run.finish()
    let events = end.outputLines.compactMap { $0.firstMatch(of: /"event":"([a-z]+)"/)?.1 }
    #expect(events.filter { $0 == "reopen" }.count == 1, "\(end)")
    #expect(events.filter { $0 == "close" }.count == 1 && events.last == "close", "\(end)")
    place.expectNothingAlive()
  }
}
