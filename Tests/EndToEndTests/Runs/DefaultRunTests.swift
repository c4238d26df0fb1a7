import Testing

/// The run that a command uses if the user names none.
struct DefaultRunTests {
  private static let manifest = """
    tasks:
      a: { run: echo up > in; read x < out }
      bad: { run: echo no; exit 1 }
    """

  /// Starts a live run, then a newer one that fails.
  private func begin() throws -> (place: Workplace, live: LiveProcess) {
    let place = try Workplace(Self.manifest)
    _ = try place.gate("out")
    let gate = try place.gate("in")
    let live = try place.start("run", "a", "-k")
    _ = try gate.next()
    try place.opflow("run", "bad", status: 1)
    return (place, live)
  }

  @Test func `every command uses the live run, not a newer finished one`() throws {
    let (place, live) = try begin()
    try place.opflow("add", "-", input: "tasks: { x: { run: echo hello } }")
    try place.opflow("wait", "--for", "x")
    #expect(try place.opflow("logs", "x").output == "hello\n")
    #expect(try place.opflow("why", "x").output.contains("succeeded"))
    #expect(try place.status().run == place.runs[0])
    #expect(try place.opflow("journal", "verify").output.contains(place.runs[0]))
    #expect(try place.opflow("report", "junit").output.contains("\"x\""))
    try place.gate("out").letGo()
    #expect(try live.finish().status == 0)
    #expect(try place.status().run == place.runs[1])
  }

  @Test func `a message names the live run when only the newer run fits`() throws {
    let (place, live) = try begin()
    let told =
      "(opflow used the live run \(place.runs[0]); for the newest run, add"
      + " `--run \(place.runs[1])`)\n"
    let logs = try place.opflow("logs", "bad")
    #expect(logs.output == "")
    #expect(logs.errors == "opflow: logs: no output " + told)
    #expect(try place.opflow("logs", "--run", place.runs[1], "bad").errors == "")
    let wait = try place.opflow("wait", "--for", "bad", status: 2)
    #expect(wait.errors.hasSuffix("so waiting for it would never end " + told), "\(wait)")
    #expect(
      try place.opflow("why", "bat", status: 2).errors
        == "opflow: why: no task matches `bat`; did you mean `bad`? " + told)
    try place.gate("out").letGo()
    #expect(try live.finish().status == 0)
  }

  @Test func `a resume uses the newest run`() throws {
    let (place, live) = try begin()
    let resumed = try place.opflow("resume", status: 1)
    #expect(resumed.errors.contains(place.runs[1]), "\(resumed)")
    try place.gate("out").letGo()
    #expect(try live.finish().status == 0)
  }

  @Test func `a view uses the newest of several live runs`() throws {
    let (place, first) = try begin()
    let second = try place.start("run", "a")
    _ = try place.gate("in").next()
    try place.opflow("run", "bad", status: 1)
    #expect(try place.status().run == place.runs[2])
    try place.gate("out").letGo(2)
    #expect(try first.finish().status == 0)
    #expect(try second.finish().status == 0)
  }

  @Test func `a task uses its own run, unless it names another state folder`() throws {
    let place = try Workplace(
      """
      tasks:
        a:
          run: |
            echo a > in; read x < out
            $opflow status > own
            $opflow status --state-dir other > named
        b: { run: 'echo b > in; read x < on' }
      """)
    try place.opflow("run", "--state-dir", "other", "-", input: "tasks: { o: { run: echo o } }")
    let (`in`, out, on) = (try place.gate("in"), try place.gate("out"), try place.gate("on"))
    let first = try place.start("run", "a")
    _ = try `in`.next()
    let second = try place.start("run", "b")
    _ = try `in`.next()
    try out.letGo()
    #expect(try first.finish().status == 0)
    #expect(try place.text("own").contains(place.runs[0]))
    #expect(try place.text("named").contains(place.entries("other/runs").first ?? "none"))
    try on.letGo()
    #expect(try second.finish().status == 0)
  }
}
