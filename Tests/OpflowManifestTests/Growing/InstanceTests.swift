import OpflowManifest
import OpflowPlan
import Testing

/// Matrix tasks that are made when another task has ended: `after` in a `matrix`.
struct InstanceTests {
  private static let files = [
    "parts.txt": "a\nb\n", "rows.tsv": "id\turl\nx\thttp://x\ny\thttp://y\n", "none.txt": "\n",
  ]

  private static let first = """
    tasks:
      scan: { run: x }
      count:
        matrix: { part: { lines: parts.txt, after: scan }, mode: [fast, slow] }
        needs: [setup]
        run: "count ${{ matrix.part }} ${{ matrix.mode }}"
      setup: { run: x }
      sum: { run: x, needs: [setup, count] }
      handler: { run: x, needs: [{ task: count, on: failure }] }
    """

  @Test func `before, it is one task with the needs of the matrix tasks and of after`()
    throws
  {
    let run = try GrowingRun(Self.first)
    let maker = try run.plan.id("count")
    #expect(run.plan.makesInstances(maker))
    #expect(run.plan.flags(maker).contains(.control))
    #expect(run.plan.matrixGroups.isEmpty)
    #expect(try run.plan.needTexts("count") == ["scan on ran", "setup on success"])
    #expect(try run.plan.needTexts("sum") == ["setup on success", "count on success"])
  }

