import Testing

/// The arguments of `run`, `check`, `plan`, `logs`, and opflow without a command.
struct NamedTaskTests {
  private static let manifest = """
    tasks:
      build: { desc: compile it, run: echo build >> trace }
      test: { needs: [build], run: "echo test >> trace; echo tested", tags: [slow] }
      docs: { run: echo docs >> trace }
      clean: { finally: true, needs: [{ task: build, on: finished }], run: echo clean >> trace }
      tell: { finally: true, needs: [clean], run: echo tell >> trace }
      bye: { finally: true, run: echo bye >> trace }
    """

  @Test(arguments: ["test", "t?st", "tag:slow"])
  func `a named task runs with what it needs and the finally tasks that need those`(
    word: String
  ) throws {
    let place = try Workplace(Self.manifest)
    try place.opflow("run", word)
    #expect(place.lines() == ["build", "test", "clean", "tell"])
    let status = try place.status()
    #expect(status["docs"]?.state != "succeeded")
  }

  @Test func `without names every finally task runs`() throws {
    let place = try Workplace(Self.manifest)
    try place.opflow("run", "-j1")
    #expect(Set(place.lines()) == ["build", "test", "docs", "clean", "tell", "bye"])
    try place.remove("trace")
    try place.opflow("run", "docs")
    #expect(place.lines() == ["docs"])
    try place.remove("trace")
    try place.opflow("run", "bye")
    #expect(place.lines() == ["bye"])
  }

  @Test func `a resume is of the tasks that the run was started with`() throws {
    let place = try Workplace(
      """
      tasks:
        first: { run: echo first >> trace }
        second: { needs: [first], run: "test -e ok && echo second >> trace" }
        other: { run: echo other >> trace }
      """)
    try place.opflow("run", "second", status: 1)
    try place.write("ok", "")
    try place.opflow("resume")
    #expect(place.lines() == ["first", "second"])
    #expect(try place.opflow("status").output.contains("succeeded"))
    try place.remove("ok")
    try place.opflow("run", "second", status: 1)
    try place.write("ok", "")
    // Of other tasks it is another run.
    try place.opflow("run", "--resume", "other")
    #expect(place.lines().filter { $0 == "other" }.count == 1)
  }

