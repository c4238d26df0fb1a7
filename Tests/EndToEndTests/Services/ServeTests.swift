import Foundation
import Testing

/// Runs that stay open for added tasks.
struct ServeTests {
  /// Begins a run `q`, which takes what is added when this returns.
  private func serve(_ place: Workplace) throws -> LiveProcess {
    let run = try place.start("serve", "--name", "q")
    try run.waitForError("0 tasks")
    return run
  }

  @Test func `it waits for what is added, and ends when it was closed and nothing is left`() throws
  {
    let place = try Workplace("tasks: { unread: { run: exit 1 } }")
    let run = try serve(place)
    try place.write("a.yaml", "tasks: { a: { run: echo a >> trace } }")
    try place.write("b.yaml", "tasks: { b: { needs: [a], run: echo b >> trace } }")
    _ = try place.opflow("add", "--run", "q", "a.yaml")
    _ = try place.opflow("wait", "q", "--for", "a")
    _ = try place.opflow("add", "--run", "q", "b.yaml")
    let close = try place.opflow("close", "--run", "q")
    #expect(close.output == "closed the queue; the run ends when all its tasks have ended\n")
    let end = try run.finish()
    #expect(end.status == 0, "\(end)")
    #expect(place.lines() == ["a", "b"])
    place.expectNothingAlive()
  }

  @Test func `what its tasks add comes in, also when it was closed before`() throws {
    let place = try Workplace("tasks: {}")
    let (`in`, out) = (try place.gate("in"), try place.gate("out"))
    let run = try serve(place)
    try place.write(
      "scan.yaml",
      """
      tasks:
        scan: { control: true, run: 'echo in > in; read w < out; $opflow add more.yaml' }
      """)
    try place.write("more.yaml", "tasks: { found: { run: echo found >> trace } }")
    _ = try place.opflow("add", "--run", "q", "scan.yaml")
    _ = try `in`.next()
    _ = try place.opflow("close", "--run", "q")
    let late = try place.opflow("add", "--run", "q", "more.yaml", status: 2)
    #expect(late.errors.contains("the run is closed"), "\(late)")
    try out.letGo()
    let end = try run.finish()
    #expect(end.status == 0, "\(end)")
    #expect(place.lines() == ["found"])
  }

  @Test func `a second one of the name is refused while the first is live`() throws {
    let place = try Workplace("tasks: {}")
    let run = try serve(place)
    let second = try place.opflow("serve", "--name", "q", status: 5)
    #expect(second.errors.contains("already has the name `q`"), "\(second)")
    _ = try place.opflow("close", "--run", "q")
    #expect(try run.finish().status == 0)
  }

  @Test func `killed, it waits again after a resume, and has what was added`() throws {
    let place = try Workplace("tasks: {}")
    let run = try serve(place)
    try place.write("a.yaml", "tasks: { a: { run: echo a >> trace } }")
    try place.write("b.yaml", "tasks: { b: { needs: [a], run: echo b >> trace } }")
    _ = try place.opflow("add", "--run", "q", "a.yaml")
    _ = try place.opflow("wait", "q", "--for", "a")
    kill(run.pid, SIGKILL)
    _ = try run.finish()
    let again = try place.start("resume", "q")
    try again.waitForError("resuming")
    _ = try place.opflow("add", "--run", "q", "b.yaml")
    _ = try place.opflow("close", "--run", "q")
    #expect(try again.finish().status == 0)
    #expect(place.lines() == ["a", "b"])
    // Views tell by that line after how many failures nothing new starts.
    let line = try #require(try place.journal().first { $0.event == "resume" && $0.task.isEmpty })
    #expect(line.values["failures"] == "0")
    let late = try place.opflow("resume", "q")
    #expect(late.errors.contains("there is nothing left to run"), "\(late)")
  }

  @Test(arguments: [SIGKILL, SIGTERM])
  func `ended before anything was added, it waits again after a resume`(_ signal: Int32) throws {
    let place = try Workplace("tasks: {}")
    let run = try serve(place)
    run.send(signal)
    _ = try run.finish()
    let again = try place.start("resume", "q")
    try again.waitForError("resuming")
    try place.write("a.yaml", "tasks: { a: { run: echo a >> trace } }")
    _ = try place.opflow("add", "--run", "q", "a.yaml")
    _ = try place.opflow("close", "--run", "q")
    #expect(try again.finish().status == 0)
    #expect(place.lines() == ["a"])
  }

