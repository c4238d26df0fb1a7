import Foundation
import Screen
import Testing

/// How services end, and the messages about it.
struct ServiceEndTests {
  private static let serves = "echo up; exec tail -f /dev/null"

  @Test func `a second Ctrl-C ends at once what stays, as that of any run`() throws {
    let place = try Workplace(
      """
      tasks:
        web:
          service: { ready: { log: up } }
          run: "trap 'echo told > says' TERM; echo up; while :; do tail -f /dev/null & wait || :; done"
          stop: { grace: 1h }
      """)
    let says = try place.gate("says")
    let run = try place.start("run")
    try run.waitForError("web is ready")
    run.send(SIGINT)
    #expect(try says.next() == "told")
    run.send(SIGINT)
    let end = try run.finish()
    #expect(end.status == -SIGINT, "\(end)")
    #expect(end.errors.contains("interrupted by SIGINT"), "\(end)")
    place.expectNothingAlive()
  }

  @Test func `one that loses another starts again, and both are told of`() throws {
    let place = try Workplace(
      """
      tasks:
        db:
          service: { ready: { log: up }, restart: 1 }
          run: "echo up; if [ ! -e died ]; then read word < die; touch died; exit 7; fi; exec tail -f /dev/null"
        api: { needs: [db], service: { ready: { log: up } }, run: "echo api >> trace; \(Self.serves)" }
        test:
          needs: [api]
          retry: { max: 1, delay: 1ms }
          run: "if [ ! -e died ]; then echo go > die; exec tail -f /dev/null; fi; echo test >> trace"
      """)
    try place.shell("mkfifo die")
    let run = try place.opflow("run")
    #expect(place.lines() == ["api", "api", "test"])
    #expect(run.errors.contains("ended unexpectedly: exit 7; restarting"), "\(run)")
    #expect(run.errors.contains("api interrupted: lost service db"), "\(run)")
    place.expectNothingAlive()
  }

  @Test func `one that goes with the last that may start was not interrupted`() throws {
    let place = try Workplace(
      """
      tasks:
        db: { service: { ready: { log: up } }, run: "\(Self.serves)" }
        bad: { needs: [db], priority: high, run: exit 3 }
        other: { needs: [db], run: "true" }
      """)
    let run = try place.opflow("run", "-j", "1", status: 1)
    #expect(!run.errors.contains("interrupted"), "\(run)")
    #expect(run.errors.contains("pending: db, other"), "\(run)")
    #expect(try place.opflow("status").output.contains(/db +pending +no longer needed/))
    try place.opflow("resume", status: 1)
    place.expectNothingAlive()
  }

  @Test func `nothing begins with one that is being cancelled`() throws {
    let place = try Workplace(
      """
      max_failures: 0
      max_parallel: 4
      tasks:
        web:
          service: { ready: { log: up } }
          run: "trap 'echo told > says; read word < go; exit 0' TERM; echo up; tail -f /dev/null & wait"
          stop: { grace: 1h }
        first: { needs: [web], run: "echo begun > begun; exec tail -f /dev/null" }
        other: { run: "read word < free" }
        second: { needs: [web, other], run: echo second >> trace }
      """)
    let (says, begun) = (try place.gate("says"), try place.gate("begun"))
    let (go, free) = (try place.gate("go"), try place.gate("free"))
    let run = try place.start("run")
    #expect(try begun.next() == "begun")
    try place.opflow("cancel", "web")
    #expect(try says.next() == "told")
    try free.letGo()
    try place.waitForJournal { $0.contains { $0.event == "success" && $0.task == "other" } }
    try go.letGo()
    let end = try run.finish()
    #expect(place.lines() == [], "\(end)")
    #expect(try place.status()["second"]?.state == "skipped", "\(end)")
    place.expectNothingAlive()
  }

