import Foundation
import Testing

/// Tasks that ask a person, and how they come to be answered.
struct GateTests {
  private static let manifest = """
    max_failures: 0
    tasks:
      a: { run: echo a >> trace }
      ask: { needs: [a], approve: "Sure?" }
      b: { needs: [ask], run: echo b >> trace }
      no: { needs: [{ task: ask, on: failure }], run: echo no >> trace }
    """

  private func begin(
    _ manifest: String = manifest
  ) throws -> (place: Workplace, run: LiveProcess) {
    let place = try Workplace(manifest)
    let run = try place.start("run")
    try run.waitForError("ask asks for approval: Sure?")
    return (place, run)
  }

  private func starts(of task: String, in place: Workplace) throws -> Int {
    try place.journal().count { $0.event == "start" && $0.task == task }
  }

  @Test func `what is approved goes on, and says by whom`() throws {
    let (place, run) = try begin()
    let status = try place.opflow("status").output
    #expect(status.contains("asks for approval: Sure?"), "\(status)")
    #expect(status.contains("to answer ask: opflow approve ask or opflow reject ask\n"))
    #expect(
      try place.opflow("why", "ask").output.contains(
        "to answer: opflow approve ask or opflow reject ask\n"))
    #expect(try place.opflow("approve", "ask").output == "approved 1 task\n")
    let end = try run.finish()
    #expect(end.status == 0)
    #expect(end.errors.contains("ask approved after "), "\(end)")
    #expect(place.lines() == ["a", "b"])
    #expect(try place.opflow("status").output.contains("approved by opflow approve (pid "))
    #expect(try place.opflow("why", "ask").output.contains("was approved by opflow approve (pid "))
    // The journal has the request before its result.
    let lines = try place.journal()
    let request = try #require(lines.first { $0.event == "order" })
    #expect(request.values["verb"] == "approve")
    #expect(request.values["tasks"] == "ask")
    let success = try #require(lines.first { $0.event == "success" && $0.task == "ask" })
    #expect(success.sequence == request.sequence + 1)
    #expect(lines.first { $0.event == "start" && $0.task == "ask" }?.values["w"] == nil)
  }

  @Test func `what is rejected fails, is asked again by a retry, and then by a resume`() throws {
    let place = try Workplace(
      Self.manifest.replacing("needs: [ask], run: echo b", with: "needs: [ask, d], run: echo b")
        + "\n  d: { run: read w < out }")
    let out = try place.gate("out")
    let run = try place.start("run")
    try run.waitForError("ask asks for approval: Sure?")
    #expect(try place.opflow("reject", "ask").output == "rejected 1 task\n")
    #expect(
      try place.opflow("approve", "ask", status: 2).errors.hasPrefix(
        "opflow: approve: ask was already rejected by opflow reject (pid "))
    #expect(
      try place.opflow("status").output.contains("rejected by opflow reject (pid "))
    #expect(try place.opflow("retry", "ask").output == "1 task will run again\n")
    try place.waitForJournal { $0.count { $0.event == "start" && $0.task == "ask" } == 2 }
    #expect(try place.opflow("reject", "ask").output == "rejected 1 task\n")
    try out.letGo()
    let end = try run.finish()
    #expect(end.status == 1)
    #expect(
      end.errors.contains(try Regex(#"ask failed after \S+: rejected by opflow reject \(pid "#)),
      "\(end)")
    #expect(place.lines() == ["a", "no"])
    let resume = try place.start("resume")
    try resume.waitForError("ask asks for approval: Sure?")
    try place.opflow("approve", "ask")
    #expect(try resume.finish().status == 0)
    #expect(place.lines().last == "b")
  }

  @Test func `what was approved is not asked again by a resume`() throws {
    let (place, run) = try begin(
      Self.manifest.replacing(
        "echo b >> trace", with: "'echo in > in; read w < out; echo b >> trace'"))
    let (`in`, out) = (try place.gate("in"), try place.gate("out"))
    try place.opflow("approve", "ask")
    #expect(try `in`.next() == "in")
    run.send(SIGKILL)
    _ = try run.finish()
    let resume = try place.start("resume")
    #expect(try `in`.next() == "in")
    try out.letGo()
    #expect(try resume.finish().status == 0)
    #expect(try starts(of: "ask", in: place) == 1)
    #expect(place.lines() == ["a", "b"])
  }

  /// The run dies between the line of the request and the lines of its result.
  @Test(arguments: [false, true])
  func `an approval that is all a run could write holds, for what was approved`(
    isEdited: Bool
  ) throws {
    let (place, run) = try begin()
    try place.opflow("approve", "ask")
    #expect(try run.finish().status == 0)
    let text = try place.text(place.journalName)
    let end = try #require(text.range(of: "verb=approve"))
    let rest = try #require(text[end.upperBound...].firstIndex(of: "\n"))
    try place.write(place.journalName, String(text[...rest]))
    if isEdited {
      try place.write(
        "opflow.yaml", Self.manifest.replacing("Sure?", with: "Sure, by all means?"))
      let resume = try place.start("resume")
      try resume.waitForError("ask asks for approval: Sure, by all means?")
      try place.opflow("approve", "ask")
      #expect(try resume.finish().status == 0)
    } else {
      #expect(try place.opflow("resume").errors.contains("ask approved after "))
    }
    #expect(try starts(of: "ask", in: place) == 2)
    #expect(place.lines() == ["a", "b", "b"])
  }

  @Test func `a task of the run answers no question, with control either`() throws {
    let place = try Workplace(
      """
      tasks:
        ask: { approve: "Sure?" }
        t: { control: true, run: '"$OPFLOW" approve ask 2> told || echo done > in' }
      """)
    let `in` = try place.gate("in")
    let run = try place.start("run", environment: ["OPFLOW": Program.path])
    #expect(try `in`.next() == "done")
    let told = try place.text("told")
    #expect(
      told
        == "opflow: approve: `t` is a task of this run, and tasks cannot approve or reject in their"
        + " own run\n")
    try place.opflow("reject", "ask")
    #expect(try run.finish().status == 1)
  }

  @Test func `a question has a time of its own, and none by defaults`() throws {
    let place = try Workplace(
      """
      max_failures: 0
      defaults: { timeout: 100ms, retry: 3, on_interrupted: fail }
      tasks:
        late: { approve: "Now?", timeout: 200ms, allow_failure: true }
        ask: { needs: [late], approve: "Sure?" }
      """)
    let run = try place.start("run")
    try run.waitForError("late failed (allowed) after ")
    try run.waitForError("ask asks for approval: Sure?")
    try place.opflow("approve", "ask")
    #expect(try run.finish().status == 0)
    #expect(try starts(of: "late", in: place) == 1)
  }

  @Test func `a run that is stopped takes its question back`() throws {
    let (place, run) = try begin()
    run.send(SIGINT)
    #expect(try run.finish().status == -SIGINT)
    #expect(try place.status()["ask"]?.state == "cancelled")
    let resume = try place.start("resume")
    try resume.waitForError("ask asks for approval: Sure?")
    try place.opflow("cancel", "ask")
    #expect(try resume.finish().status == 6)
    #expect(place.lines() == ["a"])
  }

  @Test func `a paused run does not ask`() throws {
    let place = try Workplace(
      "tasks: { a: { run: 'echo in > in; read w < out' }, ask: { needs: a, approve: 'Sure?' } }")
    let (`in`, out) = (try place.gate("in"), try place.gate("out"))
    let run = try place.start("run")
    #expect(try `in`.next() == "in")
    #expect(
      try place.opflow("approve", "ask", status: 2).errors
        == "opflow: approve: ask has not asked for approval yet; it waits for 1 dependency\n")
    try place.opflow("pause")
    try out.letGo()
    try place.waitForJournal { $0.contains { $0.event == "success" && $0.task == "a" } }
    #expect(
      try place.opflow("approve", "ask", status: 2).errors
        == "opflow: approve: ask has not asked for approval yet; the run is paused\n")
    #expect(
      try place.opflow("approve", "a", status: 2).errors
        == "opflow: approve: a does not ask for approval\n")
    try place.opflow("continue")
    try run.waitForError("ask asks for approval: Sure?")
    #expect(
      try place.opflow("suspend", "ask", status: 2).errors
        == "opflow: suspend: ask waits for approval; you cannot suspend it\n")
    try place.opflow("approve", "ask")
    #expect(try run.finish().status == 0)
  }

  @Test func `a question is asked whatever else waits for a place, and quietly too`() throws {
    let place = try Workplace(
      """
      max_parallel: 1
      tasks:
        work: { priority: very_high, run: read w < out }
        more: { priority: high, run: 'true' }
        ask: { approve: "Sure?" }
      """)
    let out = try place.gate("out")
    let run = try place.start("run", "--quiet")
    try run.waitForError("ask asks for approval: Sure?")
    try run.waitForError("opflow approve ask or opflow reject ask")
    try place.opflow("approve", "ask")
    try out.letGo()
    #expect(try run.finish().status == 0)
  }

  @Test func `legs that ask are answered together, or by name`() throws {
    let place = try Workplace(
      "tasks: { ask: { approve: 'Deploy to ${{ matrix.to }}?', matrix: { to: [east, west] } } }")
    let run = try place.start("run")
    try run.waitForError("Deploy to west?")
    #expect(try place.opflow("approve", "ask[to=east]").output == "approved 1 task\n")
    #expect(try place.opflow("approve", "ask").output == "approved 1 task\n")
    #expect(try run.finish().status == 0)
  }

  @Test func `a plan goes on behind its questions, and does not count the time of people`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: 'true' }
        ask: { needs: [a], approve: "Sure?", timeout: 1s }
        b: { needs: [ask], run: 'true' }
      """)
    let plan = try place.opflow("plan").output
    #expect(plan.contains("3 tasks, 3 to run"), "\(plan)")
    #expect(plan.contains("asks for approval: Sure?"))
    #expect(!plan.contains("failed"))
    let run = try place.start("run")
    try run.waitForError("ask asks for approval: Sure?")
    try place.opflow("approve", "ask")
    #expect(try run.finish().status == 0)
    #expect(try !place.opflow("plan").output.contains("~"))
  }

  @Test func `with two live runs what is printed names the run, and works as it stands`() throws {
    let (place, first) = try begin()
    let one = try #require(place.runs.first)
    let second = try place.start("run")
    try second.waitForError("ask asks for approval: Sure?")
    let two = try #require(place.runs.last)
    // The newer one knew of the older one as it asked.
    #expect(
      second.errorText.contains("opflow approve ask --run \(two) or opflow reject ask --run"))
    let line = try #require(
      try place.opflow("status", one).outputLines.first { $0.hasPrefix("to answer ask: ") })
    let commands = line.dropFirst("to answer ask: ".count).components(separatedBy: " or ")
    let approve = commands[0]
    #expect(approve == "opflow approve ask --run \(one)")
    #expect(
      try place.opflow("why", "b", "--run", two).output.contains(
        "ask asks for approval: Sure?; to answer: opflow approve ask --run \(two) or opflow reject"
          + " ask --run \(two)\n"))
    #expect(
      try place.opflow("pause", "--run", two).output
        == "paused the run; to continue: opflow continue --run \(two)\n")
    try place.shell("$opflow \(approve.dropFirst("opflow ".count))")
    #expect(try first.finish().status == 0)
    // It is alone again.
    #expect(
      try place.opflow("status").output.contains(
        "to answer ask: opflow approve ask or opflow reject ask\n"))
    try place.opflow("continue")
    try place.opflow("approve", "ask")
    #expect(try second.finish().status == 0)
  }

  @Test func `who waits behind a question is told what it is, and how it is answered`() throws {
    let (place, run) = try begin(
      Self.manifest + "\n  c: { needs: [b], run: echo c >> trace }")
    for task in ["b", "c"] {
      let why = try place.opflow("why", task).output
      #expect(
        why.contains(
          "ask asks for approval: Sure?; to answer: opflow approve ask or opflow reject ask\n"),
        "\(why)")
      #expect(why.contains("ask (asked for approval "), "\(why)")
    }
    try place.opflow("approve", "ask")
    #expect(try run.finish().status == 0)
  }
}
