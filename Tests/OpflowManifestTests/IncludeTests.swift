import OpflowManifest
import OpflowPlan
import Testing

/// The tasks of included files, and the settings that apply to them.
struct IncludeTests {
  private func names(_ plan: Plan) -> [String] { plan.tasks.map { plan.nameString(TaskID($0)) } }

  @Test func `ids join as they are, the root's tasks first, then file by file`() throws {
    let plan = try Project([
      "m.yaml": "include: [a.yaml, b.yaml]\ntasks: { z: { run: x, needs: [b1, a2] } }",
      "a.yaml": "include: [deep/c.yaml]\ntasks: { a1: { run: x }, a2: { run: x, needs: [z2] } }",
      "deep/c.yaml": "tasks: { z2: { run: x } }", "b.yaml": "tasks: { b1: { run: x, needs: a1 } }",
    ]).plan()
    #expect(names(plan) == ["z", "a1", "a2", "z2", "b1"])
    #expect(try plan.needTexts("z") == ["b1 on success", "a2 on success"])
    #expect(try plan.needTexts("a2") == ["z2 on success"])
    #expect(try plan.directoryText("z2") == "/data/project/deep")
  }

  @Test func `a manifest may have no tasks but those of others`() throws {
    let plan = try Project([
      "m.yaml": "include: [ci/all.yaml]", "ci/all.yaml": "tasks: {}\ninclude: [../a.yaml]",
      "a.yaml": "tasks: { a: { run: x } }",
    ]).plan()
    #expect(names(plan) == ["a"])
    #expect(try plan.directoryText("a") == "/data/project")
  }

  @Test func `env and defaults serve the tasks of their own file`() throws {
    let plan = try Project([
      "m.yaml": """
      env: { A: root, HERE: "${{ env.A }}" }
      defaults: { env: { D: "1" }, timeout: 5s, dir: bin }
      include: [ci/b.yaml]
      tasks: { a: { run: x } }
      """,
      "ci/b.yaml": """
      env: { B: b }
      defaults: { shell: bash, dir: sub }
      tasks: { b: { run: "echo ${{ env.A }}${{ env.B }}" }, c: { dir: .., run: x } }
      """,
    ]).plan(environment: [("A", "inherited")])
    #expect(try plan.environmentTexts("a") == ["A=root", "HERE=inherited", "D=1"])
    #expect(try plan.environmentTexts("b") == ["B=b"])
    #expect(try plan.scriptText("b") == "echo inheritedb")
    #expect(try plan.directoryText("a") == "/data/project/bin")
    #expect(try plan.directoryText("b") == "/data/project/ci/sub")
    #expect(try plan.directoryText("c") == "/data/project")
    #expect(try plan.shellWords("a") == ["/bin/sh", "-ec"])
    #expect(try plan.shellWords("b") == ["bash", "-eo", "pipefail", "-c"])
    #expect(plan.policy(try plan.id("a")).timeoutMilliseconds == 5000)
    #expect(plan.policy(try plan.id("b")).timeoutMilliseconds == 0)
  }

