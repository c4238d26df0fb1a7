import Testing

/// The output of a service that prints more after it is ready.
struct ServiceOutputTests {
  /// Says a word for each one that it reads.
  private static let manifest = """
    tasks:
      web:
        service: { ready: { log: up } }
        run: "echo before; echo up; while read word < ask; do echo served $word; echo > told; done"
      one: { needs: [web], run: "echo one > ask; read x < told" }
      two: { needs: [web, one], run: "echo two > ask; read x < told" }
    """

  @Test(arguments: ["group", "line", "github", "gitlab"])
  func `what it prints when it is ready is shown as what it printed before`(output: String) throws {
    let place = try Workplace(Self.manifest)
    try place.shell("mkfifo ask told")
    let run = try place.opflow("run", "--output", output)
    let said = run.errorLines.map { $0.replacing("web | ", with: "") }
    for words in ["before", "up", "served one", "served two"] {
      #expect(said.count { $0 == words } == 1, "\(words): \(run)")
    }
  }

  @Test(arguments: ["group", "line"])
  func `what a task prints after it stood still is shown`(output: String) throws {
    let place = try Workplace(
      """
      tasks:
        work: { run: "echo first; echo $$ > here; read x < go; echo last" }
      """)
    let (here, go) = (try place.gate("here"), try place.gate("go"))
    let run = try place.start("run", "--output", output)
    _ = try here.next()
    try place.opflow("suspend", "work")
    try run.waitForError("work suspended by opflow suspend")
    try place.opflow("continue", "work")
    try run.waitForError("work continued by opflow continue")
    try go.letGo()
    let end = try run.finish()
    let said = end.errorLines.map { $0.replacing("work | ", with: "") }
    for words in ["first", "last"] {
      #expect(said.count { $0 == words } == 1, "\(words): \(end)")
    }
  }
}
