import OpflowManifest
import OpflowPlan
import Testing

/// Manifests that would cost minutes or gigabytes if the work of the reader grew with the square of
/// its input. The tests count errors and bytes. The time limit only catches quadratic work: it is
/// generous, because other processes also use the machine.
@Suite(.timeLimit(.minutes(30))) struct BoundedWorkTests {
  private func refused(_ bytes: [UInt8]) throws -> ManifestError {
    try #require(throws: ManifestError.self) { try check(bytes: bytes) }
  }

  private func refused(_ text: String) throws -> ManifestError { try refused(Array(text.utf8)) }

  private func first(_ error: ManifestError) -> String {
    error.diagnostics.first.map { "\($0.line):\($0.column): \($0.message)" } ?? ""
  }

  private static func tags(_ lineBreak: String) -> String {
    (0..<150).map { "%TAG !a\($0)! b\(lineBreak)" }.joined()
  }

  @Test(arguments: [
    ("\u{FEFF}" + tags("\n"), "101:1"), (tags("\r"), "1:1291"), (tags("\u{85}"), "1:1291"),
    (tags("\u{2028}"), "1:1291"), ("a: b\n...\n" + tags("\n"), "103:1"),
    ("---\n...\n# no\n" + tags("\r\n"), "104:1"),
  ])
  func `directives are counted wherever libyaml reads them as such`(
    _ text: String, _ place: String
  ) throws {
    #expect(
      first(try refused(text))
        == "\(place): the manifest has more than a hundred `%` directives")
  }

  @Test func `a tag stands for no more than a line`() throws {
    let prefix = String(repeating: "x", count: 4_000_000)
    let tags = String(repeating: "!a!b c, ", count: 3000)
    #expect(
      first(try refused("%TAG !a! \(prefix)\n---\ntasks: [\(tags)]\n"))
        == "1:1: a `%` directive is longer than a thousand bytes")
  }

  @Test func `a directive within a document is no directive`() throws {
    let lines = String(repeating: "      %TAG !a! b\n", count: 300)
    #expect(try plan("tasks:\n  a:\n    run: |\n\(lines)").taskCount == 1)
  }

  @Test func `keys that are collections cost no more each than the first`() throws {
    let text = "tasks: { a: { run: x, " + String(repeating: "{}: 1, ", count: 20_000) + "} }"
    #expect(try refused(text).errorCount == 20_000)
  }

  @Test func `expressions of a folded text are found again from the one before`() throws {
    let text = "tasks:\n  a:\n    run: >\n" + String(repeating: "      ${{ x }}\n", count: 5000)
    let error = try refused(text)
    #expect(error.errorCount == 5000)
    #expect(error.diagnostics.map(\.line) == Array(4..<54))
    #expect(error.diagnostics.allSatisfy { $0.column == 11 })
  }

  @Test func `names are looked for among a million as long as somebody reads it`() throws {
    var text = "tasks:\n"
    // Not its own name, which is never offered.
    for index in 0..<13_000 {
      text += "  task\(index): { run: x, needs: tusk\((index + 1) % 13_000) }\n"
    }
    let error = try refused(text)
    #expect(error.errorCount == 13_000)
    #expect(error.diagnostics.first?.help?.hasPrefix("did you mean `task") == true)
    #expect(error.diagnostics.last?.help == nil)
  }

  @Test func `variables that are not there are looked for among a million likewise`() throws {
    var text = "vars:\n"
    for index in 0..<13_000 { text += "  v\(index): \"${{ vars.v\(index + 1) }}\"\n" }
    #expect(try refused(text + "tasks: { a: { run: x } }\n").errorCount == 13_000)
  }

  @Test func `dependency cycles by the thousand are counted`() throws {
    var text = "tasks:\n"
    for index in 0..<20_000 { text += "  t\(index): { run: x, needs: t\(index ^ 1) }\n" }
    let error = try refused(text)
    #expect(error.errorCount == 10_000)
    #expect(error.diagnostics.count == 50)
  }

  @Test func `of a line as long as the manifest only what is shown is kept`() throws {
    var text = "tasks: { "
    for index in 0..<20_000 { text += "t\(index): { run: ä, foo: 1 }, " }
    let error = try refused(text + "}\n")
    #expect(error.errorCount == 20_000)
    let characters = Array(text.unicodeScalars)
    for diagnostic in error.diagnostics {
      #expect(diagnostic.line == 1)
      #expect(characters[(diagnostic.column - 1)...].prefix(3).elementsEqual("foo".unicodeScalars))
      #expect(diagnostic.sourceLine.utf8.count < 1000)
      let behind = diagnostic.sourceLine.unicodeScalars.dropFirst(diagnostic.sourceColumn)
      #expect(behind.prefix(3).elementsEqual("foo".unicodeScalars))
    }
    let shown = DiagnosticRenderer(isColored: false).render(error)
    #expect(shown.utf8.count < 50_000)
  }

  @Test func `an error about a name of megabytes quotes its beginning and its end`() throws {
    let name = String(repeating: "n", count: 4_000_000)
    let error = try refused("tasks: { a: { run: x, ? \(name)z : 1 } }\n")
    let message = try #require(error.diagnostics.first).message
    #expect(message.utf8.count < 1000)
    #expect(message.hasPrefix("unknown key `nnn"))
    #expect(message.hasSuffix("nz` in a task"))
  }

  @Test(arguments: [7, 8, 9, 10, 15, 16, 17, 40, 5000])
  func `each of many entries is found, and a duplicate is reported once`(
    _ count: Int
  ) throws {
    var text = "tasks:\n  t0: { run: x }\n"
    for index in 1..<count { text += "  t\(index): { run: x, needs: t\(index - 1) }\n" }
    text += "  last: { run: x, needs: [t\(count - 1), t3] }\n"
    let plan = try plan(text)
    #expect(plan.needTargets.dropFirst(count - 1).elementsEqual([Int32(count) - 1, 3]))
    #expect(plan.needTargets.prefix(count - 1).elementsEqual((0..<Int32(count - 1))))
    #expect(
      errors(in: text + "  t3: { run: x }\n  t0: { run: x }\n") == [
        "\(count + 3):3: the key `t3` occurs twice in this map",
        "\(count + 4):3: the key `t0` occurs twice in this map",
      ])
  }

  private static let many = 40_000

  private static func lines(_ line: (Int) -> String) -> String {
    (0..<many).map { "      \(line($0))\n" }.joined()
  }

  @Test(arguments: [
    "  a: { run: x }\n  b:\n    run: x\n    needs: [a]\n    env:\n"
      + BoundedWorkTests.lines { "V\($0): \"${{ needs.a.x }}\"" },
    "  a: { run: x }\n  b:\n    needs: [a]\n    run:\n"
      + BoundedWorkTests.lines { _ in "- \"${{ needs.a.x }}\"" },
    BoundedWorkTests.lines { "a\($0): { run: x }" }.replacing("      ", with: "  ")
      + "  b:\n    run: x\n    needs:\n"
      + BoundedWorkTests.lines { "- a\($0)" } + "    env:\n"
      + BoundedWorkTests.lines { "V\($0): \"${{ needs.a\($0).x }}\"" },
  ])
  func `values of other tasks cost no more each than the first`(_ tasks: String) throws {
    let plan = try plan("tasks:\n" + tasks)
    #expect(plan.lateItems(try plan.id("b")).count == Self.many)
  }

  @Test func `secrets of a task cost no more each than the first`() throws {
    let declared = "secrets:\n" + Self.lines { "S\($0): { env: S\($0) }" }
    let plan = try plan(
      declared + "tasks:\n  a:\n    run: x\n    env:\n" + Self.lines { "V\($0): x" }
        + "    secrets:\n" + Self.lines { "- S\($0)" } + Self.lines { "- S\($0)" })
    #expect(plan.texts(.secrets, of: try plan.id("a")).count == Self.many)
  }

  @Test func `variables over others, and amounts of resources, likewise`() throws {
    let resources = "resources:\n" + Self.lines { "r\($0): 4" }
    let variables = Self.lines { "V\($0): x" }
    let plan = try plan(
      "env:\n" + variables + resources + "tasks:\n  a:\n    run: x\n    env:\n"
        + Self.lines { "V\($0 * 2): y" } + "    resources:\n" + Self.lines { "r\($0): 1" })
    let task = try plan.id("a")
    let list = plan.environmentList(plan.record(task).environment)
    #expect(list.count == Self.many * 3 / 2)
    #expect(list.filter { plan.string($0.value) == "y" }.count == Self.many)
    #expect(plan.demandList(plan.demand[task.index]).count == Self.many + 1)
  }

  @Test func `columns of a table and axes cost no more each than the first`() throws {
    let names = (0..<Self.many).map { "k\($0)" }
    let table = names.joined(separator: "\t") + "\n" + names.joined(separator: "\t") + "\n"
    let ofTable = try plan(
      "tasks: { a: { run: 'echo ${{ matrix.k39999 }}', matrix: { rows: t.tsv } } }\n",
      files: ["t.tsv": table])
    #expect(ofTable.ids == ["a[k0=k0]"])
    #expect(try ofTable.scriptText("a[k0=k0]") == "echo k39999")
    let ofAxes = try plan(
      "tasks:\n  a:\n    run: x\n    matrix:\n" + Self.lines { "k\($0): [v]" })
    #expect(ofAxes.taskCount == 1)
    let rows = "{ \(names.map { "\($0): v" }.joined(separator: ", ")) }"
    #expect(
      try refused(
        "tasks: { a: { run: x, matrix: { rows: [\(rows)], exclude: [{ l: v }] } } }\n"
      ).diagnostics.first?.help?.hasSuffix(" … and 39980 more") == true)
  }

  @Test func `the environment of a file is once in a plan, apart from the variables of each task`()
    throws
  {
    func bytes(_ tasks: (Int) -> String) throws -> Int {
      try compile(
        "env:\n" + Self.lines { "V\($0): x" } + "tasks:\n"
          + (0..<1000).map { "  t\($0): { run: x\(tasks($0)) }\n" }.joined()
      ).planBytes.count
    }
    let more = try bytes { ", env: { OWN: '\($0)' }" } - bytes { _ in "" }
    #expect((1..<200_000).contains(more))
  }

  @Test func `the environment of defaults with a task ID is also in a plan once`() throws {
    let compiled = try compile(
      "defaults:\n  env:\n    ID: ${{ task.id }}\n" + (0..<1000).map { "    V\($0): x\n" }.joined()
        + "tasks:\n" + (0..<1000).map { "  t\($0): { run: x }\n" }.joined())
    #expect(compiled.planBytes.count < 1_000_000)
    let plan = try Plan(copying: compiled.planBytes)
    #expect(try plan.environmentTexts("t7").prefix(2) == ["ID=t7", "V0=x"])
  }

  @Test(arguments: [
    "a: { run: 'echo ${{ matrix.n }} ${{ vars.long }}', matrix: { n: { range: [1, 2000] } } }",
    "a: { run: [x, '${{ matrix.n }}${{ vars.long }}'], matrix: { n: { range: [1, 2000] } } }",
    "a: { run: x, desc: '${{ matrix.n }}${{ vars.long }}', matrix: { n: { range: [1, 2000] } } }",
    """
    a: { run: x, env: { A: '${{ matrix.n }}${{ vars.long }}' }, \
    matrix: { n: { range: [1, 2000] } } }
    """,
    "a: { run: x, matrix: { n: { range: [1, 2000] }, m: ['${{ vars.long }}'] } }",
  ])
  func `a long string in each of many matrix tasks is refused before all are made`(
    _ task: String
  ) throws {
    let long = String(repeating: "x", count: 300_000)
    let text = "vars: { long: '\(long)' }\ntasks:\n  \(task)\n"
    let error = try #require(throws: ManifestError.self) { _ = try compile(text) }
    let checked = #expect(throws: ManifestError.self) { _ = try check(bytes: Array(text.utf8)) }
    #expect(checked == error)
    #expect(
      ["3:3: the plan is too large", "3:3: the values of 2000 matrix tasks take too much memory"]
        .contains(first(error)))
  }

  @Test func `many matrix tasks of a few kilobytes are accepted, and a long one among short ones`()
    throws
  {
    let script = String(repeating: "x", count: 4000)
    #expect(
      try plan(
        "tasks: { a: { run: '\(script) ${{ matrix.n }}', matrix: { n: { range: [1, 20000] } } } }\n"
      ).taskCount == 20_000)
    let long = String(repeating: "y", count: 3_000_000)
    #expect(
      try plan(
        "tasks:\n  a:\n    run: 'echo ${{ matrix.v }}'\n    matrix: { v: { lines: v } }\n",
        files: ["v": long + "\n" + (0..<1000).map { "v\($0)\n" }.joined()]
      ).taskCount == 1001)
  }

  @Test func `an axis of a million values with many other axes is refused before it is made`()
    throws
  {
    let error = try refused(
      "tasks:\n  a:\n    run: x\n    matrix:\n      n: { range: [1, 1000000] }\n"
        + Self.lines { "k\($0): [v]" })
    #expect(first(error) == "2:3: the values of 1000000 matrix tasks take too much memory")
  }

  @Test func `files that join see a variable of the first where they have none`() throws {
    let plan = try plan(
      "vars: { A: 1, B: 2 }\ninclude: [one.yaml, { path: two.yaml, vars: { B: 4 } }]\n"
        + "tasks: { a: { run: '${{ vars.A }}${{ vars.B }}' } }\n",
      files: [
        "one.yaml":
          "vars: { B: 2, C: 3 }\ntasks: { b: { run: '${{ vars.A }}${{ vars.B }}${{ vars.C }}' } }",
        "two.yaml":
          "vars: { D: '${{ vars.A }}' }\ntasks: { c: { run: '${{ vars.B }}${{ vars.D }}' } }",
      ])
    #expect(try ["a", "b", "c"].map { try plan.scriptText($0) } == ["12", "123", "41"])
  }

  @Test func `anchors by the hundred thousand are found at once`() throws {
    var text = ""
    for index in 0..<20_000 { text += "x-\(index): &a\(index) 1\n" }
    for index in 0..<20_000 { text += "x-\(index)-b: *a\(index)\n" }
    #expect(try plan(text + "tasks: { a: { run: x } }\n").taskCount == 1)
  }
}