  @Test func `then it is its matrix tasks, as if they had been in the first plan`() throws {
    var run = try GrowingRun(Self.first)
    try run.addInstances("count", Self.files)
    let instances = ["a", "b"].flatMap { part in
      ["fast", "slow"].map { "count[part=\(part),mode=\($0)]" }
    }
    #expect(
      run.plan.instances(madeBy: try run.plan.id("count"))?.map { run.plan.nameString(TaskID($0)) }
        == instances)
    #expect(try run.plan.needTexts(instances[0]) == ["setup on success", "count on success"])
    #expect(
      try run.plan.needTexts("sum") == ["setup on success", "count on success"]
        + instances.map { "\($0) on success" })
    // It failed to make any, or each of them fails.
    #expect(
      try run.plan.needTexts("handler") == ["count on finished"]
        + instances.map { "\($0) on failure" })
    #expect(try run.plan.scriptText(instances[3]) == "count b slow")
  }

  @Test(arguments: [
    ("{ part: { lines: parts.txt, after: scan } }", ["f[part=a]", "f[part=b]"]),
    ("{ rows: { file: rows.tsv, after: scan } }", ["f[id=x]", "f[id=y]"]),
    ("{ n: { glob: '*.dat', after: scan } }", ["f[n=1.dat]", "f[n=2.dat]"]),
    (
      "{ part: { lines: parts.txt, after: scan }, exclude: [{ part: a }] }", ["f[part=b]"]
    ),
    (
      "{ rows: { file: rows.tsv, after: scan }, include: [{ id: z, url: q }] }",
      ["f[id=x]", "f[id=y]", "f[id=z]"]
    ),
    ("{ part: { lines: none.txt, after: scan } }", []),
  ])
  func `all that reads files can wait for them`(_ matrix: String, _ instances: [String]) throws {
    var run = try GrowingRun(
      "tasks: { scan: { run: x }, f: { run: \"${{ task.id }}\", matrix: \(matrix) } }")
    let made = try run.addInstances("f", Self.files, names: ["1.dat", "2.dat"])
    #expect((made.added == nil) == instances.isEmpty)
    #expect(run.plan.tasks.dropFirst(2).map { run.plan.nameString(TaskID($0)) } == instances)
  }

  @Test func `matrices after one task join by their axes, each matrix task separately`() throws {
    var run = try GrowingRun(
      """
      tasks:
        scan: { run: x }
        b: { run: x, needs: ["a[part]"], matrix: { part: { lines: parts.txt, after: scan } } }
        a: { run: x, matrix: { part: { lines: parts.txt, after: scan } } }
        c: { run: x, needs: a, matrix: { part: { lines: parts.txt, after: scan } } }
      """)
    // The generator of `b` waits for the generator of `a`, not for the matrix tasks of `a`.
    #expect(try run.plan.needTexts("b") == ["scan on ran", "a on success"])
    #expect(try run.plan.needTexts("c") == ["scan on ran", "a on success"])
    try run.addInstances("a", Self.files)
    #expect(try run.plan.needTexts("b") == ["scan on ran", "a on success"])
    try run.addInstances("b", Self.files)
    #expect(try run.plan.needTexts("b[part=b]") == ["a[part=b] on success", "b on success"])
    try run.addInstances("c", Self.files)
    #expect(
      try run.plan.needTexts("c[part=a]") == [
        "a[part=a] on success", "a[part=b] on success", "c on success",
      ])
  }

  @Test func `an empty matrix has no matrix tasks to join`() throws {
    var run = try GrowingRun(
      """
      tasks:
        scan: { run: x }
        a: { run: x, matrix: { part: { lines: none.txt, after: scan } } }
        b: { run: x, needs: ["a[part]"], matrix: { part: { lines: parts.txt, after: scan } } }
      """)
    #expect(try run.addInstances("a", Self.files).added == nil)
    try run.addInstances("b", Self.files)
    #expect(try run.plan.needTexts("b[part=a]") == ["a on success", "b on success"])
  }

  @Test func `the same matrix tasks change nothing, and others are an error`() throws {
    var run = try GrowingRun(Self.first)
    try run.addInstances("count", Self.files)
    #expect(try run.addInstances("count", Self.files).unchanged == ["count"])
    #expect(run.plan.taskCount == 9)
    for others in ["a\nc\n", ""] {
      let error = #expect(throws: ManifestError.self) {
        try run.addInstances("count", ["parts.txt": others])
      }
      #expect(
        error?.diagnostics.first?.message
          == "the run already has matrix tasks of `count`, with different values")
      #expect(error?.diagnostics.first?.help == "`opflow resume --rerun count` makes them again")
    }
  }

  @Test func `matrix tasks read and write values`() throws {
    var run = try GrowingRun(
      """
      tasks:
        scan: { run: ./scan }
        count:
          matrix: { part: { lines: parts.txt, after: scan } }
          needs: [scan]
          env: { N: "${{ needs.scan.n }}" }
          run: ./count
        sum: { run: x, needs: count, env: { T: "${{ needs.count.total }}" } }
      """)
    #expect(run.plan.flags(try run.plan.id("scan")).contains(.leavesValues))
    try run.addInstances("count", Self.files)
    let instance = try run.plan.id("count[part=a]")
    #expect(run.plan.flags(instance).contains(.leavesValues))
    #expect(run.plan.valueSources(of: instance).map { run.plan.nameString($0) } == ["scan"])
    #expect(
      run.plan.valueSources(of: try run.plan.id("sum")).map { run.plan.nameString($0) } == [
        "count[part=a]", "count[part=b]",
      ])
  }

  @Test func `the rules of the matrix are those of its tasks`() throws {
    var run = try GrowingRun(
      """
      tasks:
        scan: { run: x }
        count:
          matrix: { part: { lines: parts.txt, after: scan } }
          run: x
          timeout: 5s
          retry: 3
          manual: true
          outputs: ["${{ matrix.part }}.out"]
      """)
    let maker = try run.plan.id("count")
    #expect(run.plan.policy(maker).timeoutMilliseconds == 0)
    #expect(run.plan.policy(maker).retryMax == 0)
    #expect(run.plan.flags(maker).contains(.manual))
    try run.addInstances("count", Self.files)
    let instance = try run.plan.id("count[part=a]")
    #expect(run.plan.policy(instance).timeoutMilliseconds == 5000)
    #expect(run.plan.policy(instance).retryMax == 3)
    // It came since somebody wanted it.
    #expect(!run.plan.flags(instance).contains(.manual))
    #expect(run.plan.outputs(of: instance).map(\.text) == ["a.out"])
  }

  @Test func `a dependent that reads outputs of matrix tasks has no warning`() throws {
    var run = try GrowingRun(
      """
      tasks:
        scan: { run: x }
        count:
          matrix: { part: { lines: parts.txt, after: scan } }
          run: x
          outputs: ["out/${{ matrix.part }}"]
        sum: { run: x, needs: count, inputs: ["out/*"] }
        other: { run: x, inputs: ["out/a"] }
      """)
    let made = try run.addInstances("count", Self.files)
    #expect(made.added?.warnings.map(\.message).filter { $0.contains("`sum`") } == [])
    #expect(made.added?.warnings.contains { $0.message.contains("`other`") } == true)
  }

  @Test(arguments: [
    (
      "matrix: { p: { lines: f, after: nobody } }, run: x",
      "2:40: unknown task `nobody`"
    ),
    (
      "matrix: { p: { range: [1, 2], after: scan } }, run: x",
      "2:38: `range` cannot have `after`, because it reads no file"
    ),
    ("matrix: { p: { lines: f, after: scan } }, run: x, finally: true", "2:3: `f` is `finally`"),
    ("matrix: { p: { lines: f, after: f } }, run: x", "2:40: task `f` needs itself"),
    ("matrix: { p: { lines: f, after: scan } }, run: x, needs: [nobody]", "2:66: unknown task"),
    ("matrix: { p: { lines: f, after: scan } }, run: x, timeout: fast", "2:67: `timeout` must be"),
    (
      "matrix: { p: { lines: f, after: scan } }, run: 'echo ${{ matrix.q }}'",
      "2:65: unknown name `matrix.q`"
    ),
    (
      "matrix: { p: { lines: f, after: scan } }, run: x, needs: [next]",
      "2:66: dependency cycle: f -> next -> f"
    ),
  ])
  func `errors are found before anything runs`(_ task: String, _ problem: String) throws {
    let text = """
      tasks:
        f: { \(task) }
        scan: { run: x }
        next: { run: x, needs: [f] }
      """
    let error = #expect(throws: ManifestError.self) { try compile(text) }
    let told = error?.diagnostics.map { "\($0.line):\($0.column): \($0.message)" } ?? []
    #expect(told.contains { $0.contains(problem) }, "\(told)")
  }

  @Test(arguments: ["needs: ['f[p]'], matrix: { p: [a] }", "needs: ['f[p=a]']"])
  func `a need cannot name matrix tasks before they exist`(_ needs: String) throws {
    let error = #expect(throws: ManifestError.self) {
      try compile(
        """
        tasks:
          scan: { run: x }
          f: { matrix: { p: { lines: f, after: scan } }, run: x }
          next: { run: x, \(needs) }
        """)
    }
    #expect(
      error?.diagnostics.first?.message
        == "`f` has no matrix tasks to select yet: opflow makes them during the run (`after`)")
  }

  @Test func `its task runs again where other files are read, and for nothing else`() throws {
    func fingerprint(_ task: String) throws -> Fingerprint {
      let run = try GrowingRun("tasks:\n  scan: { run: x }\n  f:\n\(task)")
      return run.plan.fingerprint(try run.plan.id("f"))
    }
    let plain = try fingerprint("    matrix: { p: { lines: f, after: scan } }\n    run: x\n")
    #expect(
      try fingerprint("    # why\n    matrix: {p: {lines: 'f', after: scan}}\n\n    run: x\n")
        == plain)
    #expect(
      try fingerprint("    matrix: { p: { lines: f, after: scan } }\n    run: y\n    timeout: 1s\n")
        == plain)
    #expect(try fingerprint("    matrix: { p: { lines: g, after: scan } }\n    run: x\n") != plain)
  }
}
