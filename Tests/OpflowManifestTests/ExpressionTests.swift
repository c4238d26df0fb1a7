import OpflowManifest
import OpflowPlan
import Testing

struct ExpressionTests {
  /// What an expression gives, seen through a script.
  private func value(
    _ expression: String, environment: [(name: String, value: String)] = []
  ) throws -> String {
    let quoted = expression.replacing("'", with: "''")
    let plan = try plan(
      "vars: { ver: 1.10, empty: '', no: false, name-2: x }\nenv: { TOP: set }\n"
        + "tasks: { a: { run: '[${{ \(quoted) }}]' } }", environment: environment)
    return String(try plan.scriptText("a").dropFirst().dropLast())
  }

  @Test(arguments: [
    ("vars.ver", "1.10"), ("vars.name-2", "x"), ("task.id", "a"), ("run.id", "run-1"),
    ("'text'", "text"), ("\"text\"", "text"), ("'it''s'", "it's"), ("42", "42"), ("true", "true"),
    ("env.TOP", "set"), ("env.CI", "yes"), ("env.UNSET", ""),
    ("vars.ver == '1.10'", "true"), ("vars.ver == '1.1'", "false"), ("vars.ver != '1.1'", "true"),
    ("1 == '1'", "true"), ("!vars.empty", "true"), ("!vars.no", "true"), ("!!vars.ver", "true"),
    ("vars.empty || 'default'", "default"), ("vars.ver || 'default'", "1.10"),
    ("vars.no && 'x'", "false"), ("vars.ver && 'x'", "x"),
    ("'a' == 'a' && 'b' == 'c' || 'z'", "z"), ("'' || '' && 'x'", ""),
    ("!('a' == 'b')", "true"), ("!'a' == 'b'", "false"), ("('a' || 'b') == 'a'", "true"),
    ("'a' == 'b' == 'false'", "true"), ("'}}'", "}}"), ("  vars.ver  ", "1.10"),
  ])
  func `gives its value`(_ expression: String, _ expected: String) throws {
    #expect(try value(expression, environment: [("CI", "yes"), ("TOP", "inherited")]) == expected)
  }

  /// libyaml gets the bytes 16 KiB at a time.
  @Test func `the only one of a manifest is found at each end of a block of libyaml`() throws {
    let text = "\ntasks: { a: { run: 'x ${{ task.id }}' } }"
    for padding in (16384 - 40)...16384 {
      let comment = "#" + String(repeating: "-", count: padding - 1)
      #expect(try plan(comment + text).scriptText("a") == "x a", "\(padding)")
    }
  }

  @Test(arguments: ["\\x24{{ task.id }}", "$\\\n    {{ task.id }}", "$\\x7b{ task.id }}"])
  func `the only one of a manifest is found if escapes or line breaks hide it`(
    _ script: String
  ) throws {
    #expect(try plan("tasks:\n  a:\n    run: \"\(script)\"\n").scriptText("a") == "a")
  }

