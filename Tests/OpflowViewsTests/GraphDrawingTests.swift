import Fixtures
import Testing

@testable import OpflowJournal
@testable import OpflowPlan
@testable import OpflowViews

/// Drawings of the dependency graph.
@Suite struct GraphDrawingTests {
  private func plan() throws -> Plan {
    try ViewFixture.plan(
      [
        ("fetch", []), ("build", ["fetch"]), ("test", ["build"]), ("lint", []),
        ("pack", ["build", "lint"]), ("clean", []),
      ], finally: ["clean"], downloads: ["fetch": ["http://example.org/file"]])
  }

  private func graph(
    _ plan: Plan, _ status: RunStatus? = nil, _ limits: GraphFolding.Limits = .none
  ) -> DrawnGraph {
    GraphFolding.graph(
      plan, included: .all(taskCount: plan.taskCount), status: status, limits: limits)
  }

  private func text(_ graph: DrawnGraph, columns: Int? = nil) -> String {
    var view = GraphText(graph, showsAll: false, color: false, columns: columns)
    return String(decoding: view.write(), as: UTF8.self)
  }

  private func dot(_ graph: DrawnGraph) -> String {
    String(decoding: GraphDot.text(graph), as: UTF8.self)
  }

  private func mermaid(_ plan: Plan, _ status: RunStatus? = nil) -> String {
    String(
      decoding: GraphMermaid.text(
        plan, included: .all(taskCount: plan.taskCount), status: status, isWhole: false
      ).bytes, as: UTF8.self)
  }

  private func ended() throws -> RunStatus {
    var run = ReportFixture(try plan())
    run.tell(.start, "fetch")
    run.tell(.success, "fetch")
    run.tell(.start, "build")
    run.tell(.failure, "build", .exit(1))
    run.tell(.skip(.upstream(run.plan.task(named: "build") ?? .none)), "test", attempt: 0)
    run.tell(.start, "lint")
    return try run.status(isHeld: true)
  }

  @Test func `a text has what needs a task behind an arrow, and what needs several by itself`()
    throws
  {
    let lines = text(graph(try plan())).split(separator: "\n").map(String.init)
    #expect(lines.contains("fetch (download) → build → test"), "\(lines)")
    #expect(lines.contains("pack  after build, lint"), "\(lines)")
    #expect(lines.contains("lint, clean (finally)"), "\(lines)")
  }

  @Test func `a list of tasks that need nothing is not indented where it goes on`() throws {
    let plan = try ViewFixture.plan((0..<10).map { ("a-task-\($0)", []) })
    let lines = text(graph(plan), columns: 40).split(separator: "\n").map(String.init).dropFirst()
    #expect(lines.count > 2)
    #expect(lines.allSatisfy { $0.hasPrefix("a-task-") }, "\(lines)")
  }

  @Test func `where a run stands is told by signs and words too`() throws {
    let status = try ended()
    let drawn = graph(status.plan, status)
    let lines = text(drawn)
    #expect(lines.contains("✔ fetch (download) → ✘ build → – test"), "\(lines)")
    #expect(lines.contains("▶ lint"), "\(lines)")
    for (word, meaning) in [("✔", "succeeded"), ("✘", "failed"), ("–", "skipped")] {
      #expect(lines.contains("\(word) \(meaning)"), "\(lines)")
    }
    let dot = dot(drawn)
    #expect(dot.contains("[label=\"build\\nfailed\", "), "\(dot)")
    #expect(dot.contains("penwidth=3, peripheries=2"), "\(dot)")
    let mermaid = mermaid(status.plan, status)
    #expect(mermaid.contains("(\"build<br>failed\"):::bad\n"), "\(mermaid)")
    #expect(mermaid.contains("classDef bad fill:"), "\(mermaid)")
    #expect(!mermaid.contains("classDef odd"), "\(mermaid)")
  }

  @Test func `no name is more than a name`() throws {
    let hostile = [
      "end", "a\"]; x -> y; z[\"", "\\\\N\\\"", "&quot;#quot;", "</svg><script>", "%%{init: 1}%%",
      "a\nb\rc", "x\u{1b}[31m\u{202e}y", "{{subgraph}}", "\u{FFFE}\u{FFFF}",
    ]
    let plan = try ViewFixture.plan(
      hostile.map { ($0, []) } + [("last", hostile)])
    let dot = dot(graph(plan))
    // Each node and each need has one line, and nothing else has any.
    let lines = dot.split(separator: "\n")
    #expect(lines.count { $0.hasPrefix("  t") && $0.contains(" [label=") } == hostile.count + 1)
    #expect(lines.count { $0.contains(" -> t") } == hostile.count, "\(dot)")
    for line in lines where line.hasPrefix("  t") {
      // A quoted string ends with the first quote without a backslash of its own.
      var quotes = 0
      var isEscaped = false
      for scalar in line.unicodeScalars {
        if isEscaped {
          isEscaped = false
        } else if scalar == "\\" {
          isEscaped = true
        } else if scalar == "\"" {
          quotes += 1
        }
      }
      #expect(quotes % 2 == 0 && line.hasSuffix(";"), "\(line)")
    }
    let mermaid = mermaid(plan)
    for line in mermaid.split(separator: "\n") where line.hasPrefix("t") && !line.contains("-->") {
      #expect(line.count { $0 == "\"" } == 2, "\(line)")
      #expect(!line.contains("<s") && !line.contains("%%") && !line.contains("{init"), "\(line)")
    }
    for text in [dot, mermaid, text(graph(plan))] {
      #expect(!text.unicodeScalars.contains { $0 == "\u{1b}" || $0 == "\u{202e}" || $0 == "\r" })
    }
  }

  @Test func `no icon of Mermaid's stands in place of a name`() throws {
    let plan = try ViewFixture.plan([("fa:fa-car", []), ("a:fab", [])])
    #expect(mermaid(plan).contains("(\"fa#58;#8288;fa-car\")"))
    #expect(mermaid(plan).contains("(\"a#58;fab\")"))
  }

  @Test(arguments: [10, 600, 5000])
  func `mermaid is given no more than it takes, and what is left out is counted`(count: Int) throws
  {
    let plan = try ViewFixture.plan(
      (0..<count).map { index in
        (
          "group\(index % 7)/task-with-a-long-name-\(index)",
          index < 3
            ? []
            : [
              "group\((index - 1) % 7)/task-with-a-long-name-\(index - 1)",
              "group\((index - 3) % 7)/task-with-a-long-name-\(index - 3)",
            ]
        )
      })
    let (drawn, bytes) = GraphMermaid.text(
      plan, included: .all(taskCount: plan.taskCount), status: nil, isWhole: false)
    #expect(bytes.count <= 50_000)
    #expect(
      String(decoding: bytes, as: UTF8.self).split(separator: "\n").count { $0.contains("-->") }
        <= 500)
    #expect(drawn.nodes.reduce(0) { $0 + $1.taskCount } == count)
    #expect((drawn.foldingNote == nil) == (count == 10), "\(drawn.foldingNote ?? "")")
  }

  @Test(arguments: [20, 40, 80, 200])
  func `a text keeps to the columns of the terminal`(columns: Int) throws {
    let plan = try ViewFixture.plan(
      [("root", [])] + (0..<60).map { ("child-\($0)-with-a-name", ["root"]) }
        + [("all", (0..<60).map { "child-\($0)-with-a-name" })])
    // The heading is one line, which a terminal may wrap.
    for line in text(graph(plan, nil, .text), columns: columns).split(separator: "\n").dropFirst() {
      #expect(TextWidth.of(String(line)) <= columns, "\(line)")
    }
  }
}