  @Test func `the root's variables win where ids join, with a warning where that changes one`()
    throws
  {
    let project = Project([
      "m.yaml": "vars: { mode: fast, same: s }\ninclude: [a.yaml]\ntasks: { m: { run: x } }",
      "a.yaml": """
      vars: { mode: slow, same: s, own: "${{ vars.mode }}!" }
      tasks: { a: { run: "${{ vars.mode }} ${{ vars.own }} ${{ vars.same }}" } }
      """,
    ])
    #expect(try project.plan().scriptText("a") == "fast fast! s")
    #expect(
      try project.warnings() == ["a.yaml:1:15: `vars.mode` is `fast` in m.yaml, which wins"])
    #expect(try project.plan(variables: [("mode", "given")]).scriptText("a") == "given given! s")
    #expect(try project.warnings(variables: [("mode", "given")]) == [])
    #expect(try project.plan(variables: [("own", "o")]).scriptText("a") == "fast o s")
  }

  @Test func `what an item passes wins over both, and --set over that where ids join`() throws {
    let project = Project([
      "m.yaml": """
      vars: { port: "1" }
      include: [{ path: a.yaml, vars: { port: "2", more: "${{ vars.port }}" } }]
      tasks: { m: { run: "${{ vars.port }}" } }
      """,
      "a.yaml": "vars: { port: \"3\" }\ntasks: { a: { run: '${{ vars.port }} ${{ vars.more }}' } }",
    ])
    #expect(try project.plan().scriptText("a") == "2 1")
    #expect(try project.plan().scriptText("m") == "1")
    #expect(try project.warnings() == [])
    #expect(try project.plan(variables: [("port", "9")]).scriptText("a") == "9 9")
  }

  @Test func `of the variables only those that are passed reach into a file with a name`() throws {
    let project = Project([
      "m.yaml": """
      vars: { port: "1", host: h }
      include: [{ path: db/t.yaml, as: db, vars: { port: "5${{ vars.port }}" } }]
      tasks: { m: { run: x, needs: db/up } }
      """,
      "db/t.yaml": """
      vars: { host: own, port: "2" }
      include: [more.yaml]
      tasks: { up: { run: "${{ vars.host }}:${{ vars.port }}" } }
      """,
      "db/more.yaml": """
      vars: { port: "8" }
      tasks: { more: { run: "${{ vars.host }}:${{ vars.port }} ${{ task.id }}" } }
      """,
    ])
    let plan = try project.plan(variables: [("host", "given")])
    #expect(try plan.scriptText("db/up") == "own:51")
    #expect(try plan.scriptText("db/more") == "own:51 db/more")
    #expect(
      try project.warnings() == [
        "db/more.yaml:1:15: `vars.port` is `51` in db/t.yaml, which wins"
      ])
  }

  @Test func `a variable is passed that the file does not name`() throws {
    let project = Project([
      "m.yaml": """
      include:
        - { path: db.yaml, as: x, vars: { prot: "1", host: h, extra: e } }
      tasks: { m: { run: x } }
      """,
      "db.yaml":
        "vars: { port: \"2\" }\ntasks: { up: { run: '${{ vars.port }} ${{ vars.host }}' } }",
    ])
    #expect(
      try project.warnings() == [
        "m.yaml:2:37: `db.yaml` does not use the variable `prot`",
        "m.yaml:2:57: `db.yaml` does not use the variable `extra`",
      ])
  }

  @Test func `a file under two names is two sets of tasks`() throws {
    let plan = try Project([
      "m.yaml": """
      include:
        - { path: db.yaml, as: one, vars: { port: "1" } }
        - { path: db.yaml, as: two, vars: { port: "2" } }
        - { path: ./db.yaml, vars: { port: "3" } }
      tasks: { all: { run: x, needs: [one/up, two/up, up] } }
      """,
      "db.yaml": "tasks: { init: { run: x }, up: { needs: init, run: '${{ vars.port }}' } }",
    ]).plan()
    #expect(names(plan) == ["all", "one/init", "one/up", "two/init", "two/up", "init", "up"])
    #expect(try ["one/up", "two/up", "up"].map { try plan.scriptText($0) } == ["1", "2", "3"])
    #expect(try plan.needTexts("two/up") == ["two/init on success"])
    #expect(try plan.directoryText("two/up") == "/data/project")
    #expect(plan.files.count == 2)
  }

  @Test func `a file that two others include is there once`() throws {
    let plan = try Project([
      "m.yaml": "include: [a.yaml, b.yaml, a.yaml]",
      "a.yaml": "include: [common.yaml]\ntasks: { a: { run: x, needs: setup } }",
      "b.yaml": "include: [./common.yaml]\ntasks: { b: { run: x, needs: setup } }",
      "common.yaml": "tasks: { setup: { run: x } }",
    ]).plan()
    #expect(names(plan) == ["a", "setup", "b"])
  }

  @Test
  func `names are looked for in the file, then in those around it, and with a slash in the root`()
    throws
  {
    let plan = try Project([
      "m.yaml": """
      include: [{ path: db.yaml, as: db }]
      tasks:
        init: { run: x }
        build: { run: x, needs: [/init, db/sub/init] }
        only: { run: x }
      """,
      "db.yaml": """
      include: [{ path: sub.yaml, as: sub }]
      tasks:
        init: { run: x, needs: [/init] }
        up: { run: x, needs: [init, build, sub/init, { task: /db/sub/up, on: finished }] }
      """,
      "sub.yaml": """
      tasks:
        init: { run: x, needs: [only] }
        up: { run: x, needs: [init, /init, db/init] }
        again: { run: x, needs: [build] }
      """,
    ]).plan()
    #expect(try plan.needTexts("build") == ["init on success", "db/sub/init on success"])
    #expect(try plan.needTexts("db/init") == ["init on success"])
    #expect(
      try plan.needTexts("db/up") == [
        "db/init on success", "build on success", "db/sub/init on success",
        "db/sub/up on finished",
      ])
    #expect(
      try plan.needTexts("db/sub/up") == [
        "db/sub/init on success", "init on success", "db/init on success",
      ])
    #expect(try plan.needTexts("db/sub/again") == ["build on success"])
  }

  @Test func `paths start from the folder that a file really lies in`() throws {
    var project = Project([
      "m.yaml": "include: [{ path: link.yaml, as: l }]",
      "/srv/shared/all.yaml": "include: [next.yaml]\ntasks: { a: { run: x, dir: sub } }",
      "/srv/shared/next.yaml": "tasks: { b: { run: x } }",
    ])
    project.links["link.yaml"] = "/srv/shared/all.yaml"
    let plan = try project.plan()
    #expect(try plan.directoryText("l/a") == "/srv/shared/sub")
    #expect(try plan.directoryText("l/b") == "/srv/shared")
    project.files["/srv/shared/next.yaml"] = Array("tasks: { b: { rn: x } }".utf8)
    #expect(
      project.errors().first == "/srv/shared/next.yaml:1:15: unknown key `rn` in a task")
  }

  @Test func `a path may hold expressions`() throws {
    let project = Project([
      "m.yaml": "vars: { os: linux }\nenv: { ARCH: arm }\n"
        + "include: ['${{ vars.os }}/${{ env.ARCH }}-${{ env.CPU }}.yaml']",
      "linux/arm-v8.yaml": "tasks: { a: { run: x } }",
    ])
    let compiled = try project.compile(environment: [("CPU", "v8")])
    #expect(compiled.taskCount == 1)
    #expect(compiled.environmentRead.map(\.name) == ["CPU"])
  }

  @Test func `a plan has another key when any of its files is another`() throws {
    var project = Project([
      "m.yaml": "include: [a.yaml]", "a.yaml": "tasks: { a: { run: x } }",
      "b.yaml": "tasks: { a: { run: x } }",
    ])
    let key = try project.compile().planKey
    #expect(try project.compile().planKey == key)
    project.files["a.yaml"]?.append(10)
    let edited = try project.compile()
    #expect(edited.planKey != key)
    #expect(edited.files.map(\.path) == ["/data/project/m.yaml", "/data/project/a.yaml"])
    project.files["a.yaml"]?.removeLast()
    // The same bytes, elsewhere.
    project.links["a.yaml"] = "b.yaml"
    #expect(try project.compile().planKey != key)
  }

  @Test func `a plan is known again by what is in its files now`() throws {
    let project = Project(["m.yaml": "include: [a.yaml]", "a.yaml": "tasks: { a: { run: x } }"])
    let compiled = try project.compile()
    let plan = try Plan(copying: compiled.planBytes)
    var inputs = PlanInputs(opflowVersion: "1.0", folder: "/data/project")
    inputs.files = [compiled.files[0]]
    func isCurrent(_ file: PlanFile?) -> Bool {
      plan.inputs(ifCurrent: inputs, runID: "r", file: { _ in file }, variable: { _ in nil }) != nil
    }
    #expect(isCurrent(compiled.files[1]))
    #expect(!isCurrent(nil))
    var other = compiled.files[1]
    other.content = compiled.files[0].content
    #expect(!isCurrent(other))
    other = compiled.files[1]
    other.realPath = "/data/project/b.yaml"
    #expect(!isCurrent(other))
  }

  @Test func `fingerprints do not change with the project's place, nor with how needs are written`()
    throws
  {
    var project = Project([
      "m.yaml": "include: [{ path: ci/a.yaml, as: ci }]\ntasks: { b: { run: x } }",
      "ci/a.yaml": "tasks: { c: { run: x }, a: { run: x, needs: [c, b] } }",
    ])
    let plan = try project.plan()
    project.folder = "/home/else"
    let moved = try project.plan()
    #expect(moved.fingerprint(try moved.id("ci/a")) == plan.fingerprint(try plan.id("ci/a")))
    project.files["ci/a.yaml"] = Array(
      "tasks: { c: { run: x }, a: { run: x, needs: [/ci/c, /b] } }".utf8)
    let rewritten = try project.plan()
    #expect(
      rewritten.fingerprint(try rewritten.id("ci/a")) == plan.fingerprint(try plan.id("ci/a")))
    // Another task of the same short name is another need.
    project.files["ci/a.yaml"] = Array(
      "tasks: { b: { run: x }, c: { run: x }, a: { run: x, needs: [c, b] } }".utf8)
    let other = try project.plan()
    #expect(other.fingerprint(try other.id("ci/a")) != plan.fingerprint(try plan.id("ci/a")))
  }

  @Test func `a thousand files are read once each`() throws {
    var files = ["m.yaml": "include: [\((0..<1000).map { "t\($0).yaml" }.joined(separator: ", "))]"]
    for number in 0..<1000 {
      files["t\(number).yaml"] =
        "vars: { v: \"\(number)\" }\ntasks: { a\(number): { run: 'x ${{ vars.v }}' } }"
    }
    let plan = try Project(files).plan()
    #expect(plan.taskCount == 1000)
    #expect(try plan.scriptText("a999") == "x 999")
    #expect(plan.files.count == 1001)
  }
}
