import OpflowManifest
import Testing

/// `if: false` of a task with dependents, which still run.
struct FalseConditionTests {
  private func warnings(_ tasks: String) throws -> [Diagnostic] {
    try compile("tasks:\n" + tasks).warnings
  }

  private func messages(_ tasks: String) throws -> [String] {
    try warnings(tasks).map { "\($0.line):\($0.column): \($0.message)" }
  }

  @Test(arguments: ["false", "'false'", "${{ false }}", "\" ${{false}} \""])
  func `a dependent of a task that is always skipped has a warning`(condition: String) throws {
    let found = try warnings("  a: { needs: b, run: x }\n  b:\n    if: \(condition)\n    run: x\n")
    #expect(
      found.map(\.message)
        == ["this `if` is always false: opflow skips `b`, but its dependent `a` still runs"])
    #expect(found.map(\.help) == ["to skip it too, give it the same `if`"])
    #expect(found.map(\.line) == [4])
    #expect(found.map(\.column) == [9])
  }

  @Test func `the warning lists three dependents`() throws {
    let tasks = "  off: { run: x, if: false }\n"
    let dependents = ["a", "b", "c"].map { "  \($0): { run: x, needs: off }\n" }.joined()
    let found = try warnings(tasks + dependents)
    #expect(
      found.map(\.message) == [
        "this `if` is always false: opflow skips `off`, but its dependents `a`, `b`, `c` still run"
      ])
    #expect(found.map(\.help) == ["to skip them too, give them the same `if`"])
    #expect(
      try messages(tasks + dependents + "  d: { run: x, needs: [a, off] }\n") == [
        "2:22: this `if` is always false: opflow skips `off`,"
          + " but its dependents `a`, `b`, `c`, … still run"
      ])
  }

  @Test func `a matrix is one task in the warning`() throws {
    #expect(
      try messages(
        """
          off: { run: x, if: false, matrix: { n: [1, 2] } }
          a: { run: x, needs: ["off[n]"], matrix: { n: [1, 2] } }
          b: { run: x, needs: [{ task: off, on: finished }] }
        """) == [
          "2:22: this `if` is always false: opflow skips `off`,"
            + " but its dependents `a`, `b` still run"
        ])
  }

  @Test func `each task that is always skipped has its own warning`() throws {
    #expect(
      try messages(
        """
          one: { run: x, if: false }
          two: { run: x, if: false, needs: one }
          z: { run: x, needs: [one, two] }
        """) == [
          "2:22: this `if` is always false: opflow skips `one`, but its dependent `z` still runs",
          "3:22: this `if` is always false: opflow skips `two`, but its dependent `z` still runs",
        ])
  }

  @Test(arguments: [
    "", "  a: { run: x, needs: [{ task: off, on: failure }] }\n",
    "  a: { run: x, needs: [{ task: off, on: ran }] }\n",
    "  a: { run: x, needs: off, if: false }\n", "  a: { needs: off }\n",
    "  a: { desc: all, needs: [off] }\n",
  ])
  func `no warning if no dependent runs a command`(dependent: String) throws {
    #expect(try messages("  off: { run: x, if: false }\n" + dependent) == [])
  }

  @Test(arguments: ["env.CI", "env.CI == 'true'", "vars.no", "\"'' == 'x'\""])
  func `no warning for a condition that another run may meet`(condition: String) throws {
    let text =
      "vars: { no: 'false' }\ntasks:\n  off:\n    if: \(condition)\n    run: x\n"
      + "  a: { run: x, needs: off }\n"
    #expect(try compile(text).warnings.isEmpty)
  }
}
