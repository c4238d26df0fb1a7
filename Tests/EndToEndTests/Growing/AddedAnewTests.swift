import Foundation
import Testing

/// Tasks that a task added in an earlier session, and adds again when it runs again.
struct AddedAnewTests {
  /// Adds a task for each word of `list`, which leaves the words of `text`.
  private static let adding = """
    tasks:
      scan:
        control: true
        INPUTS
        run: |
          for x in $(cat list); do
            echo "tasks: { p-$x: { run: echo p-$x $(cat text) >> trace } }" | $opflow add -
          done
          test ! -e fail
      last: { needs: scan, run: echo last >> trace }
    """

  private func place(inputs: Bool = false) throws -> Workplace {
    let place = try Workplace(
      Self.adding.replacing("INPUTS", with: inputs ? "inputs: [list]" : "tags: [adds]"))
    try place.write("list", "a b\n")
    try place.write("text", "1\n")
    return place
  }

  private func ids(_ place: Workplace) throws -> [String] { try place.status().tasks.map(\.id) }

  @Test func `another definition holds, and what is not added any more is gone`() throws {
    let place = try place()
    try place.write("fail", "")
    try place.opflow("run", status: 1)
    #expect(try ids(place) == ["scan", "last", "p-a", "p-b"])
    try place.write("list", "b c\n")
    try place.write("text", "2\n")
    try place.remove("fail")
    let resume = try place.opflow("resume")
    #expect(!resume.errors.contains("no longer in the manifest"), "\(resume)")
    #expect(place.lines().sorted() == ["last", "p-b 2", "p-c 2"])
    #expect(try ids(place) == ["scan", "last", "p-b", "p-c"])
    // And so it stays, also for a resume that compiles all additions once more.
    #expect(try place.opflow("resume").errors.contains("there is nothing left to run"))
    try place.opflow("resume", "--rerun", "last")
    #expect(try ids(place) == ["scan", "last", "p-b", "p-c"])
    #expect(place.lines().sorted() == ["last", "last", "p-b 2", "p-c 2"])
    // The folders of what does not count any more went with the second resume that ran anything.
    #expect(try place.entries(place.runFolder() + "/added").count == 2)
    #expect(try place.opflow("journal", "verify").status == 0)
  }

  @Test func `its files decide whether it runs again, before anything is left out`() throws {
    let place = try place(inputs: true)
    try place.opflow("run")
    try place.write("text", "2\n")
    try place.opflow("resume")
    #expect(place.lines().sorted() == ["last", "p-a 1", "p-b 1"])
    #expect(try ids(place) == ["scan", "last", "p-a", "p-b"])
    try place.write("list", "b c\n")
    try place.opflow("resume")
    #expect(place.lines().dropFirst(3).sorted() == ["last", "p-b 2", "p-c 2"])
    #expect(try ids(place) == ["scan", "last", "p-b", "p-c"])
    #expect(try place.status()["p-b"]?.attempts == 2)
  }

  @Test func `what was cut short comes anew, and what it added itself with it`() throws {
    let place = try Workplace(
      """
      tasks:
        outer:
          control: true
          run: |
            $opflow add - < inner.yaml
            test ! -e wait || { echo in > in; read w < out; }
      """)
    try place.write(
      "inner.yaml",
      """
      tasks:
        inner:
          control: true
          run: "echo 'tasks: { deep: { run: echo deep1 >> trace } }' | $opflow add -"
      """)
    try place.opflow("run")
    #expect(place.lines() == ["deep1"])
    let (`in`, out) = (try place.gate("in"), try place.gate("out"))
    try place.write("wait", "")
    let run = try place.start("resume", "--rerun", "outer")
    _ = try `in`.next()
    run.send(SIGKILL)
    _ = try run.finish()
    // Only the outer one has added a task in this session.
    #expect(try place.status()["inner"]?.state == "pending")
    #expect(try ids(place) == ["outer", "inner"])
    try place.remove("wait")
    try place.write(
      "inner.yaml",
      """
      tasks:
        inner:
          control: true
          run: "echo 'tasks: { deep: { run: echo deep2 >> trace } }' | $opflow add -"
      """)
    try out.letGo()
    try place.opflow("resume")
    #expect(place.lines() == ["deep1", "deep2"])
    #expect(try ids(place) == ["outer", "inner", "deep"])
    place.expectNothingAlive()
  }

  @Test func `what others need of it stays, and another definition of it is refused`() throws {
    let place = try place()
    try place.write("fail", "")
    let run = try place.start("serve", "opflow.yaml", "--name", "q")
    try run.waitForError("the queue is open")
    try place.waitForJournal { $0.contains { $0.event == "failure" } }
    try place.write("more.yaml", "tasks: { more: { needs: p-a, run: echo more >> trace } }")
    try place.opflow("add", "more.yaml", "--run", "q")
    try place.opflow("close", "--run", "q")
    _ = try run.finish()
    try place.write("text", "2\n")
    try place.remove("fail")
    let resume = try place.opflow("resume", "q", status: 1)
    #expect(
      resume.errors.contains("`p-a` is already in the run, with a different `run`"), "\(resume)")
    #expect(try ids(place) == ["scan", "last", "p-a", "p-b", "more"])
  }

  @Test func `one that must not run twice stays as it was cut short`() throws {
    let place = try Workplace(
      """
      tasks:
        scan:
          control: true
          run: |
            echo "tasks: { p: { on_interrupted: fail, run: echo in > in; read w < out } }" | $opflow add -
      """)
    let (`in`, out) = (try place.gate("in"), try place.gate("out"))
    let run = try place.start("run")
    _ = try `in`.next()
    run.send(SIGKILL)
    _ = try run.finish()
    _ = out
    let resume = try place.opflow("resume", "--rerun", "scan", status: 1)
    #expect(try place.status()["p"]?.state == "failed", "\(resume)")
  }

  @Test func `in another run it is not up to date, since what it added is not there`() throws {
    let place = try place(inputs: true)
    try place.write("fail-b", "")
    try place.opflow("run")
    try place.opflow("run")
    #expect(try ids(place) == ["scan", "last", "p-a", "p-b"])
    #expect(place.lines().sorted() == ["last", "last", "p-a 1", "p-a 1", "p-b 1", "p-b 1"])
    #expect(try place.opflow("why", "scan").output.contains("it controls its run"))
    #expect(try place.opflow("run", "--dry-run").output.contains("it controls its run"))
    // Within its run it is.
    try place.opflow("resume")
    #expect(place.lines().count == 6)
  }

  @Test func `what another task finds as well is added once`() throws {
    let place = try Workplace(
      """
      tasks:
        one: { control: true, run: $opflow add - < found.yaml }
        two: { control: true, needs: [one], run: $opflow add - < found.yaml }
        three: { control: true, needs: [two], run: $opflow add - < more.yaml }
      """)
    let found = """
      tasks:
        p: { run: echo p >> trace }
        f: { matrix: { n: [1, 2] }, needs: [p], run: echo f >> trace }
      """
    try place.write("found.yaml", found)
    try place.write("more.yaml", found + "\n  q: { needs: [f], run: echo q >> trace }\n")
    try place.opflow("run")
    #expect(place.lines() == ["p", "f", "f", "q"])
    #expect(try ids(place) == ["one", "two", "three", "p", "f[n=1]", "f[n=2]", "q"])
  }
}