  @Test func `tasks are named for plan and check as well`() throws {
    let place = try Workplace(Self.manifest)
    let plan = try place.opflow("plan", "build").output
    #expect(plan.contains("build"))
    #expect(!plan.contains("docs"))
    try place.opflow("check", "build")
    #expect(
      try place.opflow("check", "biuld", status: 2).errors
        == "opflow: no task of opflow.yaml matches `biuld`; did you mean `build`?\n")
    #expect(place.entries() == ["opflow.yaml"])
  }

  @Test func `a word that is no task but a file or a folder says how to name it`() throws {
    let place = try Workplace(Self.manifest)
    try place.write("jobs.txt", Self.manifest)
    try place.write("sub/opflow.yaml", "tasks: { inner: { run: pwd > out } }")
    for command in ["run", "plan", "check"] {
      let file = try place.opflow(command, "jobs.txt", status: 2)
      #expect(
        file.errors.contains(
          "; `jobs.txt` is a file: to use it as the manifest, write `-f jobs.txt`"))
      let folder = try place.opflow(command, "sub", status: 2)
      #expect(folder.errors.contains("; `sub` is a folder: for the manifest in it, write `sub/`"))
    }
    try place.opflow("run", "-f", "jobs.txt", "docs")
    #expect(place.lines() == ["docs"])
    try place.opflow("run", "sub/")
    #expect(place.lines("sub/out") == [place.file("sub")])
    #expect(try place.opflow("status", "sub/").output.contains("inner"))
    try place.opflow("logs", "sub/")
    try place.opflow("run", "-f", "sub/", "inner")
    try place.opflow("run", "sub/opflow.yaml", "inner")
    #expect(try place.opflow("run", "nobody", status: 2).errors.contains("its tasks: build, test"))
  }

  @Test func `without a manifest here the nearest one above counts, and is named`() throws {
    let place = try Workplace(Self.manifest)
    try place.write("a/b/file", "")
    let below = place.file("a/b")
    let run = try place.opflow("run", "docs", in: below)
    #expect(run.errorLines.first == "opflow: using ../../opflow.yaml")
    #expect(place.lines() == ["docs"])
    #expect(place.exists(".opflow"))
    #expect(try place.opflow("check", in: below).output.hasPrefix("../../opflow.yaml: 6 tasks"))
    #expect(try place.opflow("status", in: below).output.contains("succeeded"))
    // A nearer manifest counts; a folder of that name does not.
    try place.write("a/opflow.yaml/file", "")
    #expect(try place.opflow("check", in: below).output.hasPrefix("../../opflow.yaml"))
    try place.write("a/b/opflow.yaml", "tasks: { near: { run: 'true' } }")
    let near = try place.opflow("run", in: below)
    #expect(!near.errors.contains("using"))
  }

  @Test func `where there is no manifest one that is named otherwise is pointed at`() throws {
    let place = try Workplace()
    #expect(
      try place.opflow("run", status: 2).errors.contains("no opflow.yaml here or in a folder above")
    )
    try place.write("opflow.yml", Self.manifest)
    #expect(try place.opflow("run", status: 2).errors.contains("`opflow run opflow.yml`"))
    try place.write("jobs.txt", Self.manifest)
    #expect(try place.opflow("run", "jobs.txt", status: 2).errors.contains("`-f jobs.txt`"))
  }

  @Test func `a name of nothing is answered with the nearest there is`() throws {
    let place = try Workplace(Self.manifest)
    try place.write("build.yaml", Self.manifest)
    try place.write("sub/opflow.yml", Self.manifest)
    func hint(_ words: String...) throws -> String {
      let line = words.joined(separator: " ")
      return try place.shell("\"$opflow\" \(line)", status: 2).errors
    }
    for command in ["run", "check", "plan"] {
      #expect(try hint(command, "biuld.yaml").contains("; did you mean `build.yaml`?"))
      #expect(try hint(command, "-f", "opflow.yml").contains("; did you mean `opflow.yaml`?"))
      #expect(try hint(command, "sub/").contains("; did you mean `sub/opflow.yml`?"))
      #expect(try hint(command, "-C", "sbu").contains("; did you mean `sub`?"))
    }
    try place.opflow("run", "docs")
    let run = try #require(place.runs.first)
    for command in ["status", "resume", "journal verify"] {
      #expect(
        try hint(command, "docs").contains(
          "; `docs` is a task: `opflow run docs` runs it, `opflow logs docs` shows its output"))
      #expect(
        try hint(command, "build.yaml").contains(
          "no runs of `build.yaml` in .opflow; `opflow run build.yaml` starts one"))
      #expect(try hint(command, String(run.dropLast()) + "x").contains("did you mean `\(run)`?"))
      #expect(try hint(command, "biuld.yaml").contains("did you mean `build.yaml`?"))
    }
    #expect(try hint("logs", "dosc").contains("did you mean `docs`?"))
    #expect(try hint("run", "--skip", "dosc").contains("did you mean `docs`?"))
    #expect(try hint("help", "satus").contains("did you mean `opflow help status`?"))
  }

  @Test func `opflow alone shows the tasks and the newest run, else the help`() throws {
    let place = try Workplace()
    let help = try place.opflow("help").output
    #expect(try place.opflow().output == help)
    try place.write("opflow.yaml", Self.manifest)
    let before = try place.opflow()
    #expect(before.outputLines.first == "opflow.yaml: 6 tasks")
    #expect(before.outputLines.contains("build  compile it"))
    #expect(!before.output.contains("newest run"))
    #expect(place.entries() == ["opflow.yaml"])
    try place.opflow("run", "docs")
    let after = try place.opflow()
    #expect(after.outputLines.last?.contains(" succeeded, 1 of 1 done, started ") == true)
    try place.write("opflow.yaml", "tasks: { a: { rum: 'true' } }")
    #expect(try place.opflow(status: 3).errors.contains("opflow.yaml:1:"))
  }

  @Test func `logs take a run or a manifest where the word is no task`() throws {
    let place = try Workplace(Self.manifest)
    try place.write("other.yaml", "tasks: { test: { run: echo elsewhere } }")
    try place.opflow("run", "test")
    let first = try #require(place.runs.first)
    try place.opflow("run", "other.yaml")
    #expect(try place.opflow("logs", "test").output == "elsewhere\n")
    #expect(try place.opflow("logs", "opflow.yaml").outputLines.last == "tested")
    #expect(try place.opflow("logs", "test", "opflow.yaml").output == "tested\n")
    #expect(try place.opflow("logs", first, "test").output == "tested\n")
    let nobody = try place.opflow("logs", "nobody-such", status: 2)
    #expect(nobody.errors.contains("no task or run matches `nobody-such`; its tasks: test"))
    try place.write("below/file", "")
    let below = place.file("below")
    #expect(try place.opflow("logs", "../opflow.yaml", in: below).outputLines.last == "tested")
  }
}
