import Fixtures
import OpflowBase
import OpflowPlan
import Testing

@Suite struct SelectionTests {
  private let plan: Plan

  init() throws {
    plan = try ViewFixture.plan(
      [
        ("fetch", []), ("build", ["fetch"]), ("test-unit", ["build"]), ("test-ui", ["build"]),
        ("docs", []), ("cleanup", []),
      ],
      tags: ["test-unit": ["ci", "fast"], "docs": ["fast"]], finally: ["cleanup"])
  }

  private func only(_ only: [String], skip: [String] = []) throws -> [String] {
    ViewFixture.names(plan, try Selection(only: only, skip: skip, of: plan).included)
  }

  @Test func `without selectors every task is included`() throws {
    #expect(try only([]).count == 6)
  }

  @Test func `only takes along what the task needs, and the finally tasks`() throws {
    #expect(try only(["test-ui"]) == ["fetch", "build", "test-ui", "cleanup"])
    #expect(try only(["docs"]) == ["docs", "cleanup"])
  }

  @Test func `patterns and tags select`() throws {
    #expect(
      try only(["test-*"]) == ["fetch", "build", "test-unit", "test-ui", "cleanup"])
    #expect(try only(["test-u?"]) == ["fetch", "build", "test-ui", "cleanup"])
    #expect(
      try only(["tag:fast"]) == ["fetch", "build", "test-unit", "docs", "cleanup"])
  }

  @Test func `what only a skipped task needs is not taken along`() throws {
    let selection = try Selection(only: ["test-ui"], skip: ["build"], of: plan)
    #expect(ViewFixture.names(plan, selection.included) == ["build", "test-ui", "cleanup"])
    #expect(ViewFixture.names(plan, selection.skipped) == ["build"])
    #expect(selection.initialState(TaskID(0)) == .excluded)
    #expect(selection.initialState(TaskID(1)) == .skipOption)
    #expect(selection.initialState(TaskID(3)) == .run)
  }

  @Test(
    arguments: [
      ("buidl", "--only: no task matches `buidl`; did you mean `build`?"),
      (
        "zzz*",
        "--only: no task matches `zzz*`; its tasks: fetch, build, test-unit, test-ui, docs, cleanup"
      ),
      ("tag:fats", "--only: no task matches `tag:fats`; did you mean `tag:fast`?"),
      ("tag:", "--only: no task matches `tag:`; its tags: tag:ci, tag:fast"),
    ])
  func `a selector without a task is an error`(selector: String, message: String) {
    let error = #expect(throws: SelectionError.self) {
      try Selection(only: ["build", selector], skip: [], of: plan)
    }
    #expect(error?.message == message)
  }

  @Test(
    arguments: [
      ("*", "", true), ("*", "a/b", true), ("a*", "ba", false), ("*a", "ba", true),
      ("a*b*c", "axxbyyc", true), ("a*b*c", "axxbyy", false), ("?", "", false), ("?", "é", true),
      ("??", "é", false), ("a?c", "abc", true), ("**a**", "a", true), ("a", "a", true),
      ("a", "ab", false), ("*aab", "aaaab", true), ("", "", true), ("", "a", false),
    ])
  func `patterns match whole names`(pattern: String, name: String, matches: Bool) {
    let bytes = Array(name.utf8)
    #expect(bytes.withUnsafeBytes { Glob(pattern).matches($0) } == matches)
  }

  @Test func `a hostile pattern ends in bounded time`() {
    let name = [UInt8](repeating: UInt8(ascii: "a"), count: 255)
    let pattern = String(repeating: "*a", count: 120) + "b"
    #expect(!name.withUnsafeBytes { Glob(pattern).matches($0) })
  }
}

/// Selectors that name all or some tasks of a matrix.
@Suite struct MatrixGroupSelectionTests {
  private let plan: Plan

  init() throws {
    var maker = PlanMaker()
    for name in ["a", "b[n=1,v=x]", "b[n=1,v=y%20z]", "b[n=2,v=x~0123456789abcdef]", "bb"] {
      maker.add(name)
    }
    plan = try Plan(
      copying: maker.bytes { builder in
        builder.addMatrixGroup(
          builder.intern("b"), firstTask: TaskID(1), instanceCount: 3,
          axes: ["n", "v"].map { builder.intern($0) },
          values: ["1", "x", "1", "y z", "2", "xxx"].map { builder.intern($0) })
      })
    try plan.validate()
  }

  @Test(arguments: [
    ("b", [1, 2, 3]), ("b[n=1]", [1, 2]), ("b[n=2]", [3]), ("b[v=xxx]", [3]),
    ("b[v=y z]", [2]), ("b[v=y%20z,n=1]", [2]), ("b[n=1,v=x]", [1]),
    ("b[n=2,v=x~0123456789abcdef]", [3]), ("b*", [1, 2, 3, 4]), ("b[n=*]", [1, 2, 3]), ("a", [0]),
  ])
  func `a selector names matrix tasks`(_ selector: String, _ tasks: [Int]) throws {
    let set = try Selector.tasks([selector], of: plan)
    #expect(plan.tasks.filter { set.contains(TaskID($0)) } == tasks)
  }

  @Test(
    arguments: [
      ("b[n=3]", nil), ("b[m=1]", nil), ("b[n]", nil), ("b[]", nil), ("b[n=1", nil),
      ("c[n=1]", nil),
      ("bbb", "bb"), ("b[n=1,v=y]", nil),
    ] as [(String, String?)])
  func `a selector without a match is an error`(_ selector: String, _ nearest: String?) {
    #expect(throws: UnfitSelector.self) { try Selector.tasks([selector], of: plan) }
    if let nearest {
      let error = #expect(throws: UnfitSelector.self) { try Selector.tasks([selector], of: plan) }
      #expect(error?.nearest == nearest)
    }
  }

  @Test func `tasks are listed with a name for each matrix`() {
    #expect(Array(plan.foldedNames) == ["a", "b", "bb"])
  }
}
