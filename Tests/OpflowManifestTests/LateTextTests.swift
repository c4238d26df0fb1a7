import OpflowPlan
import Testing

/// Expressions that read values of other tasks: the part that stays in a plan, and the result.
struct LateTextTests {
  /// The result of the variable `V` of a task `b` that needs `a`.
  private func value(
    _ text: String, _ values: [String: String], variables: [(name: String, value: String)] = []
  ) throws -> LateResult {
    let plan = try plan(
      """
      vars: { plain: p, odd: "it's ${{ 'x' }} $" , empty: "" }
      tasks:
        a: { run: x }
        b: { needs: [a], run: x, env: { V: \(quoted(text)) } }
      """, variables: variables)
    let b = try plan.id("b")
    let item = try #require(plan.lateItems(b).first)
    #expect(item.slot == .environment)
    return plan.evaluate(item.program, of: b) { need, name in
      values[String(decoding: name, as: UTF8.self)].map { .text(Array($0.utf8)) } ?? .absent
    }
  }

  private func quoted(_ text: String) -> String {
    "'" + text.replacing("'", with: "''") + "'"
  }

  private func text(_ text: String, _ values: [String: String]) throws -> String? {
    try value(text, values).text.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func `a value is filled in where it stands`() throws {
    #expect(try text("${{ needs.a.v }}", ["v": "1"]) == "1")
    #expect(try text("<${{ needs.a.v }}-${{ needs.a.w }}>", ["v": "1", "w": "2"]) == "<1-2>")
    #expect(try text("${{ needs.a.v }}${{ needs.a.v }}", ["v": "ab"]) == "abab")
  }

  @Test func `an expression in a value is not evaluated`() throws {
    #expect(
      try text("${{ needs.a.v }}", ["v": "${{ vars.x }} $(id) 'q'\n"])
        == "${{ vars.x }} $(id) 'q'\n")
  }

