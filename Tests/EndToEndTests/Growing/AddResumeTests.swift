import Foundation
import Testing

/// Resumes of runs that tasks were added to.
struct AddResumeTests {
  /// A run that ended with a failure after `more.yaml` was added to it.
  private func begin(
    _ more: String, first: String = "done: { run: echo done >> trace }", _ flags: String = "",
    files: [String: String] = [:], letsGo: Bool = true
  ) throws -> Workplace {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        work: { run: 'echo in > in; read w < out; test -e ok' }
        \(first)
      """)
    let (`in`, out) = (try place.gate("in"), try place.gate("out"))
    for (name, text) in files { try place.write(name, text) }
    let run = try place.startShell("exec $opflow run \(flags)")
    _ = try `in`.next()
    try place.write("more.yaml", more)
    try place.opflow("add", "more.yaml")
    try out.letGo()
    let end = try run.finish()
    #expect(end.status == 1, "\(end)")
    // For the resume.
    try place.write("ok", "")
    if letsGo { try out.letGo() }
    try place.write("trace", "")
    return place
  }

  private static let more = """
    tasks:
      b: { needs: [done], run: echo b >> trace }
      c: { needs: [work], run: echo c >> trace }
    """

  @Test func `what was added and is done stays so, and the rest runs`() throws {
    let place = try begin(Self.more)
    try place.opflow("resume")
    #expect(place.lines() == ["c"])
    #expect(try place.status()["b"]?.state == "succeeded")
    #expect(
      try place.journal().last { $0.event == "resume" && $0.task.isEmpty }?.values["count"] == "4")
  }

  @Test func `the file that was added need not be there any more, nor be what it was`() throws {
    let place = try begin(Self.more)
    try place.remove("more.yaml")
    try place.opflow("resume")
    #expect(place.lines() == ["c"])
    try place.write("more.yaml", "tasks: { z: { run: echo z >> trace } }")
    try place.write("trace", "")
    let again = try place.opflow("resume", "--rerun", "b")
    #expect(place.lines() == ["b"], "\(again)")
  }

  @Test func `what it includes is looked for where it was, then taken from the copy`() throws {
    let place = try begin(
      "include: [part.yaml]\ntasks:\n  c: { needs: [work, b], run: echo c >> trace }",
      files: ["part.yaml": "tasks: { b: { run: echo b >> trace } }"])
    try place.remove("part.yaml")
    let resume = try place.opflow("resume")
    #expect(
      resume.errors.contains(
        "some files are missing; opflow uses the copies of the last session: part.yaml"),
      "\(resume)")
    #expect(place.lines() == ["c"])
  }

  @Test func `tasks are bound by their ids, whatever an edit of the manifest does to numbers`()
    throws
  {
    let place = try begin(Self.more)
    try place.write(
      "opflow.yaml",
      """
      max_failures: 0
      tasks:
        new0: { run: echo new0 >> trace }
        done: { run: echo done >> trace }
        new1: { run: echo new1 >> trace }
        work: { run: 'echo in > in; read w < out; test -e ok' }
      """)
    try place.opflow("resume", "-j", "1")
    #expect(place.lines().sorted() == ["c", "new0", "new1"])
    #expect(try place.status().tasks.map(\.id) == ["new0", "done", "new1", "work", "b", "c"])
    try place.write("trace", "")
    try place.opflow("resume", "--rerun", "b")
    #expect(place.lines() == ["b"])
  }

  @Test func `an edit that leaves what was added without its need is a mistake with a place`()
    throws
  {
    let place = try begin(Self.more)
    let (journal, plan) = (
      try place.bytes(place.runFolder() + "/journal.log"),
      try place.bytes(place.runFolder() + "/plan")
    )
    try place.write(
      "opflow.yaml", "tasks: { work: { run: 'echo in > in; read w < out; test -e ok' } }")
    let resume = try place.opflow("resume", status: 3)
    #expect(resume.errors.contains("/manifest.yaml:2:16: error: unknown task `done`"), "\(resume)")
    #expect(try place.bytes(place.runFolder() + "/journal.log") == journal)
    #expect(try place.bytes(place.runFolder() + "/plan") == plan)
  }

  @Test func `an edit that declares otherwise what was added is a mistake`() throws {
    let place = try begin(Self.more)
    try place.write(
      "opflow.yaml",
      """
      tasks:
        work: { run: 'echo in > in; read w < out; test -e ok' }
        done: { run: echo done >> trace }
        b: { run: echo other >> trace }
      """)
    let resume = try place.opflow("resume", status: 3)
    #expect(resume.errors.contains("`b` is already in the run, with"), "\(resume)")
  }

  @Test func `an edit may take over what was added`() throws {
    let place = try begin(Self.more)
    try place.write(
      "opflow.yaml",
      """
      tasks:
        b: { needs: [done], run: echo b >> trace }
        work: { run: 'echo in > in; read w < out; test -e ok' }
        done: { run: echo done >> trace }
      """)
    try place.opflow("resume")
    #expect(place.lines() == ["c"])
  }

  @Test func `what a run is about does not leave out what was added`() throws {
    let place = try begin(
      """
      tasks:
        b: { needs: [work], run: echo b >> trace }
        m: { manual: true, run: echo m >> trace }
      """,
      first: "lint: { run: echo lint >> trace }", "work")
    try place.opflow("resume")
    #expect(place.lines() == ["b"])
    #expect(try place.status()["m"]?.state != "succeeded")
  }

  @Test func `a dry run tells what would run of it, and changes nothing`() throws {
    let place = try begin(Self.more)
    let journal = try place.bytes(place.runFolder() + "/journal.log")
    let dry = try place.opflow("resume", "--dry-run")
    #expect(dry.output.contains("c"), "\(dry)")
    #expect(try place.bytes(place.runFolder() + "/journal.log") == journal)
  }

  @Test func `a resume removes what was never added`() throws {
    let place = try begin(Self.more)
    let added = try place.runFolder() + "/added"
    try place.write("\(added)/1.2.3/manifest.yaml", "tasks: {}")
    #expect(place.entries(added).count == 2)
    try place.opflow("resume")
    #expect(place.entries(added).count == 1)
    #expect(place.lines() == ["c"])
  }

  @Test func `more can be added after a resume, and all of it is there after the next`() throws {
    let place = try begin(Self.more, letsGo: false)
    try place.remove("ok")
    let resume = try place.start("resume")
    _ = try place.gate("in").next()
    try place.write("next.yaml", "tasks: { d: { needs: [b], run: echo d >> trace } }")
    try place.opflow("add", "next.yaml")
    try place.gate("out").letGo()
    #expect(try resume.finish().status == 1)
    #expect(place.lines() == ["d"])
    try place.write("ok", "")
    try place.gate("out").letGo()
    try place.opflow("resume")
    #expect(place.lines() == ["d", "c"])
    #expect(try place.status().tasks.map(\.id) == ["work", "done", "b", "c", "d"])
  }

  @Test func `a task that added and whose script was edited adds what it says now`() throws {
    let place = try Workplace(
      """
      tasks:
        scan:
          control: true
          run: "echo 'tasks: { p: { run: echo p >> trace } }' | $opflow add -; exit 1"
      """)
    try place.opflow("run", status: 1)
    try place.write(
      "opflow.yaml",
      """
      tasks:
        scan:
          control: true
          run: "echo 'tasks: { p: { run: echo p >> trace }, q: { run: echo q >> trace } }' | $opflow add -"
      """)
    try place.opflow("resume")
    #expect(place.lines().sorted() == ["p", "q"])
  }

  @Test func `a run whose coordinator was killed goes on with what was added`() throws {
    let place = try Workplace("tasks: { work: { run: 'echo in > in; read w < out' } }")
    let (`in`, out) = (try place.gate("in"), try place.gate("out"))
    let run = try place.start("run")
    _ = try `in`.next()
    try place.write("more.yaml", "tasks: { b: { needs: work, run: echo b >> trace } }")
    try place.opflow("add", "more.yaml")
    run.send(SIGKILL)
    _ = try run.finish()
    #expect(try place.status()["b"]?.state == "pending")
    try out.letGo()
    try place.opflow("resume")
    #expect(place.lines() == ["b"])
    place.expectNothingAlive()
  }
}
