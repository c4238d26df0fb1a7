import Foundation
import Testing

/// Errors for commands of other tools, with hints that depend on the manifest.
struct NewcomerCommandTests {
  private func place(
    _ manifest: String = """
    tasks:
      build: { desc: builds, run: echo built, tags: quick }
      unit-test: { needs: [build], run: echo tested }
      start: { manual: true, run: echo started }
      all: { desc: both, needs: [build, unit-test] }
    """
  ) throws -> Workplace {
    let place = try Workplace()
    try place.write("opflow.yaml", manifest)
    return place
  }

  @Test(arguments: [
    ("build", "unknown command build; it is a task: `opflow run build`"),
    // The name of a task is a better hint than the word of another tool.
    ("start", "unknown command start; it is a task: `opflow run start`"),
    ("biuld", "unknown command biuld; did you mean `opflow run build`?"),
    ("BUILD", "unknown command BUILD; did you mean `opflow run build`?"),
    (
      "frobnicate",
      "unknown command frobnicate, and no task has that name; `opflow tasks` lists the tasks"
    ),
    ("list", "unknown command list; `opflow tasks` lists the tasks, `opflow runs` the runs"),
    ("rnu", "unknown command rnu; did you mean `opflow run`?"),
    ("init-test", "unknown command init-test; did you mean `opflow run unit-test`?"),
    ("starts", "unknown command starts; did you mean `opflow run start`, or `opflow status`?"),
  ])
  func `a task in place of a command`(word: String, message: String) throws {
    let run = try place().opflow(word, status: 2)
    #expect(run.errors == "opflow: \(message)\nsee `opflow help`\n")
  }

