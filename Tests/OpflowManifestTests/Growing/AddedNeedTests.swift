import OpflowManifest
import OpflowPlan
import Testing

/// Tasks that are added to a run need tasks of the run.
struct AddedNeedTests {
  private static let first = """
    resources: { db: 2 }
    tasks:
      fetch: { run: "echo 1 > $OPFLOW_VALUES/n" }
      plain: { run: x }
      check: { run: "echo 1 > $OPFLOW_VALUES/n" }
      after: { run: x, if: needs.check.n == '1', needs: check }
      build: { run: x, matrix: { arch: [a, b], mode: [debug, release] } }
      pull: { download: { url: "http://h/x", to: x } }
      base: { run: x, service: true, resources: { db: 1 } }
      server: { run: x, service: { ports: [http] }, needs: base }
      last: { run: x, finally: true }
    """

  private func run() throws -> GrowingRun {
    try GrowingRun(Self.first)
  }

  @Test func `needs name tasks of the run and of the addition`() throws {
    var run = try run()
    let segment = try run.add(
      """
      tasks:
        one: { run: x, needs: [fetch, { task: plain, on: finished }] }
        two: { run: x, needs: [plain, one] }
        three: { run: x, needs: build }
        four: { run: x, needs: ["build[arch=a]", { task: "build[mode=debug,arch=b]", on: ran }] }
        five: { run: x, needs: ["build[arch]"], matrix: { arch: [b] } }
        six: { run: x, finally: true, needs: last }
      """)
    #expect(segment.unchanged.isEmpty)
    let plan = run.plan
    #expect(plan.ids.suffix(6) == ["one", "two", "three", "four", "five[arch=b]", "six"])
    #expect(try plan.needTexts("one") == ["fetch on success", "plain on finished"])
    // Needs within the addition come first.
    #expect(try plan.needTexts("two") == ["one on success", "plain on success"])
    let instances = ["a,mode=debug", "a,mode=release", "b,mode=debug", "b,mode=release"]
      .map { "build[arch=\($0)]" }
    #expect(try plan.needTexts("three") == instances.map { "\($0) on success" })
    #expect(
      try plan.needTexts("four")
        == ["\(instances[0]) on success", "\(instances[1]) on success", "\(instances[2]) on ran"])
    #expect(
      try plan.needTexts("five[arch=b]") == [
        "\(instances[2]) on success", "\(instances[3]) on success",
      ])
    #expect(try plan.needTexts("six") == ["last on success"])
  }

  @Test func `a need names a task that was added before`() throws {
    var run = try run()
    try run.add("tasks:\n  one: { run: x, matrix: { n: [1, 2] } }")
    try run.add("tasks:\n  two: { run: x, needs: [one, plain] }")
    #expect(
      try run.plan.needTexts("two")
        == ["one[n=1] on success", "one[n=2] on success", "plain on success"])
  }

  @Test func `a file that is included sees its own names, then those around it`() throws {
    var run = try GrowingRun("tasks:\n  db/up: { run: x }\n  up: { run: x }\n  down: { run: x }")
    try run.add(
      "include: [{ path: db.yaml, as: db }]",
      files: ["db.yaml": "tasks:\n  t: { run: x, needs: [up, down] }\n  u: { run: x, needs: /up }"])
    #expect(try run.plan.needTexts("db/t") == ["db/up on success", "down on success"])
    #expect(try run.plan.needTexts("db/u") == ["up on success"])
    #expect(run.plan.place(of: try run.plan.id("db/t"))?.path == "/data/project/db.yaml")
  }

  @Test func `the place of a task is in the added file`() throws {
    var run = try run()
    try run.add("tasks:\n  one: { run: x }")
    let place = try #require(run.plan.place(of: try run.plan.id("one")))
    #expect(place.path == "/data/project/add.yaml" && place.line == 2)
    #expect(run.plan.place(of: try run.plan.id("plain"))?.path == "/data/project/m.yaml")
  }

  @Test func `values of the run's tasks are read by their place among all needs`() throws {
    var run = try run()
    try run.add(
      """
      tasks:
        own: { run: "echo 1 > $OPFLOW_VALUES/m" }
        one:
          run: [x, "${{ needs.fetch.n }}", "${{ needs.own.m }}"]
          needs: [plain, fetch, own]
          env: { V: "${{ needs.fetch.n }}" }
        two: { run: x, needs: check, if: needs.check.n == '1' }
      """)
    let plan = run.plan
    let one = try plan.id("one")
    #expect(
      plan.valueSources(of: one).map { plan.nameString($0) }.sorted() == ["fetch", "own"])
    #expect(plan.valueSources(of: try plan.id("two")).map { plan.nameString($0) } == ["check"])
  }

  static let bad: [BadManifest] = [
    BadManifest("an unknown task", task: "run: x\nneeds: [zzz]", "4:13: unknown task `zzz`"),
    BadManifest(
      "a name near to one of the run", task: "run: x\nneeds: [fech]", "4:13: unknown task `fech`"),
    BadManifest(
      "twice", task: "run: x\nneeds: [plain, { task: plain, on: finished }]",
      "4:28: `plain` is needed twice"),
    BadManifest(
      "a matrix task twice", task: "run: x\nneeds: [build, \"build[arch=a]\"]",
      "4:20: `build[arch=a,mode=debug]` is needed twice"),
    BadManifest(
      "matrix tasks of a task without a matrix", task: "run: x\nneeds: [\"plain[arch=a]\"]",
      "4:13: `plain` has no `matrix`, so it has no matrix tasks"),
    BadManifest(
      "an unknown axis", task: "run: x\nneeds: [\"build[os=a]\"]",
      "4:13: the `matrix` of `build` has no name `os`"),
    BadManifest(
      "an unknown matrix task", task: "run: x\nneeds: [\"build[arch=c]\"]",
      "4:13: `build` has no task with arch=c"),
    BadManifest(
      "a matrix task without a partner",
      task: "run: x\nmatrix: { arch: [c] }\nneeds: [\"build[arch]\"]",
      "5:13: `build` has no task with arch=c, which `a[arch=c]` needs"),
    BadManifest(
      "a finally task", task: "run: x\nneeds: last",
      "4:12: task `a` needs the `finally` task `last`, which runs after it"),
    BadManifest(
      "a condition on a service", task: "run: x\nneeds: [{ task: server, on: finished }]",
      "4:21: `on: finished` does not apply to the service `server`"),
    BadManifest(
      "an approval that needs a service", task: "approve: go on?\nneeds: server",
      "4:12: an approval (`approve`) cannot need the service `server`"),
    BadManifest(
      "a value of a service", task: "run: [x, \"${{ needs.server.n }}\"]\nneeds: server",
      "3:19: `server` is a service, so it has no values"),
    BadManifest(
      "a value of a download", task: "run: [x, \"${{ needs.pull.n }}\"]\nneeds: pull",
      "3:19: `pull` is a download, so it has no values"),
    BadManifest(
      "a value of a task that leaves none",
      task: "run: [x, \"${{ needs.plain.n }}\"]\nneeds: plain",
      "3:19: `plain` is already in the run, and writes no values"),
    BadManifest(
      "a value that no `if` can have", task: "run: x\nneeds: fetch\nif: needs.fetch.n == '1'",
      "5:9: this `if` cannot read values of `fetch`, which is already in the run, where no `if`"
        + " reads them"),
    BadManifest(
      "a port of the run's", task: "run: x\nservice: { ports: [http] }\nneeds: server",
      "5:12: `server` and `a` both set OPFLOW_PORT_HTTP to a port"),
    BadManifest(
      "more than there is with services of the run",
      task: "run: x\nneeds: server\nresources: { db: 2 }",
      "4:12: the task and its services (server, base) need 3 of `db`; the limit is 2"),
    BadManifest(
      "a dependency cycle of the addition",
      "tasks:\n  a: { run: x, needs: [plain, b] }\n  b: { run: x, needs: [fetch, a] }",
      "2:31: dependency cycle: a -> b -> a"),
    BadManifest(
      "itself", task: "run: x\nneeds: [plain, a]", "4:20: task `a` needs itself"),
  ]

  @Test(arguments: bad)
  func `is refused with every error at its place`(_ bad: BadManifest) throws {
    #expect(try run().errors(in: bad.text) == bad.errors)
  }

  @Test func `the nearest name comes from the run or the addition`() throws {
    let run = try run()
    let text = "tasks:\n  compile: { run: x }\n  a: { run: x, needs: [fech, compil, buil] }"
    #expect(
      run.diagnostics(in: text).map(\.help)
        == ["did you mean `fetch`?", "did you mean `compile`?", "did you mean `build`?"])
    let small = try GrowingRun("tasks:\n  fetch: { run: x }")
    #expect(
      small.diagnostics(in: "tasks:\n  b: { run: x }\n  a: { run: x, needs: zzzzz }").map(\.help)
        == ["the other tasks are b, fetch"])
  }

  @Test func `an empty matrix of the run is one task`() throws {
    var run = try GrowingRun("tasks:\n  none: { run: x, matrix: { f: { glob: '*.c' } } }")
    try run.add("tasks:\n  a: { run: x, needs: [\"none[f]\"], matrix: { f: [1] } }")
    #expect(try run.plan.needTexts("a[f=1]") == ["none on success"])
  }

  @Test func `a dependent of a service of the run has it in its fingerprint`() throws {
    func fingerprint(_ base: String, in needer: String) throws -> UInt64 {
      var run = try GrowingRun(
        "tasks:\n  base: { run: \(base), service: true }\n"
          + "  db: { run: x, service: true, needs: base }\n  job: { run: x, needs: db }")
      try run.add(
        "tasks:\n  a: { run: x, needs: db }\n  own: { run: x, service: true, needs: db }\n"
          + "  b: { run: x, needs: own }\n  c: { run: x, needs: job }")
      return run.plan.fingerprint(try run.plan.id(needer)).whole
    }
    for needer in ["a", "own", "b"] {
      #expect(try fingerprint("x", in: needer) != fingerprint("y", in: needer))
    }
    #expect(try fingerprint("x", in: "c") == fingerprint("y", in: "c"))
  }
}
