import OpflowCore
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
      ("buidl", "--only: no task fits `buidl`; did you mean `build`?"),
      ("zzz*", "--only: no task fits `zzz*`"),
      ("tag:fats", "--only: no task fits `tag:fats`; did you mean `tag:fast`?"),
      ("tag:", "--only: no task fits `tag:`"),
    ])
  func `a selector without a task is a mistake`(selector: String, message: String) {
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
