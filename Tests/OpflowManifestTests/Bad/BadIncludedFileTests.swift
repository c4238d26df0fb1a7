import OpflowManifest
import Testing

/// Errors in included files, and between files.
struct BadIncludedFileTests {
  @Test(arguments: tops + tasks + between)
  func `is refused with every error in its file`(_ bad: BadProject) {
    #expect(bad.project.errors() == bad.errors)
  }

  static let tops: [BadProject] = [
    BadProject("an empty file", db: "", "db.yaml:1:1: the manifest is empty"),
    BadProject("only comments", db: "# x\n", "db.yaml:1:1: the manifest is empty"),
    BadProject("a list", db: "- a\n", "db.yaml:1:1: the manifest must be a map, not a list"),
    BadProject("a text", db: "hello", "db.yaml:1:1: the manifest must be a map, not a string"),
    BadProject(
      "no YAML", db: "tasks:\n  b: [x\n", "db.yaml:2:6: the list in brackets is not closed"),
    BadProject(
      "a tab", db: "tasks:\n\tb: { run: x }\n",
      "db.yaml:2:1: a tab is used as indentation"),
    BadProject(
      "two documents", db: "tasks: { b: { run: x } }\n---\na: 1\n",
      "db.yaml:2:1: a second document begins here"),
    BadProject("no tasks", db: "vars: { a: 1 }", "db.yaml:1:1: `tasks` is missing"),
    BadProject("empty tasks", db: "tasks: {}", "db.yaml:1:8: `tasks` is empty"),
    BadProject(
      "tasks as a list", db: "tasks: [b]",
      "db.yaml:1:8: `tasks` must be a map of task IDs to tasks, not a list"),
    BadProject(
      "max_parallel", db: "max_parallel: 2\ntasks: { b: { run: x } }",
      "db.yaml:1:1: `max_parallel` cannot be in an included file"),
    BadProject(
      "max_failures", db: "tasks: { b: { run: x } }\nmax_failures: 0",
      "db.yaml:2:1: `max_failures` cannot be in an included file"),
    BadProject(
      "resources", db: "resources: { net: 1 }\ntasks: { b: { run: x } }",
      "db.yaml:1:1: `resources` cannot be in an included file"),
    BadProject(
      "an unknown key", db: "task: { b: { run: x } }",
      "db.yaml:1:1: unknown key `task` in the manifest"),
    BadProject(
      "keep_runs", db: "keep_runs: 5\ntasks: { b: { run: x } }",
      "db.yaml:1:1: `keep_runs` cannot be in an included file"),
    BadProject(
      "if_running", db: "if_running: wait\ntasks: { b: { run: x } }",
      "db.yaml:1:1: `if_running` cannot be in an included file"),
    BadProject(
      "concurrency", db: "tasks: { b: { run: x } }\nconcurrency: x",
      "db.yaml:2:1: `concurrency` cannot be in an included file"),
    BadProject(
      "another version", db: "version: 2\ntasks: { b: { run: x } }",
      "db.yaml:1:10: this opflow reads version 1 of the manifest format, not 2"),
    BadProject(
      "a name that is a number", db: "name: 5\ntasks: { b: { run: x } }",
      "db.yaml:1:7: `name` must be a string, not a number"),
    BadProject(
      "vars as a list", db: "vars: [a]\ntasks: { b: { run: x } }",
      "db.yaml:1:7: `vars` must be a map, not a list"),
    BadProject(
      "a variable that sees one below it",
      db: "vars: { a: '${{ vars.b }}', b: 1 }\ntasks: { b: { run: x } }",
      "db.yaml:1:17: unknown name `vars.b`"),
    BadProject(
      "env with a bad name", db: "env: { 'A=B': 1 }\ntasks: { b: { run: x } }",
      "db.yaml:1:8: `A=B` is not a valid environment variable name"),
    BadProject(
      "wrong defaults", db: "defaults: { timeout: soon }\ntasks: { b: { run: x } }",
      "db.yaml:1:22: `timeout` must be a duration, not `soon`"),
  ]

