import Testing

struct CommandLineTests {
  @Test func `version and help answer on standard output`() throws {
    let place = try Workplace()
    #expect(try place.opflow("version").output.hasPrefix("opflow "))
    #expect(try place.opflow("--version").output.hasPrefix("opflow "))
    let help = try place.opflow("help")
    for command in ["run", "resume", "status", "logs", "runs", "check", "plan", "version"] {
      #expect(help.output.contains(command))
      let page = try place.opflow("help", command)
      #expect(page.output.contains(command))
    }
    #expect(try place.opflow("help", "run").output.contains("--keep-going"))
    #expect(try place.opflow("run", "--help").output == place.opflow("help", "run").output)
  }

  @Test func `wrong usage prints an error and exits with 2`() throws {
    let place = try Workplace("tasks: { a: { run: 'echo a >> trace' } }")
    #expect(try place.opflow("rum", status: 2).errors.contains("rum"))
    #expect(try place.opflow("run", "--keep-gong", status: 2).errors.contains("--keep-going"))
    #expect(try place.opflow("run", "-j", "0", status: 2).errors.contains("-j needs"))
    #expect(try place.opflow("run", "-j", "many", status: 2).errors.contains("many"))
    #expect(try place.opflow("run", "-j", status: 2).errors.contains("-j needs"))
    #expect(try place.opflow("run", "--max-failures", "-1", status: 2).errors != "")
    #expect(try place.opflow("run", "--output", "loud", status: 2).errors.contains("loud"))
    #expect(try place.opflow("run", "--set", "novalue", status: 2).errors.contains("novalue"))
    #expect(try place.opflow("run", "opflow.yaml", "two.yaml", status: 2).errors != "")
    #expect(try place.opflow("run", "--only", "nobody", status: 2).errors.contains("nobody"))
    #expect(try place.opflow("run", "--skip", "tag:none", status: 2).errors.contains("tag:none"))
    #expect(try place.opflow("run", "-C", "nowhere", status: 2).errors.contains("nowhere"))
    #expect(place.lines().isEmpty)
    #expect(place.entries() == ["opflow.yaml"])
  }

  @Test func `-C works in another folder`() throws {
    let place = try Workplace()
    try place.write("sub/opflow.yaml", "tasks: { a: { run: pwd > out } }")
    try place.opflow("run", "-C", "sub")
    #expect(place.lines("sub/out") == [place.file("sub")])
    #expect(place.exists("sub/.opflow"))
    #expect(try place.opflow("status", "-C", "sub").output.contains("succeeded"))
  }

  @Test func `--state-dir keeps runs elsewhere`() throws {
    let place = try Workplace("tasks: { a: { run: 'true' } }")
    try place.opflow("run", "--state-dir", "elsewhere")
    #expect(!place.exists(".opflow"))
    #expect(place.entries("elsewhere/runs").count == 1)
    #expect(try place.opflow("status", "--state-dir", "elsewhere").output.contains("succeeded"))
  }

  @Test func `--only includes the dependencies of the selected tasks`() throws {
    let place = try Workplace(
      """
      tasks:
        base: { run: echo base >> trace }
        app: { needs: [base], run: echo app >> trace, tags: [main] }
        docs: { run: echo docs >> trace }
        after: { needs: [app], run: echo after >> trace }
      """)
    try place.opflow("run", "--only", "app")
    #expect(place.lines() == ["base", "app"])
    try place.remove("trace")
    try place.opflow("run", "--only", "tag:main")
    #expect(place.lines() == ["base", "app"])
  }

  @Test func `--skip skips tasks, and their dependents run`() throws {
    let place = try Workplace(
      """
      tasks:
        test-a: { run: echo test-a >> trace }
        test-b: { run: echo test-b >> trace }
        pack: { needs: [test-a, test-b], run: echo pack >> trace }
      """)
    try place.opflow("run", "--skip", "test-?")
    #expect(place.lines() == ["pack"])
    #expect(try place.status()["test-a"]?.state == "skipped")
  }

  @Test func `patterns match whole ids`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: echo a >> trace }
        ab: { run: echo ab >> trace }
        abc: { run: echo abc >> trace }
        b/c: { run: echo b/c >> trace }
      """)
    try place.opflow("run", "-j", "1", "--only", "a?", "--only", "b*")
    #expect(place.lines() == ["ab", "b/c"])
  }

  @Test func `ids may contain special characters`() throws {
    let place = try Workplace(
      """
      tasks:
        "a/b:c@1": { run: echo one >> trace }
        "9_x+y-z.w": { needs: ["a/b:c@1"], run: echo two >> trace }
      """)
    try place.opflow("run")
    #expect(place.lines() == ["one", "two"])
    #expect(try place.status()["a/b:c@1"]?.state == "succeeded")
  }

  @Test func `only the owner can read the folder of a run`() throws {
    let place = try Workplace("tasks: { a: { run: echo x } }")
    try place.opflow("run")
    let folder = try place.runFolder()
    let modes = try place.shell(
      "stat -c %a \(folder) \(folder)/journal.log \(folder)/plan \(folder)/logs/a.log")
    #expect(modes.outputLines == ["700", "600", "400", "600"])
  }

  @Test func `the command at the end of the output resumes the run from the current folder`() throws
  {
    let place = try Workplace()
    try place.write("a folder/m.yaml", "tasks: { a: { run: test -e ok } }")
    let run = try place.opflow("run", "a folder/m.yaml", status: 1)
    let hint = try #require(run.errorLines.first { $0.hasPrefix("to continue: opflow ") })
    try place.write("a folder/ok", "")
    try place.shell("\"$opflow\" " + hint.dropFirst("to continue: opflow ".count))
    #expect(try place.opflow("status", "a folder/m.yaml").output.contains("succeeded"))
  }
}
