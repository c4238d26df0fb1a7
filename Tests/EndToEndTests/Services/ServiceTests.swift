import Foundation
import Testing

/// Tasks that run for as long as others need them.
struct ServiceTests {
  /// Says that it is there, and waits for its end.
  private static let serves = "echo up; exec tail -f /dev/null"

  private func events(_ place: Workplace) throws -> [String] {
    try place.journal().filter { !$0.task.isEmpty }.map { "\($0.event) \($0.task)" }
  }

  /// A TCP port of this machine that is free now.
  private func freePort(_ place: Workplace) throws -> String {
    try place.shell(
      "python3 -c 'import socket; s = socket.socket(); s.bind((\"127.0.0.1\", 0));"
        + " print(s.getsockname()[1])' > port")
    return try place.text("port").trimmingCharacters(in: .whitespacesAndNewlines)
  }

  @Test func `a server is there for what needs it, and gone after it`() throws {
    let place = try Workplace()
    let port = try freePort(place)
    try place.write(
      "opflow.yaml",
      """
      tasks:
        web:
          service: { ready: { http: "http://127.0.0.1:\(port)/" } }
          run: [python3, -m, http.server, "\(port)", --bind, 127.0.0.1]
        read: { needs: [web], run: "python3 -c 'import urllib.request as u; print(u.urlopen(\\"http://127.0.0.1:\(port)/\\").status)' >> trace" }
      """)
    try place.opflow("run")
    #expect(place.lines() == ["200"])
    #expect(
      try events(place) == [
        "start web", "ready web", "start read", "success read", "stopping web", "success web",
      ])
    place.expectNothingAlive()
  }

  @Test func `a port is found for each name, and told to what needs the service and to no other`()
    throws
  {
    let place = try Workplace(
      """
      tasks:
        web:
          service: { ports: [http, side-door], ready: { http: "http://127.0.0.1:$OPFLOW_PORT_HTTP/" } }
          run: echo "$OPFLOW_PORT_HTTP $OPFLOW_PORT_SIDE_DOOR" > web; exec python3 -m http.server "$OPFLOW_PORT_HTTP"
        db:
          service: { ports: [db], ready: { port: db } }
          run: exec python3 -m http.server "$OPFLOW_PORT_DB"
        read:
          needs: [web]
          run: echo "$OPFLOW_PORT_HTTP $OPFLOW_PORT_SIDE_DOOR" > read; echo "${OPFLOW_PORT_DB-none}" >> trace
        both:
          needs: [web, db]
          run: echo "$OPFLOW_PORT_HTTP $OPFLOW_PORT_DB" > both
        none:
          needs: [read]
          run: echo "${OPFLOW_PORT_HTTP-none}" >> trace
      """)
    let run = try place.opflow("run")
    #expect(place.lines() == ["none", "none"])
    let ports = try place.text("web").split(whereSeparator: \.isWhitespace)
    #expect(Set(ports).count == 2 && ports.allSatisfy { UInt16($0) != nil })
    #expect(try place.text("read") == place.text("web"))
    let both = try place.text("both").split(whereSeparator: \.isWhitespace)
    #expect(both.first == ports.first && Set(ports + both).count == 3)
    #expect(run.errors.contains("web is ready (http \(ports[0]), side-door \(ports[1]))"), "\(run)")
    place.expectNothingAlive()
  }

  @Test func `who asks for the status is told the ports`() throws {
    let place = try Workplace(
      """
      tasks:
        web: { service: { ports: [a] }, run: "\(Self.serves)" }
        look: { needs: [web], run: "echo $OPFLOW_PORT_A > here; read x < go" }
      """)
    let (here, go) = (try place.gate("here"), try place.gate("go"))
    let run = try place.start("run")
    let port = try here.next()
    #expect(try place.opflow("status").output.contains("ready, a \(port)\n"))
    #expect(try place.opflow("status", "--json").output.contains("\"ports\":{\"a\":\(port)}"))
    try go.letGo()
    #expect(try run.finish().status == 0)
    // A finished run has none.
    #expect(try place.opflow("status", "--json").output.contains("\"ports\":{}"))
  }

  @Test func `the ready event of --json has the ports`() throws {
    let place = try Workplace(
      """
      tasks:
        web: { service: { ports: [a, b-c] }, run: "\(Self.serves)" }
        plain: { service: true, run: "\(Self.serves)" }
        look: { needs: [web, plain], run: 'echo "{\\"a\\":$OPFLOW_PORT_A,\\"b-c\\":$OPFLOW_PORT_B_C}" > said' }
      """)
    let lines = try place.opflow("run", "--json").output.split(separator: "\n")
    let ready = lines.filter { $0.contains("\"event\":\"ready\"") }
    let ports = try place.text("said").dropLast()
    #expect(ready.contains { $0.contains("\"web\"") && $0.contains("\"ports\":\(ports)") })
    #expect(ready.contains { $0.contains("\"plain\"") && $0.contains("\"ports\":{}") })
  }

  @Test func `who asks for the status is told that it is being stopped`() throws {
    let place = try Workplace(
      """
      tasks:
        web:
          service: { ports: [a] }
          stop: { grace: 1m }
          run: "trap 'echo > told; read x < go; exit 0' TERM; tail -f /dev/null & wait"
        last: { needs: [web], run: "true" }
        next: { needs: [last], run: "true" }
      """)
    let (told, go) = (try place.gate("told"), try place.gate("go"))
    let run = try place.start("run")
    _ = try told.next()
    #expect(try place.opflow("status").output.contains(/web +running .* stopping\n/))
    let json = try place.opflow("status", "--json").output
    #expect(json.contains("\"ready\":false,\"stopping\":true,\"ports\":{}"), "\(json)")
    try go.letGo()
    #expect(try run.finish().status == 0)
    #expect(try !place.opflow("status").output.contains("stopping"))
  }

  @Test(arguments: ["group", "quiet", "github"])
  func `a failure of what needs a service shows the last of that too`(output: String) throws {
    let place = try Workplace(
      """
      tasks:
        web: { service: { ready: { log: up } }, run: "seq 100; \(Self.serves)" }
        other: { service: { ready: { log: up } }, run: "echo unheard; \(Self.serves)" }
        look: { needs: [web], run: "echo mine; exit 3" }
        fine: { needs: [other], run: "true" }
      """)
    let run = try place.opflow("run", "-k", "--output", output, status: 1)
    let lines = run.errorLines
    let begin = try #require(
      lines.firstIndex { $0.hasPrefix("  last lines of web, a service that it needs:") }, "\(run)")
    let shown = Array(lines[(begin + 1)...].prefix(10))
    var last: [String] = (92...100).map { "  web | \($0)" }
    last.append("  web | up")
    #expect(shown == last, "\(run)")
    #expect(lines[..<begin].contains { $0.hasSuffix("mine") }, "\(run)")
    #expect(!lines.contains { $0.contains("  other | ") }, "\(run)")
  }

  @Test func `later failures of its dependents point to the log of a service`() throws {
    let place = try Workplace(
      """
      max_parallel: 1
      tasks:
        web: { service: { ready: { log: up } }, run: "echo spoken; \(Self.serves)" }
        look: { matrix: { n: [1, 2, 3] }, needs: [web], run: exit 3 }
      """)
    let run = try place.opflow("run", "-k", "--output", "group", status: 1)
    #expect(run.errorLines.count { $0 == "  web | spoken" } == 1, "\(run)")
    let pointers = run.errorLines.filter {
      $0.hasPrefix("  log of web, a service that it needs: .opflow/runs/")
        && $0.hasSuffix("/logs/web.log")
    }
    #expect(pointers.count == 2, "\(run)")
  }

  @Test func `services start before what needs them, and end after it in the other order`() throws {
    let place = try Workplace(
      """
      tasks:
        api: { needs: [db], service: { ready: { log: "u?" } }, run: "\(Self.serves)" }
        db: { service: { ready: { log: up } }, run: "\(Self.serves)" }
        test: { needs: [api], run: "true" }
      """)
    try place.opflow("run")
    #expect(
      try events(place) == [
        "start db", "ready db", "start api", "ready api", "start test", "success test",
        "stopping api", "success api", "stopping db", "success db",
      ])
  }

  @Test func `a file, a command and a port make it ready, and only then what needs it starts`()
    throws
  {
    let place = try Workplace()
    let port = try freePort(place)
    // A file from before the start does not count.
    try place.write("pid", "old")
    // The file is there before anybody can connect.
    let listen =
      "import socket, sys; s = socket.socket(); s.bind((\\\"127.0.0.1\\\", \(port)));"
      + " open(\\\"listens\\\", \\\"w\\\"); s.listen(); sys.stdin.read()"
    try place.write(
      "opflow.yaml",
      """
      tasks:
        file:
          service: { ready: { file: pid, every: 20ms } }
          run: "read word < go; echo new > pid; exec tail -f /dev/null"
        command:
          service: { ready: { exec: [test, -e, made], every: 20ms } }
          run: "touch made; exec tail -f /dev/null"
        port:
          service: { ready: { port: \(port), every: 20ms } }
          run: "tail -f /dev/null | python3 -c '\(listen)'"
        a: { needs: [file], run: "cat pid >> trace" }
        b: { needs: [command], run: "test -e made" }
        c: { needs: [port], run: "test -e listens" }
      """)
    let gate = try place.gate("go")
    let run = try place.start("run")
    try run.waitForError("c succeeded")
    #expect(!(try place.journal().contains { $0.event == "start" && $0.task == "a" }))
    #expect(try place.opflow("why", "a").output.contains("file"))
    try gate.letGo()
    let end = try run.finish()
    #expect(end.status == 0, "\(end)")
    #expect(place.lines() == ["new"])
    place.expectNothingAlive()
  }

  @Test func `one that is not ready in time, or ends before, has failed`() throws {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        never: { service: { ready: { log: nothing, timeout: 100ms } }, run: "\(Self.serves)" }
        early: { service: { ready: { log: up } }, run: "exit 3" }
        daemon: { service: { ready: { file: pid } }, run: "tail -f /dev/null & exit 0" }
        missing: { service: { ready: { exec: [no-such-program] } }, run: "\(Self.serves)" }
        a: { needs: [never], run: echo a >> trace }
        b: { needs: [early], run: echo b >> trace }
        c: { needs: [daemon], run: echo c >> trace }
        d: { needs: [missing], run: echo d >> trace }
      """)
    let run = try place.opflow("run", status: 1)
    #expect(run.errors.contains("not ready after 0.10s: no line of its output matches `nothing`"))
    #expect(run.errors.contains("ended before it was ready: exit 3"))
    #expect(run.errors.contains("ended before it was ready: exit 0; a service must stay in the"))
    #expect(run.errors.contains("cannot execute its readiness check `no-such-program`"))
    #expect(place.lines() == [])
    let skips = try place.journal().filter { $0.event == "skip" }
    #expect(skips.count == 4 && skips.allSatisfy { $0.values["reason"] == "upstream" })
    place.expectNothingAlive()
  }

  @Test func `a port that somebody has is not taken for its own`() throws {
    let place = try Workplace()
    let port = try freePort(place)
    let other = try place.startShell(
      "exec python3 -u -c 'import socket; s = socket.create_server((\"127.0.0.1\", \(port)));"
        + " print(\"listens\"); s.accept(); s.accept()'")
    try other.waitForOutput("listens")
    try place.write(
      "opflow.yaml",
      """
      tasks:
        db: { service: { ready: { port: \(port) } }, run: "echo db >> trace" }
        test: { needs: [db], run: echo test >> trace }
      """)
    let run = try place.opflow("run", status: 1)
    #expect(
      run.errors.contains("port \(port) is already in use by process \(other.pid) (python3)"),
      "\(run)")
    #expect(place.lines() == [])
    other.send(SIGKILL)
    _ = try other.finish()
  }

  @Test func `one that ends in use starts again, and so does what it was lost to`() throws {
    let place = try Workplace(
      """
      tasks:
        db:
          service: { ready: { log: up }, restart: 1 }
          run: "echo up; if [ ! -e died ]; then read word < die; touch died; exit 7; fi; exec tail -f /dev/null"
        test:
          needs: [db]
          retry: { max: 1, delay: 1ms, exit_codes: [75] }
          run: "echo try >> trace; if [ ! -e died ]; then echo go > die; exec tail -f /dev/null; fi"
      """)
    try place.shell("mkfifo die")
    let run = try place.opflow("run")
    #expect(place.lines() == ["try", "try"])
    #expect(run.errors.contains("ended unexpectedly: exit 7"), "\(run)")
    #expect(run.errors.contains("lost service db"), "\(run)")
    let retries = try place.journal().filter { $0.event == "retry" }
    #expect(retries.map { $0.values["reason"] } == ["ended", "service-lost"])
    place.expectNothingAlive()
  }

  @Test func `one that ends in use and does not start again takes what needs it along`() throws {
    let place = try Workplace(
      """
      tasks:
        db: { service: { ready: { log: up } }, run: "echo up; read word < die; exit 7" }
        test: { needs: [db], retry: 3, run: "echo go > die; exec tail -f /dev/null" }
        after: { needs: [db, test], run: echo after >> trace }
      """)
    try place.shell("mkfifo die")
    let run = try place.opflow("run", status: 1)
    #expect(run.errors.contains("db failed"), "\(run)")
    let failure = try #require(
      try place.journal().first { $0.event == "failure" && $0.task == "test" })
    #expect(failure.values["reason"] == "service-lost")
    #expect(place.lines() == [])
    place.expectNothingAlive()
  }

  @Test func `one that does not heed its stop signal is killed, which is no failure`() throws {
    let place = try Workplace(
      """
      tasks:
        db:
          service: { ready: { log: up } }
          run: "trap '' TERM; echo up; while :; do read word < never; done"
          stop: { grace: 100ms }
        test: { needs: [db], run: "true" }
      """)
    try place.shell("mkfifo never")
    try place.opflow("run")
    let end = try #require(try place.journal().first { $0.event == "success" && $0.task == "db" })
    #expect(end.values["signal"] == "9")
    place.expectNothingAlive()
  }

  @Test func `what nothing needs stays until somebody ends it, with success`() throws {
    let place = try Workplace(
      """
      tasks:
        build: { run: echo built >> trace }
        db: { service: true, run: "\(Self.serves)" }
        api: { service: { ready: { log: up } }, needs: [build, db], run: "\(Self.serves)" }
      """)
    let run = try place.start("run")
    try run.waitForError("api is ready")
    run.send(SIGINT)
    let end = try run.finish()
    #expect(end.status == 0, "\(end)")
    #expect(
      try events(place).suffix(4) == ["stopping api", "success api", "stopping db", "success db"])
    #expect(try place.status()["build"]?.state == "succeeded")
    place.expectNothingAlive()
  }

  @Test func `one that is named stays, and one that nothing comes to need never starts`() throws {
    let place = try Workplace(
      """
      tasks:
        db: { service: { ready: { log: up } }, run: "\(Self.serves)" }
        test: { needs: [db], inputs: [a], run: "echo test >> trace" }
      """)
    try place.write("a", "1")
    try place.opflow("run")
    let again = try place.opflow("run")
    #expect(place.lines() == ["test"])
    #expect(again.errors.contains("db skipped: no task needed it"), "\(again)")
    let named = try place.start("run", "db")
    try named.waitForError("db is ready")
    named.send(SIGTERM)
    #expect(try named.finish().status == 0)
    place.expectNothingAlive()
  }

  @Test func `after a cancel it is there for what comes last`() throws {
    let place = try Workplace(
      """
      tasks:
        db: { service: { ready: { log: up } }, run: "\(Self.serves)" }
        test: { needs: [db], run: "echo begun > says; exec tail -f /dev/null" }
        dump: { finally: true, needs: [db], run: echo dumped >> trace }
      """)
    let gate = try place.gate("says")
    let run = try place.start("run")
    #expect(try gate.next() == "begun")
    run.send(SIGINT)
    #expect(try run.finish().status == -SIGINT)
    #expect(place.lines() == ["dumped"])
    #expect(
      try events(place) == [
        "start db", "ready db", "start test", "cancel test", "start dump", "success dump",
        "stopping db", "success db",
      ])
    place.expectNothingAlive()
  }

  @Test func `a killed run leaves none, and a resume starts it for what is left`() throws {
    let place = try Workplace(
      """
      tasks:
        db: { service: { ready: { log: up } }, run: "echo db >> trace; \(Self.serves)" }
        first: { needs: [db], run: echo first >> trace }
        second:
          needs: [db, first]
          run: "echo second >> trace; [ -e again ] || { echo begun > says; exec tail -f /dev/null; }"
      """)
    let gate = try place.gate("says")
    let run = try place.start("run")
    #expect(try gate.next() == "begun")
    run.send(SIGKILL)
    _ = try run.finish()
    place.expectNothingAlive()
    try place.write("again", "")
    try place.opflow("resume")
    #expect(place.lines() == ["db", "first", "second", "db", "second"])
    // Nothing is left to be done, so it is not started either.
    let nothing = try place.opflow("resume", try place.status().run)
    #expect(place.lines().count == 5, "\(nothing)")
    place.expectNothingAlive()
  }

  @Test func `a change of a service has what needs it run again`() throws {
    let manifest = """
      max_failures: 0
      tasks:
        db: { service: { ready: { log: up } }, run: "\(Self.serves)" }
        test: { needs: [db], run: echo test >> trace }
        apart: { run: echo apart >> trace }
        fails: { run: "exit 1" }
      """
    let place = try Workplace(manifest)
    try place.opflow("run", status: 1)
    try place.write("opflow.yaml", manifest.replacing("echo up;", with: "echo up now;"))
    let resume = try place.opflow("resume", status: 1)
    #expect(place.lines().sorted() == ["apart", "test", "test"], "\(resume)")
  }
}
