import OpflowManifest
import OpflowPlan
import Testing

/// Tasks that a task of a run adds need that task.
struct GeneratorTests {
  private static let first = """
    tasks:
      scan: { run: x, control: true }
      legs: { run: x, control: true, matrix: { n: [1, 2] } }
      other: { run: x }
    """

  @Test func `all of it needs the success of the task that adds it`() throws {
    var run = try GrowingRun(Self.first)
    try run.add(
      """
      tasks:
        a: { run: x }
        b: { run: x, needs: [a, other] }
        f: { run: x, matrix: { n: [1, 2] } }
        last: { run: x, finally: true }
      """, by: "scan")
    #expect(try run.plan.needTexts("a") == ["scan on success"])
    #expect(try run.plan.needTexts("b") == ["a on success", "other on success", "scan on success"])
    #expect(try run.plan.needTexts("f[n=2]") == ["scan on success"])
    #expect(try run.plan.needTexts("last") == ["scan on success"])
  }

  @Test func `a need that says otherwise holds`() throws {
    var run = try GrowingRun(Self.first)
    try run.add(
      """
      tasks:
        a: { run: x, needs: [{ task: scan, on: failure }] }
        b: { run: x, needs: [legs] }
      """, by: "scan")
    #expect(try run.plan.needTexts("a") == ["scan on failure"])
    try run.add("tasks: { c: { run: x, needs: legs } }", by: "legs[n=2]")
    #expect(try run.plan.needTexts("c") == ["legs[n=1] on success", "legs[n=2] on success"])
  }

  @Test func `the same addition changes nothing, whichever task adds it`() throws {
    var run = try GrowingRun(Self.first)
    let text = "tasks: { a: { run: x }, f: { run: x, needs: a, matrix: { n: [1, 2] } } }"
    try run.add(text, by: "scan")
    #expect(try run.add(text, by: "scan").unchanged == ["a", "f"])
    for generator in [nil, "other"] {
      #expect(try run.compiled(text, by: generator).unchanged == ["a", "f"])
      #expect(throws: ManifestError.self) {
        try run.compiled("tasks: { a: { run: x, needs: other } }", by: generator)
      }
    }
  }

  @Test func `values of that task are read by a task that needs it`() throws {
    var run = try GrowingRun(
      "tasks: { scan: { run: \"echo 1 > $OPFLOW_VALUES/n\", control: true } }")
    #expect(throws: ManifestError.self) {
      try run.compiled("tasks: { a: { run: x, env: { N: '${{ needs.scan.n }}' } } }", by: "scan")
    }
    try run.add(
      "tasks: { a: { run: x, needs: scan, env: { N: '${{ needs.scan.n }}' } } }", by: "scan")
    #expect(try run.plan.needTexts("a") == ["scan on success"])
  }

  @Test func `it counts in the fingerprint as any need`() throws {
    var (plain, added) = (try GrowingRun(Self.first), try GrowingRun(Self.first))
    try plain.add("tasks: { a: { run: x, needs: scan } }")
    try added.add("tasks: { a: { run: x } }", by: "scan")
    let (one, other) = (
      try #require(plain.plan.task(named: "a")), try #require(added.plan.task(named: "a"))
    )
    #expect(plain.plan.fingerprint(one) == added.plan.fingerprint(other))
  }
}
