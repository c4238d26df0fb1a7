import OpflowManifest
import Testing

/// Outputs of more than one task under any names, and outputs that are also other files.
struct OutputOverlapTests {
  private func errors(_ one: String, _ other: String) -> [String] {
    OpflowManifestTests.errors(
      in: "tasks:\n  a: { run: x, outputs: ['\(one)'] }\n  b: { run: x, outputs: ['\(other)'] }")
  }

  private static let overlapping: [(inner: String, outer: String)] = [
    ("dist/app.js", "dist"), ("dist/a/b/c", "./dist/"), ("o/x", "o/*"), ("o/x.c", "**/*.c"),
    ("o/*", "o"), ("o/p/*.c", "o"), ("o/*.c", "o/*"), ("o/p/*.c", "o/**"), ("o/p/*.c", "**/*.c"),
    ("../project/o/x", "o"), ("o/libfoo*", "o/lib*"), ("o/lib*.o", "o/*.o"), ("o/a/b*", "o/?/*"),
    ("o/ab*/x", "o/a*/*"), ("o/x[12].o", "o/x[0-9].*"), ("o/d/f", "o/*/"), ("o/d/e/f*", "./o/*/"),
    ("o/p*/*.c", "o/*/"),
  ]

  @Test(arguments: overlapping)
  func `a file in another task's output is written twice`(inner: String, outer: String) {
    func message(_ place: String, _ other: String) -> String {
      "\(place): `\(inner)` is written twice: `\(outer)`, an output of task `\(other)`, includes it"
    }
    #expect(errors(outer, inner) == [message("3:26", "a")])
    #expect(errors(inner, outer) == [message("2:26", "b")])
  }

  @Test(arguments: [
    ("dist/app", "dist/app.js"), ("o/*.c", "o/*.h"), ("o/*", "*/x"), ("o/.x", "o/*"),
    ("o/.h/*.c", "o/**"), ("o/*/x", "o/*"), ("a", "ab"), ("o/a*", "o/*b"), ("o/.a*", "o/*"),
    ("o/x[0-9a]", "o/x[0-9b]"), ("o/d", "o/*/"), ("o/.d/f", "o/*/"),
  ])
  func `patterns that may match different files are no error`(one: String, other: String) {
    #expect(errors(one, other) == [] && errors(other, one) == [])
  }

  @Test func `names are compared as names, and patterns with the names that they fit`() {
    func errors(_ one: String, _ other: String) -> [String] {
      OpflowManifestTests.errors(
        in: """
          vars: { v: "a[1].o", w: "*.o" }
          tasks:
            a: { run: x, outputs: ['\(one)'] }
            b: { run: x, outputs: ['\(other)'] }
          """)
    }
    let name = "${{ vars.v }}"
    for (one, other) in [(name, "a1.o"), (#"a\[1].o"#, "a1.o"), ("${{ vars.w }}", "a1.o")] {
      #expect(errors(one, other) == [] && errors(other, one) == [], "\(one) \(other)")
    }
    for (one, other, message) in [
      (name, #"a\[1].o"#, "4:26: `a[1].o` is written twice"),
      (name, "*.o", "3:26: `a[1].o` is written twice: `*.o`, an output of task `b`, includes it"),
      (
        "a1.o", "a[1].o",
        "3:26: `a1.o` is written twice: `a[1].o`, an output of task `b`, includes it"
      ),
      ("${{ vars.w }}", "*.o", "4:26: `*.o` is written twice"),
    ] {
      #expect(errors(one, other) == [message], "\(one) \(other)")
    }
  }

  @Test func `outputs overlap by a path through links`() {
    let found = OpflowManifestTests.errors(
      in: "tasks:\n  a: { run: x, outputs: ['d/*'] }\n  b: { run: x, outputs: ['l/x*'] }",
      links: ["/data/project/l": "d"])
    #expect(
      found == ["3:26: `l/x*` is written twice: `d/*`, an output of task `a`, includes it"])
  }

  @Test(arguments: [
    ("l/../x", "else/x", true), ("l/../x", "x", false), ("./l/.././x*", "else/xy*", true),
    ("l/../../x", "x", true), ("../project/x", "x", true), ("l/../e/../x", "else/x", true),
  ])
  func `a step up behind a link leaves the folder that it leads to`(
    _ one: String, _ other: String, _ isSame: Bool
  ) {
    let found = OpflowManifestTests.errors(
      in: "tasks:\n  a: { run: x, outputs: ['\(one)'] }\n  b: { run: x, outputs: ['\(other)'] }",
      links: ["/data/project/l": "else/deep"])
    #expect(found.isEmpty != isSame)
  }

  @Test func `a task may have an output within another of its own, and a download lies in none`() {
    #expect(
      OpflowManifestTests.errors(
        in: "tasks: { a: { run: x, outputs: [o, o/a, 'o/*', 'o/**/*.c'] } }") == [])
    #expect(
      OpflowManifestTests.errors(
        in: """
          tasks:
            a: { run: x, outputs: [o] }
            b: { download: { url: 'http://h/x', to: o/x } }
          """
      ).count == 1)
  }

  @Test func `a file that a task reads and writes has a warning`() throws {
    func warnings(_ keys: String) throws -> [String] {
      try compile("tasks: { a: { run: x, \(keys) } }").warnings.map(\.message)
    }
    #expect(
      try warnings("inputs: [src], outputs: [src]")
        == ["`src` is also an output of this task, so it does not count as an input"])
    #expect(
      try warnings("inputs: [src/a], outputs: [src]")
        == ["`src/a` is part of this task's output `src`, so it does not count as an input"])
    #expect(try warnings("inputs: [src], outputs: [src/gen.c, 'src/*.o']") == [])
    #expect(
      try warnings("inputs: [s], outputs: ['*.yaml']") == [
        "`*.yaml` includes `m.yaml`, a file of this manifest: opflow treats an edit of it as a"
          + " change of an output"
      ])
  }

  @Test(.timeLimit(.minutes(30)))
  func `much of it is looked at no longer than it is worth`() throws {
    var tasks = "tasks:\n"
    for task in 0..<2000 {
      tasks += "  t\(task): { run: x, outputs: ['o/\(task)/*', 'p/\(task)', 'q/x\(task)-*y'] }\n"
    }
    #expect(try compile(tasks).warnings.isEmpty)
    tasks = "tasks:\n"
    for task in 0..<3_000 {
      tasks += "  t\(task): { run: x, outputs: ['o/x\(task)-*', 'p/\(task)-*-a*-b*-c*'] }\n"
    }
    tasks += "  all: { run: x, outputs: ['p/*-d'] }\n  last: { run: x, outputs: ['p/1-?-d'] }\n"
    #expect(OpflowManifestTests.errors(in: tasks).count == 1)
    let deep = String(repeating: "a/", count: 2000)
    tasks = "tasks:\n"
    for task in 0..<50 { tasks += "  t\(task): { run: x, outputs: ['\(deep)\(task)/*'] }\n" }
    #expect(try compile(tasks).warnings.isEmpty)
  }
}