  @Test func `what it started in other sessions goes with it, whatever it heeds`() throws {
    let place = try Workplace(
      """
      tasks:
        web:
          service: { ready: { log: up } }
          run: "setsid sh -c 'trap : TERM INT HUP; echo up; tail -f /dev/null & wait; wait' & exec tail -f /dev/null"
          stop: { grace: 100ms }
        a: { needs: [web], run: "true" }
      """)
    try place.opflow("run")
    place.expectNothingAlive()
  }

  @Test func `what it says when it is told to end is kept and shown`() throws {
    let place = try Workplace(
      """
      tasks:
        web:
          service: { ready: { log: up } }
          run: "trap 'echo farewell; exit 9' TERM; echo up; while :; do tail -f /dev/null & wait; done"
        a: { needs: [web], run: "true" }
      """)
    let run = try place.opflow("run", "--output", "line")
    #expect(run.errorLines.contains("web | farewell"), "\(run)")
    #expect(try place.log("web") == "up\nfarewell\n")
  }

  @Test func `one that --only names stays where nothing else of the run needs it`() throws {
    let place = try Workplace(
      """
      tasks:
        db: { service: { ready: { log: up } }, run: "\(Self.serves)" }
        a: { needs: [db], run: echo a >> trace }
        last: { needs: [db], finally: true, run: echo last >> trace }
      """)
    let run = try place.start("run", "--only", "db")
    try run.waitForError("db is ready")
    run.send(SIGINT)
    #expect(try run.finish().status == 0)
    #expect(place.lines() == ["last"])
    // With its dependents it ends after them.
    try place.opflow("run", "--only", "*")
    #expect(place.lines() == ["last", "a", "last"])
    place.expectNothingAlive()
  }

  @Test func `a resume starts one that was named and could not start`() throws {
    let up = "echo up; exec tail -f /dev/null"
    let place = try Workplace(
      """
      tasks:
        db: { service: { ready: { log: up } }, run: "[ -e ok ] || exit 3; \(up)" }
        web: { needs: [db], service: { ready: { log: up } }, run: "\(up)" }
        test: { needs: [web], run: "true" }
      """)
    try place.opflow("run", "web", status: 1)
    try place.write("ok", "")
    let run = try place.start("resume")
    try run.waitForError("web is ready")
    run.send(SIGINT)
    let end = try run.finish()
    #expect(end.status == 0, "\(end)")
    #expect(end.errors.contains("2 succeeded"), "\(end)")
    // It is done with that.
    let again = try place.opflow("resume")
    #expect(again.errors.contains("there is nothing left to run"), "\(again)")
  }

  @Test func `what ends has room before what stays, also behind what stays and has none`() throws {
    let place = try Workplace(
      """
      max_parallel: 3
      resources: { seat: 1 }
      tasks:
        one: { service: { ready: { log: up } }, resources: { seat: 1 }, run: "\(Self.serves)" }
        two: { service: true, resources: { seat: 1 }, run: exec tail -f /dev/null }
        late: { resources: { seat: 1 }, run: echo late > begun }
      """)
    let begun = try place.gate("begun")
    let run = try place.start("run")
    #expect(try begun.next() == "late")
    try run.waitForError(" waits for resources that running services hold")
    run.send(SIGINT)
    #expect(try run.finish().status == 0)
    place.expectNothingAlive()
  }

  @Test func `on a terminal lines go in place of the frame where only services are left`() throws {
    let place = try Workplace(
      """
      tasks:
        web:
          service: { ready: { log: up } }
          run: "echo up; read word < go; echo said $word; exec tail -f /dev/null"
        once: { needs: [web], run: "true" }
      """)
    let go = try place.gate("go")
    let terminal = try place.startAtTerminal("run", "web", "once")
    try terminal.wait { $0.text.contains("web | up") }
    try go.letGo(1)
    try terminal.wait { screen in screen.text.contains { $0.hasPrefix("web | said") } }
    #expect(!terminal.screen.text.contains { $0.hasPrefix("[") }, "\(terminal.screen.text)")
    try terminal.type("\u{3}")
    try terminal.wait { screen in screen.text.contains { $0.contains("succeeded in ") } }
    #expect(try terminal.finish() == 0)
    place.expectNothingAlive()
  }
}
