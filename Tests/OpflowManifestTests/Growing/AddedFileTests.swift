import OpflowManifest
import Testing

/// Declared files of tasks that are added to a run.
struct AddedFileTests {
  private static let first = """
    tasks:
      a: { run: x, outputs: [out/a, "gen/**"], inputs: [src/a.c] }
      d: { download: { url: "http://h/x", to: cache/x } }
      e: { download: { url: "http://h/x", to: deep/er/y } }
      both: { run: x, needs: a }
    """

  static let bad: [BadManifest] = [
    BadManifest(
      "an output of the run's", task: "run: x\noutputs: [out/../out/a]",
      "4:15: `out/../out/a` is written twice: task `a` of the run also writes it, as `out/a`"),
    BadManifest(
      "a download to an output of the run's",
      task: "download: { url: \"http://h/y\", to: out/a }",
      "3:40: `out/a` is written twice: task `a` of the run also writes it"),
    BadManifest(
      "a download to the same", task: "download: { url: \"http://h/y\", to: cache/x }",
      "3:40: `cache/x` is written twice: task `d` of the run also writes it"),
    BadManifest(
      "the part of a download", task: "run: x\noutputs: [cache/x.part]",
      "4:15: `cache/x.part` is the temporary file of a download: task `d` of the run"
        + " downloads to `cache/x`"),
    BadManifest(
      "a folder of a download", task: "download: { url: \"http://h/y\", to: deep/er }",
      "3:40: `deep/er` is a file here, but a folder for another download: task `e` of the run"
        + " downloads to `deep/er/y`"),
    BadManifest(
      "within an output of the run's", task: "run: x\noutputs: [gen/b]",
      "4:15: `gen/b` is written twice: `gen/**`, an output of task `a` of the run, includes it"),
    BadManifest(
      "around an output of the run's", task: "run: x\noutputs: [\"out/*\"]",
      "4:15: `out/*` includes `out/a`, an output of task `a` of the run"),
    BadManifest(
      "the run's manifest", task: "run: x\noutputs: [m.yaml]",
      "4:15: `m.yaml` is a file of this manifest"),
    BadManifest(
      "its own file", task: "run: x\noutputs: [add.yaml]", "4:15: `add.yaml` is this manifest"),
  ]

  @Test(arguments: bad)
  func `is refused with every error at its place`(_ bad: BadManifest) throws {
    let text = bad.text.replacing("  a:\n", with: "  t:\n")
    #expect(try GrowingRun(Self.first).errors(in: text) == bad.errors)
  }

  @Test func `a task may create the added manifest`() throws {
    let run = try GrowingRun("tasks:\n  gen: { run: x, outputs: [add.yaml], control: true }")
    #expect(run.errors(in: "tasks:\n  t: { run: x, outputs: [o] }") == [])
  }

  private func warnings(_ task: String) throws -> [String] {
    try GrowingRun(Self.first).compiled("tasks:\n  t: { run: x, \(task) }").added?.warnings
      .map { "\($0.line):\($0.column): \($0.message)" } ?? []
  }

  @Test func `unordered files have warnings`() throws {
    #expect(
      try warnings("inputs: [out/a]") == [
        "2:25: task `t` reads `out/a`, which task `a` writes, but neither needs the other"
      ])
    #expect(
      try warnings("outputs: [src/a.c]") == [
        "2:26: task `a` reads `src/a.c`, which task `t` writes, but neither needs the other"
      ])
    #expect(try warnings("inputs: [out/a], needs: a") == [])
    // By way of the run's own needs.
    #expect(try warnings("inputs: [out/a], needs: both") == [])
    #expect(try warnings("outputs: [src/a.c], needs: both") == [])
  }
}
