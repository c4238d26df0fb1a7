import Fixtures
import OpflowPlan
import OpflowViews
import Testing

@Suite struct ViewLogTests {
  private func show(_ labels: LogView.Labels, _ pieces: [(Int, String)]) throws -> String {
    let plan = try ViewFixture.plan([("a", []), ("b", [])])
    var view = LogView(plan: plan, labels: labels)
    for (task, piece) in pieces {
      Array(piece.utf8).withUnsafeBytes { view.append(TaskID(task), $0) }
    }
    for task in plan.tasks { view.end(TaskID(task)) }
    return String(decoding: view.takeText(), as: UTF8.self)
  }

  @Test func `one task's log stands as it is`() throws {
    #expect(try show(.none, [(0, "one\nt"), (0, "wo")]) == "one\ntwo\n")
  }

  @Test func `a line stays one however long it is`() throws {
    let line = String(repeating: "x", count: 40_000)
    #expect(try show(.none, [(0, line), (0, line + "\nnext\n")]) == "\(line)\(line)\nnext\n")
    #expect(try show(.headers, [(0, line + "\n")]) == "==> a <==\n\(line)\n")
  }

  @Test func `pieces of a long line bear their task's name where lines of others may come between`()
    throws
  {
    let line = String(repeating: "x", count: 20_000)
    let shown = try show(.prefixes, [(0, line), (1, "two\n")]).split(separator: "\n")
    #expect(shown.count == 3)
    #expect(shown.allSatisfy { $0.hasPrefix("a | ") || $0 == "b | two" })
  }

  @Test func `several logs have headers`() throws {
    #expect(
      try show(.headers, [(0, "one\n"), (1, "two\n")]) == "==> a <==\none\n\n==> b <==\ntwo\n")
  }

  @Test func `lines of several running tasks are told apart and never mixed`() throws {
    #expect(
      try show(.prefixes, [(0, "on"), (1, "two\nthr"), (0, "e\n"), (1, "ee\n")])
        == "b | two\na | one\nb | three\n")
  }

  @Test func `control characters are left out`() throws {
    #expect(try show(.none, [(0, "\u{1b}[3"), (0, "1mred\u{1b}[0m\u{7}\n")]) == "red\n")
  }

  @Test func `colours of a log are shown where they are wanted`() throws {
    let plan = try ViewFixture.plan([("a", [])])
    var view = LogView(plan: plan, labels: .prefixes, color: true)
    Array("\u{1b}[31mred\u{1b}[2J\nplain\n".utf8).withUnsafeBytes { view.append(TaskID(0), $0) }
    #expect(
      String(decoding: view.takeText(), as: UTF8.self)
        == "a | \u{1b}[31mred\u{1b}[0m\na | plain\n")
  }
}