  @Test func `it may begin with nothing but tasks that do not run by themselves`() throws {
    let place = try Workplace("tasks: { by-hand: { manual: true, run: echo by-hand >> trace } }")
    let run = try place.start("serve", "opflow.yaml", "--name", "q")
    try run.waitForError("0 tasks")
    try place.write("a.yaml", "tasks: { a: { run: echo a >> trace } }")
    _ = try place.opflow("add", "--run", "q", "a.yaml")
    _ = try place.opflow("close", "--run", "q")
    let end = try run.finish()
    #expect(end.status == 0, "\(end)")
    #expect(place.lines() == ["a"])
  }

  @Test func `a folder may have its name`() throws {
    let place = try Workplace("tasks: {}")
    let run = try serve(place)
    try place.write("sub/q/a.yaml", "tasks: { a: { run: echo a >> trace } }")
    try place.shell("cd sub && $opflow add --run q q/a.yaml && mkdir ../q && $opflow status q")
    _ = try place.opflow("close", "--run", "q")
    #expect(try run.finish().status == 0)
    #expect(try place.status()["a"]?.state == "succeeded")
  }

  @Test func `what fails holds no others back, and a signal ends it to be resumed`() throws {
    let place = try Workplace("tasks: {}")
    let run = try serve(place)
    try place.write("a.yaml", "tasks: { bad: { run: exit 3 }, good: { run: echo good >> trace } }")
    try place.write("c.yaml", "tasks: { later: { run: echo later >> trace } }")
    _ = try place.opflow("add", "--run", "q", "a.yaml")
    _ = try place.opflow("wait", "q", "--for", "bad", status: 1)
    _ = try place.opflow("wait", "q", "--for", "good")
    _ = try place.opflow("add", "--run", "q", "c.yaml")
    _ = try place.opflow("wait", "q", "--for", "later")
    kill(run.pid, SIGTERM)
    #expect(try run.finish().status == -SIGTERM)
    #expect(place.lines().sorted() == ["good", "later"])
  }

  @Test func `a manifest may have what all share and no task, and is one of run only with tasks`()
    throws
  {
    let place = try Workplace("name: base\nresources: { db: 1 }\n")
    let run = try place.start("serve", "opflow.yaml", "--name", "q")
    try place.write("a.yaml", "tasks: { a: { resources: { db: 1 }, run: echo a >> trace } }")
    try run.waitForError("0 tasks")
    _ = try place.opflow("add", "--run", "q", "a.yaml")
    _ = try place.opflow("close", "--run", "q")
    #expect(try run.finish().status == 0)
    #expect(place.lines() == ["a"])
    let plain = try place.opflow("run", status: 3)
    #expect(plain.errors.contains("`tasks` is missing"), "\(plain)")
  }

  @Test func `an ordinary run is not closed`() throws {
    let place = try Workplace("tasks: { work: { run: 'echo in > in; read w < out' } }")
    let (`in`, out) = (try place.gate("in"), try place.gate("out"))
    let run = try place.start("run")
    _ = try `in`.next()
    let close = try place.opflow("close", status: 2)
    #expect(close.errors.contains("it ends by itself"), "\(close)")
    try out.letGo()
    #expect(try run.finish().status == 0)
  }

  @Test func `closed, it ends the services that stay when nothing else is left`() throws {
    let place = try Workplace("tasks: { db: { service: {}, run: exec sleep 1000 } }")
    let run = try place.start("serve", "opflow.yaml", "--name", "q")
    try run.waitForError("the queue is open")
    try place.waitForJournal { $0.contains { $0.event == "ready" } }
    try place.write("a.yaml", "tasks: { a: { needs: db, run: echo a >> trace } }")
    _ = try place.opflow("add", "--run", "q", "a.yaml")
    _ = try place.opflow("close", "--run", "q")
    let end = try run.finish()
    #expect(end.status == 0, "\(end)")
    #expect(place.lines() == ["a"])
    place.expectNothingAlive()
  }
}