  @Test func `what is known before is filled in before, whatever it holds`() throws {
    #expect(
      try text("${{ vars.plain }}/${{ needs.a.v }}/${{ vars.odd }}${{ needs.a.v }}", ["v": "1"])
        == "p/1/it's x $1")
    #expect(try text("$${{ vars.x }} ${{ needs.a.v }}", ["v": "1"]) == "${{ vars.x }} 1")
    #expect(try text("${{ vars.empty }}${{ needs.a.v }}", ["v": "1"]) == "1")
    #expect(try text("${{ task.id }} ${{ needs.a.v }}", ["v": "1"]) == "b 1")
  }

  @Test(arguments: [
    ("needs.a.v == 'x'", "x", "true"), ("needs.a.v == 'x'", "y", "false"),
    ("needs.a.v != 'x'", "y", "true"), ("!needs.a.v", "false", "true"),
    ("!!needs.a.v", "x", "true"),
    ("needs.a.v && 'yes'", "x", "yes"), ("needs.a.v && 'yes'", "", ""),
    ("needs.a.v || 'no'", "", "no"), ("needs.a.v || 'no'", "x", "x"),
    ("(needs.a.v == 'x' || needs.a.v == 'y') && vars.plain", "y", "p"),
    ("needs.a.v =~ 'refs/tags/v*'", "refs/tags/v1", "true"),
    ("needs.a.v =~ 'refs/tags/v?'", "refs/tags/v12", "false"),
    ("'it''s' == needs.a.v", "it's", "true"), ("needs.a.v == 3.10", "3.10", "true"),
    ("needs.a.v == true", "true", "true"),
  ])
  func `operators are those of every expression`(
    _ expression: String, _ value: String, _ expected: String
  ) throws {
    #expect(try text("${{ \(expression) }}", ["v": value]) == expected)
  }

  @Test(arguments: [
    "needs.a.v", "needs.a.v == 'x'", "!needs.a.v", "needs.a.v && 'x'", "'x' && needs.a.v",
    "needs.a.v || needs.a.w", "needs.a.v =~ '*'",
  ])
  func `a missing value makes missing what is made of it`(_ expression: String) throws {
    guard case .lacking = try value("<${{ \(expression) }}>", [:]) else {
      Issue.record("\(expression) has a value")
      return
    }
  }

  @Test(arguments: [
    ("needs.a.v || 'x'", "x"), ("needs.a.v || needs.a.w || 'x'", "x"), ("'' && needs.a.v", ""),
    ("'x' || needs.a.v", "x"), ("(needs.a.v || 'x') == 'x'", "true"),
  ])
  func `a missing value has a default`(_ expression: String, _ expected: String) throws {
    #expect(try text("${{ \(expression) }}", [:]) == expected)
  }

  @Test func `both are named where one is missing`() throws {
    let plan = try plan(
      "tasks: { a: { run: x }, b: { needs: a, run: x, env: { V: '${{ needs.a.v }}' } } }")
    let b = try plan.id("b")
    let item = try #require(plan.lateItems(b).first)
    let result = plan.evaluate(item.program, of: b) { _, _ in .absent }
    guard case .lacking(let missing) = result else {
      Issue.record("it is not missing")
      return
    }
    #expect(missing.text(plan) == "`needs.a.v` is missing: task `a` did not set the value `v`")
  }

  @Test(arguments: ["{ n: [1, 2] }", "{ n: [1] }", "{ n: { glob: none-such-* } }"])
  func `a value of a matrix without a successful task is empty`(
    _ matrix: String
  ) throws {
    let plan = try plan(
      """
      tasks: { a: { matrix: \(matrix), run: x }, \
      b: { needs: a, run: x, env: { V: '${{ needs.a.v }}' } } }
      """
    )
    let b = try plan.id("b")
    let program = try #require(plan.lateItems(b).first).program
    #expect(plan.evaluate(program, of: b) { _, _ in .noSuccess } == .text([]))
    guard case .lacking = plan.evaluate(program, of: b, find: { _, _ in .absent }) else {
      Issue.record("a name that no leg has is not missing")
      return
    }
  }

  @Test func `an id may have any letter that ids have`() throws {
    let plan = try plan(
      """
      tasks:
        x.y-z+1@2:3/4_5: { run: x }
        b: { needs: [x.y-z+1@2:3/4_5], run: [echo, "${{ needs.x.y-z+1@2:3/4_5.v||'d' }}"] }
      """)
    let b = try plan.id("b")
    #expect(plan.valueSources(of: b) == [try plan.id("x.y-z+1@2:3/4_5")])
    #expect(try plan.wordTexts("b") == ["echo", "${{ needs.x.y-z+1@2:3/4_5.v || 'd' }}"])
  }

  @Test func `who names the folder of what its needs left reads all of them`() throws {
    let plan = try plan(
      """
      tasks:
        a: { run: x }
        m: { matrix: { k: [1, 2] }, run: x }
        b: { needs: [a, m], run: 'cat "$OPFLOW_NEEDS"/*' }
        c: { needs: [a], run: [sh, -c, 'echo $OPFLOW_NEED; echo $OPFLOW_VALUESX'] }
        d: { run: 'cat $OPFLOW_NEEDS/x' }
      """)
    let b = try plan.id("b")
    #expect(plan.lateItems(b).map(\.slot) == [.folder])
    #expect(
      plan.valueSources(of: b) == [try plan.id("a"), try plan.id("m[k=1]"), try plan.id("m[k=2]")])
    #expect(plan.flags(b).contains(.readsValues))
    for need in ["a", "m[k=1]", "m[k=2]"] {
      #expect(plan.flags(try plan.id(need)).contains(.leavesValues))
    }
    #expect(plan.lateItems(try plan.id("c")).isEmpty)
    #expect(plan.flags(try plan.id("c")).contains(.leavesValues))
    #expect(plan.lateItems(try plan.id("d")).isEmpty)
    let changed = [TaskValue(name: "v", text: Array("2".utf8), keepsText: false)]
    let none = plan.valueDigest(of: b) { _ in [] }
    let some = plan.valueDigest(of: b) { $0 == plan.task(named: "a") ? changed : [] }
    #expect(none != some)
  }

  @Test func `a value may stand in each place that takes one`() throws {
    let plan = try plan(
      """
      tasks:
        a: { run: x }
        b: { needs: a, if: needs.a.go == 'yes', env: { A: '${{ needs.a.v }}' }, run: ['${{ needs.a.p }}'] }
        c: { needs: a, download: { url: 'http://h/${{ needs.a.v }}', sha256: '${{ needs.a.h }}', to: f } }
      """)
    #expect(plan.lateItems(try plan.id("b")).map(\.slot) == [.condition, .environment, .word])
    #expect(plan.lateItems(try plan.id("c")).map(\.slot) == [.url, .sha256])
    #expect(plan.flags(try plan.id("b")).contains(.lateCondition))
    #expect(!plan.flags(try plan.id("b")).contains(.conditionFalse))
    #expect(plan.flags(try plan.id("a")).isSuperset(of: [.leavesValues, .decidesOthers]))
    #expect(!plan.flags(try plan.id("b")).contains(.leavesValues))
  }

  @Test func `a task that speaks of the folder has one`() throws {
    let plan = try plan(
      """
      tasks:
        a: { run: 'echo x > "$OPFLOW_VALUES/x"' }
        b: { run: [tool, --values, OPFLOW_VALUES] }
        c: { run: echo VALUES }
      """)
    #expect(plan.flags(try plan.id("a")).contains(.leavesValues))
    #expect(plan.flags(try plan.id("b")).contains(.leavesValues))
    #expect(!plan.flags(try plan.id("c")).contains(.leavesValues))
  }

  @Test func `a definition changes with the expression`() throws {
    func fingerprint(_ expression: String, _ name: String = "p") throws -> Fingerprint {
      let plan = try plan(
        """
        tasks:
          a: { run: x }
          b: { needs: a, run: x, env: { V: "${{ \(expression) }}" } }
        """, environment: [("NAME", name)])
      return plan.fingerprint(try plan.id("b"))
    }
    #expect(try fingerprint("needs.a.v") != fingerprint("needs.a.w"))
    #expect(try fingerprint("needs.a.v || env.NAME") != fingerprint("needs.a.v || env.NAME", "q"))
    #expect(try fingerprint("needs.a.v||env.NAME") == fingerprint("needs.a.v  ||  env.NAME"))
  }
}
