import OpflowManifest
import Testing

/// A `matrix` with only `include`, which lists the matrix tasks one by one.
struct WrittenInstanceTests {
  private func instances(_ matrix: String) throws -> [String] {
    try plan("tasks:\n  t:\n    run: x\n    matrix: \(matrix)\n").ids
  }

  private func told(_ matrix: String) -> [String] {
    errors(in: "tasks:\n  t:\n    matrix: \(matrix)\n    run: x\n")
  }

  @Test func `each item is a matrix task, and its ID has all values`() throws {
    #expect(
      try instances("{ include: [{ cloud: aws, app: one }, { cloud: aws, app: two }] }") == [
        "t[cloud=aws,app=one]", "t[cloud=aws,app=two]",
      ])
    #expect(
      try instances("{ include: [{ a: 1, b: 2 }, { b: 1, a: 2 }] }") == [
        "t[a=1,b=2]", "t[a=2,b=1]",
      ])
  }

  @Test func `its names are those of expressions and of what joins it`() throws {
    let plan = try plan(
      """
      tasks:
        t: { run: "x ${{ matrix.b }}", matrix: { include: [{ a: p, b: q }, { a: r, b: s }] } }
        u: { run: x, needs: "t[a]", matrix: { a: [r, p] } }
      """)
    #expect(try plan.scriptText("t[a=r,b=s]") == "x s")
    #expect(try plan.needTexts("u[a=r]") == ["t[a=r,b=s] on success"])
  }

  @Test(arguments: [
    (
      "{ include: [{ a: 1 }, { a: 1 }] }",
      "3:35: a matrix task with a=1 already exists"
    ),
    ("{ include: [{ a: 1 }, { b: 1 }] }", "3:37: the `matrix` has no name `b`"),
    (
      "{ include: [{ a: 1, b: 2 }, { a: 2 }] }",
      "3:41: `b` is missing here; `include` needs a value for each name"
    ),
    ("{ include: [] }", "3:24: `include` is empty"),
    ("{ include: [x] }", "3:25: an item of `include` must be a map, not a string"),
    ("{ include: { a: 1 } }", "3:24: `include` must be a list of maps, not a map"),
    (
      "{ include: [{ a: [1] }] }",
      "3:30: `matrix.a` must be a string, a number or a boolean, not a list"
    ),
    ("{ exclude: [{ a: 1 }] }", "3:13: `matrix` has no axis and no `rows`"),
  ])
  func `each error has its place`(_ matrix: String, _ problem: String) {
    #expect(told(matrix) == [problem])
  }

  @Test func `the help about equal first values in rows suggests include`() {
    let diagnostics = Project([
      "m.yaml":
        "tasks: { t: { run: x, matrix: { rows: [{ P: aws, S: a }, { P: aws, S: b }] } } }"
    ]).diagnostics()
    #expect(
      diagnostics.map(\.help) == [
        "the first name of `rows` makes the ID, so each row needs another value there; for IDs"
          + " with all values, use `include`"
      ])
  }

  @Test func `a variable of the root is passed to a file with a name of its own`() {
    let diagnostics = Project([
      "m.yaml": "vars: { v: root }\ninclude: [{ path: i.yaml, as: i }]\n",
      "i.yaml": "tasks: { x: { run: 'echo ${{ vars.v }}' } }\n",
    ]).diagnostics()
    #expect(
      diagnostics.map(\.help) == [
        "declare `v` under `vars` of this file, or pass it with the `include`: `vars: { v: … }`"
      ])
  }
}