  @Test func `a manifest with errors gives no hint for such a word`() throws {
    let run = try place("tasks: { build: { rnu: x } }").opflow("build", status: 2)
    #expect(
      run.errors
        == "opflow: unknown command build; `opflow run build` runs a task\nsee `opflow help`\n")
  }

  @Test(arguments: [
    ("BUILD", "; did you mean `build`?"), ("tag:quik", "; did you mean `tag:quick`?"),
    ("tag:none", "; its tags: tag:quick"),
    ("nothing-like-it", "; its tasks: build, unit-test, start, all"),
  ])
  func `a task that is not there`(word: String, hint: String) throws {
    let run = try place().opflow("run", word, status: 2)
    #expect(run.errors == "opflow: no task of opflow.yaml matches `\(word)`\(hint)\n")
  }

  @Test func `a tag where no task has one`() throws {
    let run = try place("tasks: { a: { run: x } }").opflow("run", "tag:quick", status: 2)
    #expect(
      run.errors
        == "opflow: no task of opflow.yaml matches `tag:quick`; no task has a tag: add "
        + "`tags: [slow]` to a task\n")
  }

  @Test func `logs of a task that is not there`() throws {
    let place = try place()
    try place.opflow("run", "-q")
    let logs = try place.opflow("logs", "nothing-like-it", status: 2)
    #expect(logs.errors.hasSuffix("; its tasks: build, unit-test, start, all\n"), "\(logs)")
  }

  @Test(arguments: [".opflow.yaml", "opflow.yaml.txt", "opflow.yml", "Opflow.yaml"])
  func `a manifest of another name`(name: String) throws {
    let place = try Workplace()
    try place.write(name, "tasks: { a: { run: echo ran } }")
    let run = try place.opflow("run", status: 2)
    let start = try #require(run.errors.range(of: "`opflow run "))
    let words = run.errors[start.upperBound...].prefix { $0 != "`" }.split(separator: " ")
    #expect(words.last.map(String.init) == name)
    try place.shell("\"$opflow\" run -q \(words.joined(separator: " "))")
  }

  @Test func `a task with only needs runs them, and is up to date if they are`() throws {
    let place = try place(
      """
      tasks:
        one: { run: echo 1 >> one, inputs: [] }
        two: { run: echo 2 >> two, inputs: [source] }
        both: { desc: one and two, needs: [one, two] }
        more: { needs: [both], run: echo 3 >> more, inputs: [] }
      """)
    try place.write("source", "a")
    #expect(
      try place.opflow("run", "-q", "both").errors.contains("succeeded in")
        && place.opflow("run", "-q", "more").errors.contains("1 succeeded, 3 up to date"))
    #expect(try place.opflow("run", "-q").errors.contains("4 up to date"))
    try place.write("source", "b")
    // A dependency of the group `both` ran again, so the dependents of `both` run again.
    #expect(try place.opflow("run", "-q").errors.contains("3 succeeded, 1 up to date"))
    #expect(try place.text("more") == "3\n3\n")
  }

  @Test func `a group is skipped if a dependency fails`() throws {
    let place = try place("tasks: { a: { run: exit 3 }, all: { needs: [a] } }")
    let run = try place.opflow("run", "-q", status: 1)
    #expect(run.errors.contains("1 failed, 1 skipped"), "\(run)")
  }

  @Test func `a group takes no arguments, and an up-to-date task runs with other arguments`() throws
  {
    let place = try place("tasks: { a: { run: 'echo \"<$*>\"', inputs: [] }, all: { needs: [a] } }")
    #expect(
      try place.opflow("run", "all", "--", "x", status: 2).errors
        == "opflow: `all` cannot get arguments: it only groups its dependencies and runs no "
        + "command\n")
    try place.opflow("run", "-q")
    let run = try place.opflow("run", "a", "--", "x")
    #expect(run.errors.contains("a started: its arguments or the values that it reads changed\n"))
  }

  @Test func `tasks as JSON`() throws {
    let place = try place(
      """
      include: [{ path: sub/more.yaml, as: sub }]
      tasks:
        build: { desc: "builds \\"it\\"", run: x, tags: [quick, c], matrix: { n: [1, 2] } }
        serve: { service: true, run: x }
        last: { finally: true, needs: ["build[n=2]"], run: x }
      """)
    try place.write("sub/more.yaml", "tasks:\n\n  go: { manual: true, run: x }\n")
    let text = try place.opflow("tasks", "--json").output
    let object = try #require(
      JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    #expect(object["manifest"] as? String == place.file("opflow.yaml"))
    let tasks = try #require(object["tasks"] as? [[String: Any]])
    func flags(_ key: String) -> [Bool?] { tasks.map { $0[key] as? Bool } }
    let ids: [String?] = tasks.map { $0["id"] as? String }
    #expect(ids == ["build[n=1]", "build[n=2]", "serve", "last", "sub/go"])
    #expect(tasks[0]["desc"] as? String == "builds \"it\"")
    #expect(tasks[0]["family"] as? String == "build")
    #expect(tasks[2]["family"] is NSNull)
    #expect(tasks[0]["tags"] as? [String] == ["quick", "c"])
    #expect(flags("service") == [false, false, true, false, false])
    #expect(flags("manual") == [false, false, false, false, true])
    #expect(flags("finally") == [false, false, false, true, false])
    #expect(tasks[3]["needs"] as? [String] == ["build[n=2]"])
    #expect(tasks[4]["file"] as? String == place.file("sub/more.yaml"))
    #expect(tasks[4]["line"] as? Int == 3)
    let one = try place.opflow("tasks", "--json", "serve").output
    #expect(one.contains("\"id\":\"serve\"") && !one.contains("build"))
  }

  @Test func `graph refuses an unknown format`() throws {
    let place = try place()
    let run = try place.opflow("graph", "-o", "graph.png", status: 2)
    #expect(
      run.errors
        == "opflow: graph: opflow cannot write png; use Graphviz: "
        + "`opflow graph --format dot | dot -Tpng -o graph.png`\n")
    #expect(!FileManager.default.fileExists(atPath: place.file("graph.png")))
    try place.opflow("graph", "--format", "text", "-o", "graph.png")
  }
}
