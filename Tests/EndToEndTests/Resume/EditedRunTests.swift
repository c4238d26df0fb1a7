import Testing

/// Resumes of runs whose manifest or folder somebody has changed in between.
struct EditedRunTests {
  @Test func `a run is no longer failed when what failed is no longer in the manifest`() throws {
    let place = try Workplace("tasks: { a: { run: echo a >> trace }, b: { run: exit 3 } }")
    try place.opflow("run", "-k", status: 1)
    try place.write("opflow.yaml", "tasks: { a: { run: echo a >> trace } }")
    let resume = try place.opflow("resume")
    #expect(resume.errors.contains("no longer in the manifest: b"), "\(resume)")
    #expect(place.lines() == ["a"])
    #expect(try place.status().state == "succeeded")
    #expect(try place.journal().last?.values["state"] == "succeeded")
    // The run has succeeded, so this starts a new one.
    try place.opflow("run", "--resume")
    #expect(place.entries(".opflow/runs").count == 2)
  }

  @Test func `a run of named tasks goes on with those that are still there`() throws {
    let place = try Workplace(
      "tasks: { a: { run: echo a >> trace; test -e ok }, b: { run: exit 1 }, d: { run: exit 1 } }")
    try place.opflow("run", "-k", "a", "b", status: 1)
    try place.write(
      "opflow.yaml",
      """
      tasks: { a: { run: echo a >> trace; test -e ok }, c: { run: echo c >> trace }, \
      d: { run: exit 1 } }
      """
    )
    try place.write("ok", "")
    let resume = try place.opflow("resume")
    #expect(resume.errors.contains("no longer in the manifest: b"), "\(resume)")
    #expect(place.lines() == ["a", "a"])
    #expect(try place.status().state == "succeeded")
  }

  @Test(arguments: ["a b", "--only a --only b"])
  func `a run of named tasks says so when none of them is left`(_ named: String) throws {
    let place = try Workplace(
      "tasks: { a: { run: exit 1 }, b: { run: exit 1 }, c: { run: exit 1 } }")
    try place.shell("$opflow run -k \(named) || true")
    try place.write("opflow.yaml", "tasks: { c: { run: exit 1 } }")
    let resume = try place.opflow("resume", status: 2)
    #expect(
      resume.errors.contains(
        "the manifest no longer has `a`, `b`, for which the run was started;"
          + " start a new run with `opflow run`"), "\(resume)")
  }

  @Test func `a skip of the run that names a task no more skips nothing`() throws {
    let place = try Workplace("tasks: { a: { run: test -e ok }, b: { run: exit 1 } }")
    try place.opflow("run", "--skip", "b", status: 1)
    try place.write("opflow.yaml", "tasks: { a: { run: test -e ok } }")
    try place.write("ok", "")
    try place.opflow("resume")
    #expect(try place.status().state == "succeeded")
  }

  @Test func `a run goes on though its logs were removed`() throws {
    let place = try Workplace(
      "tasks: { a: { run: echo a }, b: { needs: [a], run: \"test -e ok; echo b\" } }")
    try place.opflow("run", status: 1)
    try place.write("ok", "")
    try place.shell("rm -r .opflow/runs/*/logs")
    try place.opflow("resume")
    #expect(try place.log("b").hasSuffix("\nb\n"))
    #expect(try place.status().state == "succeeded")
  }

  @Test func `what ran after a skip does not run again for another reason of that skip`() throws {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        z: { run: exit 1 }
        a: { run: exit 0 }
        x: { needs: [{ task: a, on: failure }], run: echo x >> trace }
        y: { needs: [{ task: x, on: finished }], run: echo y >> trace }
        w: { needs: [a], run: echo w >> trace }
      """)
    try place.opflow("run", "-j", "1", status: 1)
    #expect(place.lines().sorted() == ["w", "y"])
    try place.opflow("resume", "--skip", "x", status: 1)
    try place.opflow("resume", status: 1)
    #expect(place.lines().sorted() == ["w", "y"])
  }

  @Test func `what a skip for lack of needs held back runs when it is skipped by wish`() throws {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        a: { run: exit 0 }
        x: { needs: [{ task: a, on: failure }], run: exit 1 }
        y: { needs: [x], run: echo y >> trace }
        z: { run: exit 1 }
      """)
    try place.opflow("run", status: 1)
    #expect(place.lines().isEmpty)
    try place.opflow("resume", "--skip", "x", status: 1)
    #expect(place.lines() == ["y"])
  }
}
