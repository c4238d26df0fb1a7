import OpflowManifest
import Testing

/// Additions with tasks whose IDs are already in the run.
struct RedeclarationTests {
  private static let first = """
    resources: { net: 2 }
    tasks:
      a: { run: x, outputs: [o], env: { E: 1 } }
      b: { run: y, needs: [a, { task: f, on: finished }], retry: { max: 2, exit_codes: [3] } }
      f: { run: z, matrix: { n: [1, 2] } }
      db: { run: s, service: { ready: { port: 5432 } } }
      q: { approve: go on? }
      d: { download: { url: "http://h/x", to: x } }
      v: { run: "echo 1 > $OPFLOW_VALUES/n", needs: db }
      w: { run: x, needs: [b, v], if: needs.v.n == '1' }
    """

  @Test func `the same definition changes nothing`() throws {
    var run = try GrowingRun(Self.first)
    let before = run.bytes
    let again = Self.first.replacing("resources: { net: 2 }\n", with: "")
    let segment = try run.add(again)
    #expect(segment.added == nil && run.bytes == before)
    #expect(segment.unchanged == ["a", "b", "f", "db", "q", "d", "v", "w"])
  }

  @Test func `a dependent needs the run's task`() throws {
    var run = try GrowingRun(Self.first)
    let segment = try run.add(
      """
      tasks:
        w: { run: x, if: needs.v.n == '1', needs: [v, b] }
        new: { run: x, needs: [f, a, d], outputs: [p] }
        a: { env: { E: "1" }, outputs: [o], run: x }
        f: { run: z, matrix: { n: [1, 2] } }
      """)
    #expect(segment.unchanged == ["w", "a", "f"])
    #expect(segment.added?.taskCount == 1)
    #expect(
      try run.plan.needTexts("new")
        == ["f[n=1] on success", "f[n=2] on success", "a on success", "d on success"])
    #expect(try run.add("tasks:\n  new: { run: x, needs: [a, d, f], outputs: [p] }").added == nil)
  }

  private static let changed: [(String, String)] = [
    ("a: { run: y, outputs: [o], env: { E: 1 } }", "a different `run`"),
    ("a: { run: x, outputs: [o], env: { E: 2 } }", "a different `env`"),
    ("a: { run: x, outputs: [p], env: { E: 1 } }", "a different `outputs`"),
    ("a: { run: x, outputs: [o], inputs: [], env: { E: 1 } }", "a different `inputs`"),
    ("a: { run: x, outputs: [o], env: { E: 1 }, needs: q }", "a different `needs`"),
    ("a: { run: x, outputs: [o], env: { E: 1 }, desc: d }", "a different `desc`"),
    ("a: { run: x, outputs: [o], env: { E: 1 }, tags: t }", "a different `tags`"),
    ("a: { run: x, outputs: [o], env: { E: 1 }, priority: 1 }", "a different `priority`"),
    ("a: { run: x, outputs: [o], env: { E: 1 }, timeout: 1m }", "a different `timeout`"),
    ("a: { run: x, outputs: [o], env: { E: 1 }, stop: { grace: 1s } }", "a different `stop`"),
    (
      "a: { run: x, outputs: [o], env: { E: 1 }, resources: { net: 1 } }", "a different `resources`"
    ),
    ("a: { run: x, outputs: [o], env: { E: 1 }, if: 'false' }", "a different `if`"),
    (
      "a: { run: x, outputs: [o], env: { E: 1 }, allow_failure: true }",
      "a different `allow_failure`"
    ),
    (
      "a: { run: x, outputs: [o], env: { E: 1 }, allow_failure: [2] }",
      "a different `allow_failure`"
    ),
    ("a: { run: x, outputs: [o], env: { E: 1 }, manual: true }", "a different `manual`"),
    ("a: { run: x, outputs: [o], env: { E: 1 }, local: true }", "a different `local`"),
    (
      "a: { run: x, outputs: [o], env: { E: 1 }, memory_limit: 1GiB }", "a different `memory_limit`"
    ),
    ("a: { run: x, outputs: [o], env: { E: 1 }, dir: sub }", "a different `dir`"),
    (
      "a: { run: x, outputs: [o], env: { E: 1 }, on_interrupted: fail }",
      "a different `on_interrupted`"
    ),
    ("a: { run: x, matrix: { n: [1] } }", "no matrix tasks"),
    (
      "b: { run: y, needs: [a, { task: f, on: failure }], retry: { max: 2, exit_codes: [3] } }",
      "a different `needs`"
    ),
    (
      "b: { run: y, needs: [a, { task: f, on: finished }], retry: { max: 2, exit_codes: [4] } }",
      "a different `retry`"
    ),
    ("f: { run: z, matrix: { n: [1] } }", "different values"),
    ("f: { run: z, matrix: { n: [1, 3] } }", "different values"),
    ("f: { run: 'z ${{ matrix.n }}', matrix: { n: [1, 2] } }", "a different `run`"),
    ("f: { run: z }", "matrix tasks"),
    ("db: { run: s, service: { ready: { port: 5433 } } }", "a different `service`"),
    ("q: { approve: go off? }", "a different `approve`"),
    ("d: { download: { url: \"http://h/x\", to: x, resume: false } }", "a different `download`"),
    ("w: { run: x, needs: [b, v], if: needs.v.n == '2' }", "a different `if`"),
    ("w: { run: x, needs: [b, v], if: needs.v.m == '1' }", "a different `if`"),
  ]

  @Test(arguments: changed)
  func `another definition is an error at its place`(_ task: String, _ detail: String) throws {
    let run = try GrowingRun(Self.first)
    let name = try #require(task.split(separator: ":").first)
    let line = try #require(
      Self.first.split(separator: "\n").firstIndex { $0.hasPrefix("  \(name):") })
    #expect(
      run.errors(in: "tasks:\n  new: { run: x }\n  \(task)")
        == [
          "3:3: `\(name)` is already in the run, with \(detail) (/data/project/m.yaml:\(line + 1))"
        ]
    )
  }

  @Test func `a folder is told apart by the run's`() throws {
    let run = try GrowingRun("tasks:\n  a: { run: x }")
    #expect(throws: ManifestError.self) {
      try run.compiled("tasks:\n  a: { run: x }", folder: "/data/project/sub")
    }
    let same = try run.compiled(
      "defaults: { dir: .. }\ntasks:\n  a: { run: x }", folder: "/data/project/sub")
    #expect(same.unchanged == ["a"])
  }

  @Test func `whose trace it is a part of says nothing`() throws {
    let run = try GrowingRun("tasks:\n  a: { run: x, env: { TRACEPARENT: one } }")
    #expect(try run.compiled("tasks:\n  a: { run: x, env: { TRACEPARENT: two } }").added == nil)
  }
}