  static let tasks: [BadProject] = [
    BadProject(
      "an unknown key of a task", db: "tasks:\n  b: { run: x, deps: [c] }",
      "db.yaml:2:16: unknown key `deps` in a task"),
    BadProject(
      "nothing to do", db: "tasks:\n  b: { desc: x }",
      "db.yaml:2:3: task `b` has nothing to do"),
    BadProject(
      "an unknown need", db: "tasks:\n  b: { run: x, needs: [c] }",
      "db.yaml:2:24: unknown task `c`"),
    BadProject(
      "an unknown need of the root", db: "tasks:\n  b: { run: x, needs: [/c] }",
      "db.yaml:2:24: unknown task `/c`"),
    BadProject(
      "a task that needs itself", db: "tasks:\n  b: { run: x, needs: [/b] }",
      "db.yaml:2:24: task `/b` needs itself"),
    BadProject(
      "a task needed twice under two spellings", db: "tasks:\n  b: { run: x, needs: [a, /a] }",
      "db.yaml:2:27: `/a` is needed twice"),
    BadProject(
      "an unknown resource", db: "tasks:\n  b: { run: x, resources: { net: 1 } }",
      "db.yaml:2:29: unknown resource `net`"),
    BadProject(
      "an unclosed expression", db: "tasks:\n  b: { run: 'x ${{ env.A' }",
      "db.yaml:2:16: `${{` is not closed"),
    BadProject(
      "a bad id", db: "tasks:\n  'b c': { run: x }", "db.yaml:2:3: `b c` is not a valid task ID"),
    BadProject(
      "a wrong condition", db: "tasks:\n  b: { run: x, if: 'env.A =' }",
      "db.yaml:2:27: expected an operator or the end, found `=`"),
  ]

  static let between: [BadProject] = [
    BadProject(
      "one id in two files", db: "tasks:\n  a: { run: y }",
      "db.yaml:2:3: another file already has a task `a`"),
    BadProject(
      "an id that begins as another file's do",
      [
        "m.yaml": "include: [{ path: db.yaml, as: db }]\ntasks: { db/up: { run: x } }",
        "db.yaml": "tasks:\n  up: { run: x }",
      ],
      "db.yaml:2:3: another file already has a task `db/up`"),
    BadProject(
      "an id that grows too long",
      [
        "m.yaml":
          "include: [{ path: db.yaml, as: \(String(repeating: "d", count: 100)) }]",
        "db.yaml": "tasks:\n  \(String(repeating: "t", count: 155)): { run: x }",
      ],
      "db.yaml:2:3: the task ID `\(String(repeating: "d", count: 100))/"
        + "\(String(repeating: "t", count: 155))` is longer than 255 bytes"),
    BadProject(
      "a variable that does not reach in",
      [
        "m.yaml": "vars: { port: 1 }\ninclude: [{ path: db.yaml, as: db }]",
        "db.yaml": "tasks:\n  up: { run: 'x ${{ vars.port }}' }",
      ],
      "db.yaml:2:21: unknown name `vars.port`"),
    BadProject(
      "a variable of a file beside",
      [
        "m.yaml": "include: [a.yaml, b.yaml]",
        "a.yaml": "vars: { port: 1 }\ntasks: { a: { run: x } }",
        "b.yaml": "tasks:\n  b: { run: 'x ${{ vars.port }}' }",
      ],
      "b.yaml:2:20: unknown name `vars.port`"),
    BadProject(
      "a variable of an included file",
      [
        "m.yaml": "include: [db.yaml]\ntasks: { a: { run: 'x ${{ vars.port }}' } }",
        "db.yaml": "vars: { port: 1 }\ntasks: { b: { run: x } }",
      ],
      "m.yaml:2:27: unknown name `vars.port`"),
    BadProject(
      "a name of the file beside, without its own",
      [
        "m.yaml": "include: [{ path: a.yaml, as: a }, { path: b.yaml, as: b }]",
        "a.yaml": "tasks: { up: { run: x } }",
        "b.yaml": "tasks:\n  down: { needs: [up], run: x }",
      ],
      "b.yaml:2:19: unknown task `up`"),
    BadProject(
      "tasks of two files that need each other",
      [
        "m.yaml": "include: [{ path: db.yaml, as: db }]\ntasks:\n  a: { needs: [db/up], run: x }",
        "db.yaml": "tasks:\n  up: { needs: [/a], run: x }",
      ],
      "m.yaml:3:16: dependency cycle: a -> db/up -> a"),
    BadProject(
      "a need of a `finally` task of another file",
      [
        "m.yaml": "include: [{ path: db.yaml, as: db }]\ntasks:\n  a: { needs: [db/down], run: x }",
        "db.yaml": "tasks: { down: { finally: true, run: x } }",
      ],
      "m.yaml:3:16: task `a` needs the `finally` task `db/down`, which runs after it"),
    BadProject(
      "a file that two files write",
      [
        "m.yaml":
          "include: [ci/db.yaml]\ntasks: { a: { download: { url: 'http://h/a', to: ci/x } } }",
        "ci/db.yaml": "tasks:\n  b: { download: { url: 'http://h/b', to: x } }",
      ],
      "ci/db.yaml:2:43: `x` is written twice"),
    BadProject(
      "a download in place of an included file",
      [
        "m.yaml":
          "include: [db.yaml]\ntasks: { a: { download: { url: 'http://h/a', to: db.yaml } } }",
        "db.yaml": "tasks: { b: { run: x } }",
      ],
      "m.yaml:2:50: `db.yaml` is a file of this manifest"),
    BadProject(
      "mistakes in all files, file by file",
      [
        "m.yaml":
          "include: [a.yaml, { path: a.yaml, as: again }, b.yaml]\ntasks: { m: { run: 3 } }",
        "a.yaml": "tasks: { a: { run: 1 } }", "b.yaml": "tasks: { b: { run: 2, x: 1 } }",
      ],
      "m.yaml:2:20: `run` must be a string, not a number",
      "a.yaml:1:20: `run` must be a string, not a number",
      "b.yaml:1:20: `run` must be a string, not a number",
      "b.yaml:1:23: unknown key `x` in a task"),
  ]

