import Testing

/// `opflow init`.
struct InitTests {
  @Test func `the first manifest runs as it is`() throws {
    let place = try Workplace()
    let made = try place.opflow("init")
    #expect(made.output == "wrote opflow.yaml; `opflow run` runs it\n")
    let check = try place.opflow("check")
    #expect(check.output == "opflow.yaml: 3 tasks, no errors\n" && check.errors == "")
    let run = try place.opflow("run")
    #expect(run.errors.contains("testing"))
  }

  @Test func `init does not change an existing file`() throws {
    let place = try Workplace("tasks: { mine: { run: x } }\n")
    let refused = try place.opflow("init", status: 2)
    #expect(refused.errors.contains("opflow.yaml already exists, and opflow did not change it"))
    #expect(try place.text("opflow.yaml") == "tasks: { mine: { run: x } }\n")
  }

  @Test func `another file and another folder may be named`() throws {
    let place = try Workplace()
    try place.write("sub/keep", "")
    #expect(
      try place.opflow("init", "-C", "sub", "-f", "ci.yaml").output
        == "wrote ci.yaml; `opflow run ci.yaml` runs it\n")
    #expect(place.exists("sub/ci.yaml"))
    #expect(try place.opflow("init", "-f", "-").output == place.text("sub/ci.yaml"))
    try place.opflow("init", "-f", "nowhere/ci.yaml", status: 74)
  }
}
