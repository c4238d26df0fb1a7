import OpflowManifest
import Testing

/// Expressions with an empty result, or a result that YAML without quotes reads as null.
struct EmptyValueTests {
  @Test(arguments: [
    "${{ env.NOPE }}", "${{ env.T }}", "${{ vars.e }}", "${{ '' }}", "${{ env.NOPE || '' }}",
  ])
  func `is an empty string`(expression: String) throws {
    let text = """
      vars: { e: "", v: "\(expression.contains("vars") ? "${{ vars.e }}" : expression)" }
      env: { T: "\(expression)" }
      defaults: { env: { D: "\(expression)" } }
      tasks:
        a: { run: [echo, "\(expression)", "x${{ vars.v }}"], env: { A: "\(expression)" } }
      """
    let plan = try plan(text)
    #expect(try plan.wordTexts("a") == ["echo", "", "x"])
    #expect(Set(try plan.environmentTexts("a")) == ["T=", "D=", "A="])
  }

  @Test(arguments: ["tags: ~", "secrets: ~", "tags: null", "secrets: Null"])
  func `null is not offered as the item of a list`(_ key: String) throws {
    let error = try #require(throws: ManifestError.self) {
      try plan("tasks: { a: { run: x, \(key) } }")
    }
    let help = error.diagnostics.first?.help ?? ""
    #expect(!help.contains("[~]") && !help.lowercased().contains("[null]"), "\(help)")
  }

  @Test func `a variable may be set to an empty string`() throws {
    let text =
      """
      vars: { v: x }
      tasks: { a: { run: [echo, "${{ vars.v }}"], env: { A: "${{ vars.v }}" } } }
      """
    let plan = try plan(text, variables: [("v", "")])
    #expect(try plan.wordTexts("a") == ["echo", ""])
    #expect(try plan.environmentTexts("a") == ["A="])
  }

  @Test(arguments: ["~", "null", "NULL"])
  func `a string that looks like null is a string`(value: String) throws {
    let text = "vars: { v: x }\ntasks: { a: { run: x, env: { A: \"${{ vars.v }}\" } } }"
    #expect(try plan(text, variables: [("v", value)]).environmentTexts("a") == ["A=\(value)"])
  }

  @Test(
    arguments: [
      ("run: x\ndir: '${{ env.N }}'", "4:10: `dir` is empty: the result of `${{ env.N }}`"),
      (
        "run: ['${{ env.N }}', a]",
        "3:11: the first item of `run` is empty: the result of `${{ env.N }}`"
      ),
      (
        "run: '${{ env.N }}${{ env.M }}'",
        "3:10: `run` is empty: the result of `${{ env.N }}${{ env.M }}`"
      ),
      (
        "run: x\ntimeout: '${{ env.N }}'",
        "4:14: `timeout` must be a duration, not empty, the result of `${{ env.N }}`"
      ),
      (
        "run: x\nfinally: ${{ env.N }}",
        "4:14: `finally` must be true or false, not empty, the result of `${{ env.N }}`"
      ),
      (
        "run: x\nretry: ${{ env.N }}",
        "4:12: `retry` must be a whole number or a map, not empty, the result of `${{ env.N }}`"
      ),
      (
        "run: x\nresources: { memory: '${{ env.N }}' }",
        "4:26: `resources.memory` must be a size, not empty, the result of `${{ env.N }}`"
      ),
      (
        "run: x\nneeds: '${{ env.N }}'",
        "4:12: an item of `needs` is empty: the result of `${{ env.N }}`"
      ),
      (
        "run: x\ntags: ['${{ env.N }}']",
        "4:12: an item of `tags` is empty: the result of `${{ env.N }}`"
      ),
    ])
  func `the error about an empty value names the expression`(
    task: String, problem: String
  ) {
    let lines = task.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n")
    #expect(errors(in: "tasks:\n  a:\n\(lines)") == [problem])
  }

  @Test func `a null in the manifest is not a string`() {
    #expect(
      errors(in: "tasks: { a: { run: x, env: { A: ~ } } }")
        == ["1:33: `env.A` must be a string, a number or a boolean, not null"])
  }
}
