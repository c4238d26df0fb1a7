import OpflowManifest
import OpflowPlan
import Testing

/// Top-level keys of a manifest that is added to a run, and settings of the run for its tasks.
struct AddedSettingTests {
  private static let first = """
    max_parallel: 3
    resources: { net: 2, memory: 4GiB }
    secrets: { TOKEN: { env: CI_TOKEN }, KEY: { file: key.pem } }
    env: { A: first }
    vars: { v: first }
    defaults: { timeout: 1m }
    tasks:
      a: { run: x, secrets: [TOKEN, KEY, OTHER] }
    """

  static let bad: [BadManifest] = [
    BadManifest(
      "settings of the whole run",
      """
      max_parallel: 2
      max_failures: 0
      resources: { net: 2 }
      secrets: { X: { env: Y } }
      keep_runs: 2
      concurrency: x
      if_running: wait
      tasks: { b: { run: x } }
      """,
      "1:1: `max_parallel` cannot be in a manifest that is added to a run",
      "2:1: `max_failures` cannot be in a manifest that is added to a run",
      "3:1: `resources` cannot be in a manifest that is added to a run",
      "4:1: `secrets` cannot be in a manifest that is added to a run",
      "5:1: `keep_runs` cannot be in a manifest that is added to a run",
      "6:1: `concurrency` cannot be in a manifest that is added to a run",
      "7:1: `if_running` cannot be in a manifest that is added to a run"),
    BadManifest(
      "an unknown secret", task: "run: x\nsecrets: [TOKEN, MISSING]",
      "4:22: the run has no secret `MISSING`"),
    BadManifest(
      "an unknown secret in a header",
      task: "download:\n  url: http://h/x\n  to: x\n  headers: { A: \"${{ secrets.NONE }}\" }",
      "6:26: the run has no secret `NONE`"),
    BadManifest(
      "a secret in an expression", task: "run: [x, \"${{ env.TOKEN }}${{ env.CI_TOKEN }}\"]",
      "3:19: `env.TOKEN` is a secret, which expressions cannot read",
      "3:35: `env.CI_TOKEN` is a secret, which expressions cannot read"),
    BadManifest(
      "a secret of the run that `env` sets",
      "env: { TOKEN: x, A: b }\ntasks: { b: { run: x, secrets: [TOKEN] } }",
      "1:15: `TOKEN` is a secret, but `env` or `env_file` sets it"),
    BadManifest(
      "the source of a secret of the run in `env`",
      "defaults: { env: { CI_TOKEN: x } }\ntasks: { b: { run: x } }",
      "1:30: `TOKEN` is a secret, but `env` or `env_file` sets its source `CI_TOKEN`"),
    BadManifest(
      "an unknown resource", task: "run: x\nresources: { disk: 1 }",
      "4:18: unknown resource `disk`"),
    BadManifest(
      "more than there is", task: "run: x\nresources: { net: 3 }",
      "4:23: `net: 3` is more than the limit of 2"),
    BadManifest(
      "a gpu where there is none", task: "run: x\nresources: { gpu: 1 }",
      "4:18: the run has no resource `gpu`, because no task of its first manifest asks for it"),
    BadManifest(
      "variables of the first manifest", task: "run: [x, \"${{ vars.v }}\"]",
      "3:19: unknown name `vars.v`"),
    BadManifest("no tasks", "name: x", "1:1: `tasks` is missing"),
  ]

  @Test(arguments: bad)
  func `is refused with every error at its place`(_ bad: BadManifest) throws {
    #expect(try GrowingRun(Self.first).errors(in: bad.text) == bad.errors)
  }

  @Test func `a file of variables sets no secret of the run, and a task its own variable`() throws {
    let run = try GrowingRun(Self.first)
    let text = "env_file: [.env]\ntasks: { b: { run: x } }"
    #expect(
      run.diagnostics(in: text, files: [".env": "A=x\nKEY=abcd\n"]).map(\.message) == [
        "`KEY` is a secret, but `env` or `env_file` sets it"
      ])
    #expect(run.diagnostics(in: text, files: [".env": "A=x\n"]).isEmpty)
    #expect(run.diagnostics(in: "tasks: { b: { run: x, env: { KEY: none } } }").isEmpty)
  }

  @Test func `the help names the right manifest`() throws {
    let run = try GrowingRun(Self.first)
    let wanted = "it applies to the whole run; move it to the first manifest of the run"
    #expect(
      run.diagnostics(in: "max_failures: 0\ntasks: { b: { run: x } }").map(\.help) == [wanted])
    let included = run.diagnostics(
      in: "include: [x.yaml]\n", files: ["x.yaml": "keep_runs: 1\ntasks: { b: { run: x } }"])
    #expect(included.map(\.help) == [wanted])
    #expect(included.map(\.message) == ["`keep_runs` cannot be in an included file"])
  }

  @Test func `its own values serve its own tasks`() throws {
    var run = try GrowingRun(Self.first)
    try run.add(
      """
      vars: { v: second }
      env: { B: "${{ vars.v }}" }
      defaults: { retry: 4 }
      tasks:
        b: { run: "echo ${{ vars.v }}", secrets: [KEY, OTHER], resources: { net: 2, memory: 1GiB } }
      """)
    let task = try run.plan.id("b")
    #expect(try run.plan.scriptText("b") == "echo second")
    #expect(try run.plan.environmentTexts("b") == ["B=second"])
    #expect(run.plan.policy(task).retryMax == 4 && run.plan.policy(task).timeoutMilliseconds == 0)
    #expect(run.plan.secretNames(task) == ["KEY", "OTHER"])
    #expect(try run.plan.demandTexts("b") == ["cpu=1", "memory=1073741824", "net=2"])
    #expect(run.plan.secrets.map(\.name) == ["TOKEN", "KEY", "OTHER"])
  }

  @Test func `a gpu is there where the run has any`() throws {
    var run = try GrowingRun("tasks:\n  a: { run: x, resources: { gpu: 2 } }")
    try run.add("tasks:\n  b: { run: x, resources: { gpu: 1 } }\n  c: { run: x }")
    #expect(run.plan.gpuCount(of: try run.plan.id("b")) == 1)
    var counted = try GrowingRun("resources: { gpu: 2 }\ntasks:\n  a: { run: x }")
    try counted.add("tasks:\n  b: { run: x, resources: { gpu: 0.5 } }")
    #expect(try counted.plan.demandTexts("b") == ["cpu=1", "gpu=0.5"])
  }

  @Test func `random bytes cause errors, not crashes`() throws {
    let run = try GrowingRun(Self.first)
    let sound =
      "tasks:\n  b: { run: x, needs: [a, \"c[n]\"], matrix: { n: [1] } }\n"
      + "  c: { run: x, matrix: { n: [1] }, needs: a }\n  a: { run: y }\n"
    for place in sound.utf8.indices {
      for byte in ["[", "}", ":", " ", "a", "\n", "\"", "="] {
        var text = sound
        text.replaceSubrange(place..<sound.utf8.index(after: place), with: byte)
        if let segment = try? run.compiled(text).added {
          try Plan(copying: segment.planBytes).validate()
        }
      }
    }
  }
}
