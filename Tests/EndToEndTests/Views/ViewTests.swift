import Testing

/// `status`, `logs` and `runs`.
struct ViewTests {
  private static let manifest = """
    name: demo
    max_failures: 0
    tasks:
      good: { run: echo fine }
      bad: { run: "echo broken; exit 3" }
      below: { needs: [bad], run: "true" }
      off: { if: "false", run: "true" }
    """

  @Test func `status --json has the shape that is promised`() throws {
    let place = try Workplace(Self.manifest)
    try place.opflow("run", status: 1)
    let status = try place.status()
    #expect(status.run == place.runs.first)
    #expect(status.name == "demo")
    #expect(status.state == "failed")
    let counts: [String: Int] = [
      "pending": 0, "running": 0, "succeeded": 1, "failed": 1, "failed_allowed": 0, "skipped": 2,
      "cancelled": 0, "up_to_date": 0, "suspended": 0, "asking": 0,
    ]
    #expect(status.counts == counts)
    #expect(status.tasks.map(\.id) == ["good", "bad", "below", "off"])
    let good = try #require(status["good"])
    #expect(good.exit == 0)
    #expect(good.attempts == 1)
    #expect(good.signal == nil)
    let began = try #require(good.startedMs)
    let ended = try #require(good.endedMs)
    #expect(began <= ended)
    let log = try #require(good.log)
    #expect(log.hasSuffix("/logs/good.log"))
    let below = try #require(status["below"])
    #expect(below.attempts == 0)
    #expect(below.startedMs == nil)
    #expect(below.log == nil)
  }

  @Test func `status while a run lives tells who waits for whom`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "echo here > here; read x < go" }
        b: { needs: [a], run: "true" }
      """)
    let here = try place.gate("here")
    let go = try place.gate("go")
    let live = try place.start("run")
    _ = try here.next()
    let status = try place.status()
    #expect(status.state == "running")
    #expect(status["a"]?.state == "running")
    #expect(status["b"]?.state == "pending")
    #expect(status["b"]?.waitsFor == ["a"])
    #expect(status.counts["running"] == 1)
    try go.letGo()
    #expect(try live.finish().status == 0)
    #expect(try place.status().state == "succeeded")
  }

  @Test func `the table names every task and its state`() throws {
    let place = try Workplace(Self.manifest)
    try place.opflow("run", status: 1)
    let table = try place.opflow("status")
    for word in ["demo", "good", "succeeded", "bad", "failed", "below", "skipped", "off"] {
      #expect(table.output.contains(word), "\(table)")
    }
    #expect(table.errors == "")
  }

  @Test func `a run is found by its id, a prefix of it, and its manifest`() throws {
    let place = try Workplace("tasks: { a: { run: 'true' } }")
    try place.write("other.yaml", "tasks: { b: { run: 'true' } }")
    try place.opflow("run")
    let first = try #require(place.runs.first)
    try place.opflow("run", "other.yaml")
    #expect(try place.status(first).tasks.map(\.id) == ["a"])
    #expect(try place.status("opflow.yaml").tasks.map(\.id) == ["a"])
    #expect(try place.status("other.yaml").tasks.map(\.id) == ["b"])
    #expect(try place.status().tasks.map(\.id) == ["b"])
  }

  @Test func `a run that does not exist is a wrong use`() throws {
    let place = try Workplace("tasks: { a: { run: 'true' } }")
    for command in ["status", "logs", "resume"] {
      let run = try place.opflow(command, status: 2)
      #expect(run.errors != "")
    }
    try place.opflow("run")
    let run = try place.opflow("status", "zzz", status: 2)
    #expect(run.errors.contains("zzz"))
  }

  @Test func `views find the state folder from a folder below`() throws {
    let place = try Workplace("tasks: { a: { run: echo hello } }")
    try place.opflow("run")
    try place.write("deep/er/file", "")
    let folder = place.file("deep/er")
    #expect(try place.opflow("status", in: folder).output.contains("succeeded"))
    #expect(try place.opflow("logs", "a", in: folder).output.contains("hello"))
    #expect(try place.opflow("runs", in: folder).output.contains(try #require(place.runs.first)))
  }

  @Test func `logs prints what a task said`() throws {
    let place = try Workplace("tasks: { a: { run: 'printf one' }, b: { run: echo two } }")
    try place.opflow("run")
    let logs = try place.opflow("logs", "a")
    #expect(logs.output.contains("one"))
    #expect(!logs.output.contains("two"))
    let all = try place.opflow("logs")
    #expect(all.output.contains("one"))
    #expect(all.output.contains("two"))
    #expect(try place.opflow("logs", "c", status: 2).errors.contains("c"))
  }

  @Test func `logs -f follows until the end of the run`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "echo first; echo here > here; read x < go; echo last" }
      """)
    let here = try place.gate("here")
    let go = try place.gate("go")
    let live = try place.start("run")
    _ = try here.next()
    let follower = try place.start("logs", "-f", "a")
    try follower.waitForOutput("first")
    try go.letGo()
    #expect(try live.finish().status == 0)
    let followed = try follower.finish()
    #expect(followed.status == 0)
    #expect(followed.output.contains("last"))
  }

  @Test func `runs lists the newest first`() throws {
    let place = try Workplace("tasks: { a: { run: test -e ok } }")
    try place.opflow("run", status: 1)
    let failed = try #require(place.runs.first)
    try place.write("ok", "")
    try place.opflow("run")
    let list = try place.opflow("runs")
    let lines = list.outputLines.filter { $0.contains("opflow.yaml") }
    #expect(lines.count == 2, "\(list)")
    #expect(lines.first?.contains("succeeded") == true)
    #expect(lines.last?.contains(failed) == true)
    #expect(lines.last?.contains("failed") == true)
  }

  @Test func `a view whose reader goes away ends quietly`() throws {
    let tasks = (0..<5000).map { "  task-number-\($0): { run: 'true', if: 'false' }" }
    let place = try Workplace("tasks:\n" + tasks.joined(separator: "\n"))
    try place.opflow("run", "--output", "quiet")
    let view = try place.shell("\"$opflow\" status | head -n 1")
    #expect(view.errors == "")
  }

  @Test func `views change nothing in the run's folder`() throws {
    let place = try Workplace(Self.manifest)
    try place.opflow("run", status: 1)
    let folder = try place.runFolder()
    let before = try place.shell(
      "cd \(folder) && find . -type f | sort | xargs stat -c '%n %Y %s' && md5sum journal.log"
    ).output
    try place.opflow("status")
    try place.opflow("logs")
    try place.opflow("runs")
    try place.opflow("plan")
    let after = try place.shell(
      "cd \(folder) && find . -type f | sort | xargs stat -c '%n %Y %s' && md5sum journal.log"
    ).output
    #expect(before == after)
  }

  @Test func `a status from elsewhere names a command that finds the run from there`() throws {
    let place = try Workplace()
    try place.write("sub/opflow.yaml", "tasks: { bad: { run: exit 1 } }")
    try place.opflow("run", "sub/opflow.yaml", status: 1)
    let status = try place.opflow("status", "sub/opflow.yaml").output
    let line = try #require(status.split(separator: "\n").last)
    #expect(line.hasPrefix("to continue: opflow resume --state-dir sub/.opflow "))
    let words = line.dropFirst("to continue: opflow ".count)
    #expect(try place.shell("$opflow \(words) --dry-run").output.contains("bad"))
  }
}