  @Test func `invalid UTF-8 has a place in its file`() {
    var project = Project(["m.yaml": "include: [db.yaml]\ntasks: { a: { run: x } }"])
    project.files["db.yaml"] = Array("tasks:\n  b: { run: ".utf8) + [0xFF, 10]
    #expect(project.errors() == ["db.yaml:2:13: the manifest is not valid UTF-8 here"])
  }

  @Test func `an ID in two files has an error with both places`() throws {
    let project = Project([
      "m.yaml": "include: [a.yaml, b.yaml]", "a.yaml": "tasks:\n  x: { run: x }",
      "b.yaml": "tasks:\n\n  x: { run: x }",
    ])
    let problem = try #require(project.diagnostics().first)
    #expect(problem.file == "b.yaml" && problem.line == 3 && problem.column == 3)
    #expect(
      problem.notes.map { "\($0.file):\($0.line): \($0.message)" } == ["a.yaml:2: the first `x`"])
    #expect(problem.help == "rename one of the tasks, or include one of the files with an `as`")
  }

  @Test func `a need has the name as its file would write it for help`() {
    func help(_ need: String) -> String? {
      Project([
        "m.yaml": "include: [{ path: db.yaml, as: db }]\ntasks: { build: { run: x } }",
        "db.yaml": "tasks: { migrate: { run: x }, b: { run: x, needs: [\(need)] } }",
      ]).diagnostics().first?.help
    }
    #expect(help("migrat") == "did you mean `migrate`?")
    #expect(help("buil") == "did you mean `build`?")
    #expect(help("db/migrat") == "did you mean `db/migrate`?")
  }

  @Test func `--set for a variable of a file with its own name is an error`() {
    let project = Project([
      "m.yaml": "include: [{ path: db.yaml, as: db }]\ntasks: { a: { run: x } }",
      "db.yaml": "vars: { port: 1 }\ntasks: { b: { run: x } }",
    ])
    #expect(
      project.errors(variables: [("port", "2")])
        == ["--set port:0:0: the manifest has no variable `port`"])
  }

  @Test func `errors of all files count together`() {
    var files = ["m.yaml": "include: [\((0..<30).map { "\($0).yaml" }.joined(separator: ", "))]"]
    for number in 0..<30 {
      files["\(number).yaml"] = "tasks: { a\(number): {}, b\(number): {}, c\(number): {} }"
    }
    let error = #expect(throws: ManifestError.self) { try Project(files).compile() }
    #expect(error?.diagnostics.count == 50)
    #expect(error?.errorCount == 90)
  }
}
