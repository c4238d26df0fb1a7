import Testing

/// `if`, `vars`, `--set` and the expressions in strings.
struct ConditionTests {
  @Test func `a false condition skips the task and its dependents run`() throws {
    let place = try Workplace(
      """
      tasks:
        off: { if: "false", run: echo off >> trace }
        next: { needs: [off], run: echo next >> trace }
      """)
    try place.opflow("run")
    #expect(place.lines() == ["next"])
    let status = try place.status()
    #expect(status["off"]?.state == "skipped")
    #expect(status["off"]?.reason?.contains("if") == true)
  }

  @Test(arguments: [
    ("env.MODE == 'fast'", true),
    ("env.MODE == 'slow'", false),
    ("env.MODE != 'slow'", true),
    ("${{ env.MODE == 'fast' }}", true),
    ("env.MODE", true),
    ("env.NOT_SET_ANYWHERE", false),
    ("!env.NOT_SET_ANYWHERE", true),
    ("vars.no", false),
    ("vars.empty", false),
    ("vars.zero", true),
    ("vars.yes && env.MODE == 'fast'", true),
    ("vars.no || vars.yes", true),
    ("vars.no && vars.yes || vars.yes", true),
    ("vars.no && (vars.yes || vars.yes)", false),
    ("!(vars.no || vars.empty)", true),
    ("'1.0' == '1'", false),
    ("task.id == 'it'", true),
    ("vars.version == '3.10'", true),
  ])
  func `conditions compare text`(condition: String, holds: Bool) throws {
    let place = try Workplace(
      """
      vars: { "no": "false", "yes": "true", empty: "", zero: "0", version: 3.10 }
      tasks:
        it: { if: "\(condition)", run: echo ran >> trace }
      """)
    try place.opflow("run", environment: ["MODE": "fast"])
    #expect(place.lines() == (holds ? ["ran"] : []))
  }

  @Test func `vars keep their spelling in strings`() throws {
    let place = try Workplace(
      """
      vars: { version: 3.10, name: "a b" }
      tasks:
        a:
          env: { NAME: "${{ vars.name }}" }
          run: echo "${{ vars.version }} $NAME ${{ task.id }}" >> trace
      """)
    try place.opflow("run")
    #expect(place.lines() == ["3.10 a b a"])
  }

  @Test func `--set wins over vars, and the last one counts`() throws {
    let place = try Workplace(
      """
      vars: { mode: file, other: file }
      tasks:
        a: { run: "echo ${{ vars.mode }} ${{ vars.other }} >> trace" }
      """)
    try place.opflow("run", "--set", "mode=first", "--set", "mode=a=b")
    #expect(place.lines() == ["a=b file"])
  }

  @Test func `--set of an undeclared name is an error`() throws {
    let place = try Workplace("vars: { mode: x }\ntasks: { a: { run: 'true' } }")
    let run = try place.opflow("run", "--set", "mod=y", status: nil)
    #expect(run.status == 2 || run.status == 3, "\(run)")
    #expect(run.errors.contains("mod"))
  }

  @Test func `run.id is the run's id`() throws {
    let place = try Workplace("tasks: { a: { run: 'echo ${{ run.id }} $OPFLOW_RUN >> trace' } }")
    try place.opflow("run")
    let run = try #require(place.runs.first)
    #expect(place.lines() == ["\(run) \(run)"])
  }

  @Test func `the shell's own dollars reach the shell`() throws {
    let place = try Workplace(
      #"""
      tasks:
        a:
          env: { X: value, Y: "$${{ vars.no }}" }
          run: echo "$X ${X} $(echo sub) `echo tick` ${X:-d} $Y" > out; echo '$X' >> out
      """#)
    try place.opflow("run")
    #expect(place.lines("out") == ["value value sub tick value ${{ vars.no }}", "$X"])
  }

  @Test func `an unknown name is an error with its line`() throws {
    let place = try Workplace(
      """
      vars: { version: 1 }
      tasks:
        a: { run: "echo ${{ vars.versoin }}" }
      """)
    let run = try place.opflow("run", status: 3)
    #expect(run.errors.contains("opflow.yaml:3:"))
    #expect(run.errors.contains("did you mean"))
    #expect(run.errors.contains("version"))
  }

  @Test func `an expression runs no code`() throws {
    let place = try Workplace(
      """
      tasks:
        a:
          env: { TEXT: "${{ env.EVIL }}" }
          run: echo "$TEXT" > out
      """)
    try place.opflow("run", environment: ["EVIL": "$(touch owned); `touch owned`"])
    #expect(try place.text("out") == "$(touch owned); `touch owned`\n")
    #expect(!place.exists("owned"))
  }
}