  @Test func `everything else of a string reaches the shell untouched`() throws {
    let plan = try plan(
      """
      tasks:
        a:
          run: |
            echo "$HOME" ${HOME:-x} $(date) `id` {{ x }} $${{ literal }} ${{ 'a' }}${{ 'b' }} $
            echo $$ ${
      """)
    #expect(
      try plan.scriptText("a") == """
        echo "$HOME" ${HOME:-x} $(date) `id` {{ x }} ${{ literal }} ab $
        echo $$ ${
        """)
  }

  @Test func `expressions work in every value and decide its type`() throws {
    let plan = try plan(
      """
      vars: { n: 2, t: 5s, who: b, flag: true, sub: dir, prio: high }
      name: x-${{ vars.n }}
      max_parallel: ${{ vars.n }}
      tasks:
        a:
          run: [echo, "${{ vars.n }}"]
          needs: ["${{ vars.who }}"]
          timeout: ${{ vars.t }}
          retry: ${{ vars.n }}
          priority: ${{ vars.prio }}
          allow_failure: ${{ vars.flag }}
          dir: ${{ vars.sub }}/x
          env: { A: "${{ task.id }}${{ vars.n }}" }
          resources: { cpu: "${{ vars.n }}" }
          tags: ["${{ vars.who }}"]
        b: { run: x }
      """)
    let task = try plan.id("a")
    #expect(plan.string(plan.manifest.name) == "x-2")
    #expect(plan.manifest.maxParallel == 2)
    #expect(try plan.wordTexts("a") == ["echo", "2"])
    #expect(try plan.needTexts("a") == ["b on success"])
    #expect(plan.policy(task).timeoutMilliseconds == 5000)
    #expect(plan.policy(task).retryMax == 2)
    #expect(plan.priority[task.index] == 4)
    #expect(plan.flags(task) == .allowAnyFailure)
    #expect(try plan.directoryText("a") == "/data/project/dir/x")
    #expect(try plan.environmentTexts("a") == ["A=a2"])
    #expect(try plan.demandTexts("a") == ["cpu=2"])
  }

  @Test(arguments: [
    ("env.CI == 'true'", true), ("${{ env.CI == 'true' }}", true), ("env.CI != 'true'", false),
    ("true", true), ("false", false), ("${{ env.UNSET }}", false), ("\"'x'\"", true),
    ("'\"\" || false'", false), ("vars.on", true),
  ])
  func `a condition decides whether the task runs`(_ condition: String, _ runs: Bool) throws {
    let plan = try plan(
      "vars: { on: 1 }\ntasks:\n  a:\n    run: x\n    if: \(condition)\n",
      environment: [("CI", "true")])
    #expect(plan.flags(try plan.id("a")).contains(.conditionFalse) == !runs)
  }

  @Test func `--set wins over vars, also for those that are made of them`() throws {
    let plan = try plan(
      "vars: { a: 1, b: 'x${{ vars.a }}' }\ntasks: { t: { run: 'echo ${{ vars.b }}' } }",
      variables: [("a", "2"), ("a", "3")])
    #expect(try plan.scriptText("t") == "echo x3")
  }

  @Test func `--set of a name that vars does not have is an error`() throws {
    let error = #expect(throws: ManifestError.self) {
      try compile("vars: { ver: 1 }\ntasks: { t: { run: x } }", variables: [("vre", "2")])
    }
    let diagnostic = try #require(error?.diagnostics.first)
    #expect(diagnostic.file == "--set vre")
    #expect(diagnostic.line == 0)
    #expect(diagnostic.message == "the manifest has no variable `vre`")
    #expect(diagnostic.help == "did you mean `ver`?")
  }

  @Test func `top-level env sees the inherited one, and tasks see both`() throws {
    let plan = try plan(
      """
      env: { PATH: "/extra:${{ env.PATH }}", TWICE: "${{ env.PATH }}" }
      tasks: { a: { run: "${{ env.PATH }} ${{ env.HOME }}" } }
      """, environment: [("PATH", "/bin"), ("HOME", "/root")])
    #expect(try plan.environmentTexts("a") == ["PATH=/extra:/bin", "TWICE=/bin"])
    #expect(try plan.scriptText("a") == "/extra:/bin /root")
  }

  @Test func `the variables that were read from the inherited environment are listed`() throws {
    let compiled = try compile(
      """
      env: { LANG: C }
      tasks: { a: { run: "${{ env.LANG }} ${{ env.CI }} ${{ env.NO }} ${{ env.CI }}" } }
      """, environment: [("CI", "true"), ("LANG", "de"), ("OTHER", "x")])
    #expect(compiled.environmentRead.map(\.name) == ["CI", "NO"])
    #expect(compiled.environmentRead.map(\.value) == ["true", nil])
  }

  @Test func `a value that grows without bound is an error`() {
    var text = "vars:\n  v0: 0123456789\n"
    for index in 1...40 {
      text += "  v\(index): ${{ vars.v\(index - 1) }}${{ vars.v\(index - 1) }}\n"
    }
    text += "tasks: { a: { run: x } }\n"
    #expect(errors(in: text).first == "21:23: the value is larger than 4 MiB")
  }
}
