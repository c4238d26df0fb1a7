import OpflowManifest
import Testing

/// Tasks that read the outputs of tasks that they do not need.
struct UnorderedFileTests {
  private func warnings(_ tasks: String) throws -> [String] {
    try compile("tasks:\n" + tasks).warnings.map { "\($0.line):\($0.column): \($0.message)" }
  }

  @Test func `an output that another task reads without needing it has a warning that names both`()
    throws
  {
    let warnings = try compile(
      """
      tasks:
        gen: { run: x, outputs: [gen.h] }
        use: { run: x, inputs: [main.c, gen.h] }
      """
    ).warnings
    #expect(warnings.count == 1)
    let warning = try #require(warnings.first)
    #expect(
      warning.message
        == "task `use` reads `gen.h`, which task `gen` writes, but neither needs the other")
    #expect(warning.help == "either may run first; add `gen` to the `needs` of `use`")
    #expect((warning.line, warning.column) == (3, 35))
    #expect(warning.notes.map(\.message) == ["`gen` writes it here"])
    #expect(warning.notes.map(\.line) == [2])
  }

  private static let apart: [(output: String, input: String)] = [
    ("out/x", "./out//x"), ("out/x", "/data/project/out/x"), ("out/", "out"),
    ("out", "out/deep/x"), ("out/deep/x", "out/"), ("x", "."), ("out/x", "**"),
    ("src/gen.c", "src/*.c"), ("src/deep/gen.c", "**/*.c"), ("src/a/b/gen.c", "src/**/gen.?"),
    ("x", "[w-z]"), ("out/*.o", "out/a.o"), ("out/*.o", "out/*.o"), ("out/.x", "out/.*"),
    ("o/*", "**"), ("o", "o/**"), ("o/a/*.c", "o/**/*.c"), ("o/*.c", "o/*"), ("o/p", "o/p/q/*.c"),
  ]

  @Test(arguments: apart)
  func `a file is the same under another name or in a pattern`(output: String, input: String) throws
  {
    let found = try warnings(
      "  r: { run: x, inputs: ['\(input)'] }\n  w: { run: x, outputs: ['\(output)'] }")
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("2:25: task `r` reads `\(input)`, ") == true)
    for needs in ["  r: { run: x, needs: [w], inputs: ['\(input)'] }\n  w:"] {
      #expect(try warnings("\(needs) { run: x, outputs: ['\(output)'] }") == [])
    }
  }

  @Test func `a file is the same by a path through links`() throws {
    func warnings(_ output: String, _ input: String) throws -> Int {
      try compile(
        """
        tasks:
          r: { run: x, inputs: ['\(input)'] }
          w: { run: x, outputs: ['\(output)'] }
        """,
        links: ["/data/project/l": "d", "/data/project/d/up": "..", "/data/project/o": "/o[1]"]
      ).warnings.count
    }
    for (output, input) in [
      ("d/x", "l/x"), ("l/x", "d/x"), ("d/x", "l/*"), ("d/x", "l"), ("l", "l"), ("l/x", "d/up/l"),
      ("l/*.c", "d/**"), ("d/x", "l/up/l/x"),
      ("o/x/y", "/o[[]1]/x/*"), ("o/*.c", "/o[[]1]/*"),
    ] {
      #expect(try warnings(output, input) == 1, "\(output) \(input)")
    }
    #expect(try warnings("d/x", "l/y") == 0)
  }

  private static let different: [(output: String, input: String)] = [
    ("out/x", "out/xy"), ("out/x", "x"), ("out/x", "ou"), ("src/gen.c", "src/*.h"),
    ("src/deep/gen.c", "src/*.c"), (".hidden/gen.c", "**/*.c"), ("src/.gen.c", "src/*"),
    ("out/*.o", "out/a.c"), ("out", "*/"), ("a/b", "a/b*/c"),
    ("o/.*", "**"), ("o/.h/*.c", "o/**"), ("o/*/x", "o/*"), ("o/*", "*/x"), ("o/*.c", "o/**/*.h"),
  ]

  @Test(arguments: different)
  func `other files are other files`(output: String, input: String) throws {
    #expect(
      try warnings(
        "  r: { run: x, inputs: ['\(input)'] }\n  w: { run: x, outputs: ['\(output)'] }") == [])
  }

  @Test(arguments: [
    // Through another one; in the other order; on any condition; a download.
    """
      w: { run: x, outputs: [o] }
      m: { run: x, needs: w }
      r: { run: x, needs: m, inputs: o }
    """,
    "  w: { run: x, needs: r, outputs: [o] }\n  r: { run: x, inputs: [o] }",
    "  w: { run: x, outputs: [o] }\n  r: { run: x, needs: [{ task: w, on: finished }], inputs: o }",
    "  w: { download: { url: 'http://h/x', to: o } }\n  r: { run: x, needs: w, inputs: o }",
    // Its own output, among others; and a `finally` task.
    "  r: { run: x, inputs: ['*'], outputs: [o] }",
    "  r: { run: x, inputs: [o] }\n  w: { run: x, finally: true, outputs: [o] }",
    "  w: { run: x, outputs: [o] }\n  r: { run: x, inputs: [{ env: o }, { run: [o] }] }",
  ])
  func `tasks in order have no warning`(_ tasks: String) throws {
    #expect(try warnings(tasks) == [])
  }

  @Test func `a download is an output, and two dependents of a task are not in order`() throws {
    #expect(
      try warnings(
        """
          a: { run: x }
          w: { download: { url: 'http://h/x', to: o }, needs: a }
          r: { run: x, needs: a, inputs: [o] }
        """) == [
          "4:35: task `r` reads `o`, which task `w` writes, but neither needs the other"
        ])
  }

  @Test func `one warning covers all matrix tasks, and tasks selected by axis are in order`() throws
  {
    let build = """
        build: { run: x, matrix: { n: { range: [1, 50] } }, outputs: ["out/${{ matrix.n }}.o"] }

      """
    #expect(
      try warnings(
        build
          + "  test: { run: x, matrix: { n: { range: [1, 50] } }, needs: 'build[n]',"
          + " inputs: ['out/${{ matrix.n }}.o'] }") == [])
    #expect(
      try warnings(
        build
          + "  test: { run: x, matrix: { n: { range: [1, 50] } }, needs: 'build[n]',"
          + " inputs: [out/*.o] }") == [
          "3:82: task `test[n=1]` reads `out/*.o`, task `build[n=2]` writes `out/2.o`, but neither"
            + " needs the other"
        ])
  }

  @Test func `the help for matrix tasks names their matrix`() throws {
    func helps(_ tasks: String) throws -> [String?] {
      try compile("tasks:\n\(tasks)").warnings.map(\.help)
    }
    let build = "  build: { run: x, matrix: { n: [1, 2] }, outputs: ['${{ matrix.n }}.o']"
    #expect(
      try helps("\(build) }\n  test: { run: x, matrix: { n: [1, 2] }, inputs: ['*.o'] }") == [
        "either may run first; add `build` to the `needs` of `test`"
      ])
    #expect(
      try helps("\(build), inputs: [1.o] }") == [
        "opflow treats an edit of it as a change of an output; declare `outputs` more narrowly",
        "either may run first; let a task that both need write it",
      ])
  }

  @Test func `an error suppresses the warning`() {
    #expect(
      errors(in: "tasks:\n  r: { run: x, inputs: [o], needs: q }\n  w: { run: x, outputs: [o] }")
        == ["2:36: unknown task `q`"])
  }

  @Test(.timeLimit(.minutes(30)))
  func `the work for large manifests is limited`() throws {
    // A chain, whose last tasks read the outputs of the first ones.
    var tasks = "  t0: { run: x, outputs: [o0] }\n"
    for task in 1..<4000 {
      tasks +=
        "  t\(task): { run: x, needs: t\(task - 1), inputs: [o\(task / 2)], outputs: [o\(task)] }\n"
    }
    #expect(try compile("tasks:\n" + tasks).warnings.isEmpty)
    // As many patterns as files, each of which may fit each.
    tasks = ""
    for task in 0..<1000 {
      tasks += "  t\(task): { run: x, inputs: ['**/*\(task)x*'], outputs: [a/b/c/o\(task)] }\n"
    }
    #expect(try compile("tasks:\n" + tasks).warnings.isEmpty)
    // Folders in folders.
    let deep = String(repeating: "a/", count: 2000)
    tasks = ""
    for task in 0..<100 {
      tasks += "  t\(task): { run: x, inputs: ['\(task)/\(deep)x'], outputs: ['\(deep)\(task)'] }\n"
    }
    #expect(try compile("tasks:\n" + tasks).warnings.isEmpty)
  }
}
