import OpflowManifest
import Testing

struct DiagnosticTests {
  private func rendered(_ text: String, isColored: Bool = false) -> String {
    do {
      _ = try compile(text)
      return ""
    } catch {
      return DiagnosticRenderer(isColored: isColored).render(error)
    }
  }

  @Test func `an error shows its line, a caret and help`() {
    #expect(
      rendered("tasks:\n  fetch: { run: x }\n  b: { run: x, needs: [fech] }\n") == """
        m.yaml:3:24: error: unknown task `fech`
          b: { run: x, needs: [fech] }
                               ^
        help: did you mean `fetch`?

        """)
  }

  @Test func `a dependency cycle is named in full, with the line of each edge`() {
    #expect(
      rendered(
        """
        tasks:
          a: { run: x, needs: b }
          b:
            run: x
            needs: [c]
          c: { run: x, needs: a }

        """
      )
        == """
        m.yaml:2:23: error: dependency cycle: a -> b -> c -> a
          a: { run: x, needs: b }
                              ^
        m.yaml:2: note: `a` needs `b` here
        m.yaml:5: note: `b` needs `c` here
        m.yaml:6: note: `c` needs `a` here
        help: remove one of these dependencies

        """)
  }

  @Test func `colours mark the place, the severity and the caret`() {
    #expect(
      rendered("tasks: { a: { run: 5 } }", isColored: true)
        == "\u{1B}[1mm.yaml:1:20:\u{1B}[0m \u{1B}[1;31merror:\u{1B}[0m"
        + " \u{1B}[1m`run` must be a string, not a number\u{1B}[0m\n"
        + "tasks: { a: { run: 5 } }\n"
        + "                   \u{1B}[1;32m^\u{1B}[0m\n"
        + "\u{1B}[36mhelp:\u{1B}[0m put it in quotes: \"5\"\n")
  }

  @Test func `tabs before the caret stay tabs`() {
    let diagnostic = Diagnostic(
      severity: .error, file: "m", line: 1, column: 4, message: "x", sourceLine: "\ta\tb",
      sourceColumn: 3)
    #expect(
      DiagnosticRenderer(isColored: false).render(diagnostic)
        == "m:1:4: error: x\n\ta\tb\n\t \t^\n")
  }

  @Test func `control characters are not printed`() {
    #expect(
      rendered("tasks: { a: { run: x, \"\\e[31mred\\n\": 1 } }").split(separator: "\n").first
        == "m.yaml:1:23: error: unknown key `\u{FFFD}[31mred\u{FFFD}` in a task")
  }

  @Test func `a long line is cut around the place`() {
    let text = "tasks: { a: { desc: '" + String(repeating: "x", count: 300) + "', run: 5 } }"
    let lines = rendered(text).split(separator: "\n")
    #expect(lines[0] == "m.yaml:1:330: error: `run` must be a string, not a number")
    #expect(lines[1].count < 100)
    #expect(lines[1].hasSuffix("', run: 5 } }"))
    #expect(Array(lines[1])[lines[2].count - 1] == "5")
  }

  @Test func `errors after the first fifty are counted at the end`() {
    var text = "tasks:\n"
    for index in 0..<60 { text += "  t\(index): { run: 1 }\n" }
    #expect(rendered(text).hasSuffix("60 errors in total; the first 50 are shown\n"))
  }

  @Test(arguments: [
    ("taks", "did you mean `tasks`?"), ("max_paralel", "did you mean `max_parallel`?"),
    ("defautls", "did you mean `defaults`?"), ("Env", "did you mean `env`?"),
    ("vras", "did you mean `vars`?"), ("targets", "the key is `tasks` here"),
    ("fail_fast", "the key is `max_failures` here"),
    ("parallelism", "the key is `max_parallel` here"),
  ])
  func `an unknown key gets the key that was meant`(_ key: String, _ help: String) throws {
    let error = try #require(throws: ManifestError.self) {
      try compile("\(key): { a: { run: x } }\ntasks: { a: { run: x } }")
    }
    #expect(error.diagnostics.map(\.help) == [help])
  }

  @Test(arguments: [
    ("depends_on", "the key is `needs` here"), ("cmds", "the key is `run` here"),
    ("working-directory", "the key is `dir` here"),
    ("timeout_minutes", "the key is `timeout` here, with a unit: `timeout: 10m`"),
    ("continue-on-error", "the key is `allow_failure` here"), ("nedes", "did you mean `needs`?"),
    ("on_success", "let another task need this one: `needs: [{ task: ID, on: failure }]`"),
  ])
  func `an unknown key of a task too`(_ key: String, _ help: String) throws {
    let error = try #require(throws: ManifestError.self) {
      try compile("tasks: { a: { run: x, \(key): y } }")
    }
    #expect(error.diagnostics.map(\.help) == [help])
  }
}
