import OpflowManifest
import Testing

/// What is added to a run that has tasks of the same ids.
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

  @Test func `the same definition comes to nothing`() throws {
    var run = try GrowingRun(Self.first)
    let before = run.bytes
    let again = Self.first.replacing("resources: { net: 2 }\n", with: "")
    let segment = try run.add(again)
    #expect(segment.added == nil && run.bytes == before)
    #expect(segment.unchanged == ["a", "b", "f", "db", "q", "d", "v", "w"])
  }

  @Test func `what needs it needs the run's`() throws {
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
    ("a: { run: y, outputs: [o], env: { E: 1 } }", "another `run`"),
    ("a: { run: x, outputs: [o], env: { E: 2 } }", "another `env`"),
    ("a: { run: x, outputs: [p], env: { E: 1 } }", "another `outputs`"),
    ("a: { run: x, outputs: [o], inputs: [], env: { E: 1 } }", "another `inputs`"),
    ("a: { run: x, outputs: [o], env: { E: 1 }, needs: q }", "another `needs`"),
    ("a: { run: x, outputs: [o], env: { E: 1 }, desc: d }", "another `desc`"),
    ("a: { run: x, outputs: [o], env: { E: 1 }, tags: t }", "another `tags`"),
    ("a: { run: x, outputs: [o], env: { E: 1 }, priority: 1 }", "another `priority`"),
    ("a: { run: x, outputs: [o], env: { E: 1 }, timeout: 1m }", "another `timeout`"),
    ("a: { run: x, outputs: [o], env: { E: 1 }, stop: { grace: 1s } }", "another `stop`"),
    ("a: { run: x, outputs: [o], env: { E: 1 }, resources: { net: 1 } }", "another `resources`"),
    ("a: { run: x, outputs: [o], env: { E: 1 }, if: 'false' }", "another `if`"),
    ("a: { run: x, outputs: [o], env: { E: 1 }, allow_failure: true }", "another `allow_failure`"),
    ("a: { run: x, outputs: [o], env: { E: 1 }, allow_failure: [2] }", "another `allow_failure`"),
    ("a: { run: x, outputs: [o], env: { E: 1 }, manual: true }", "another `manual`"),
    ("a: { run: x, outputs: [o], env: { E: 1 }, local: true }", "another `local`"),
    ("a: { run: x, outputs: [o], env: { E: 1 }, memory_limit: 1GiB }", "another `memory_limit`"),
    ("a: { run: x, outputs: [o], env: { E: 1 }, dir: sub }", "another `dir`"),
    (
      "a: { run: x, outputs: [o], env: { E: 1 }, on_interrupted: fail }", "another `on_interrupted`"
    ),
    ("a: { run: x, matrix: { n: [1] } }", "no legs"),
    (
      "b: { run: y, needs: [a, { task: f, on: failure }], retry: { max: 2, exit_codes: [3] } }",
      "another `needs`"
    ),
    (
      "b: { run: y, needs: [a, { task: f, on: finished }], retry: { max: 2, exit_codes: [4] } }",
      "another `retry`"
    ),
    ("f: { run: z, matrix: { n: [1] } }", "other legs"),
    ("f: { run: z, matrix: { n: [1, 3] } }", "other legs"),
    ("f: { run: 'z ${{ matrix.n }}', matrix: { n: [1, 2] } }", "another `run`"),
    ("f: { run: z }", "legs"),
    ("db: { run: s, service: { ready: { port: 5433 } } }", "another `service`"),
    ("q: { approve: go off? }", "another `approve`"),
    ("d: { download: { url: \"http://h/x\", to: x, resume: false } }", "another `download`"),
    ("w: { run: x, needs: [b, v], if: needs.v.n == '2' }", "another `if`"),
    ("w: { run: x, needs: [b, v], if: needs.v.m == '1' }", "another `if`"),
  ]

  @Test(arguments: changed)
  func `another definition is a mistake at its place`(_ task: String, _ detail: String) throws {
    let run = try GrowingRun(Self.first)
    let name = try #require(task.split(separator: ":").first)
    let line = try #require(
      Self.first.split(separator: "\n").firstIndex { $0.hasPrefix("  \(name):") })
    #expect(
      run.errors(in: "tasks:\n  new: { run: x }\n  \(task)")
        == [
          "3:3: `\(name)` is in the run already, with \(detail) (/data/project/m.yaml:\(line + 1))"
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
