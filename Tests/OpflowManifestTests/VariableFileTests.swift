import OpflowBase
import OpflowManifest
import OpflowPlan
import Testing

/// Files of `env_file`, as docker compose and dotenv read them.
struct VariableFileTests {
  private func variables(
    _ text: String, environment: [(name: String, value: String)] = []
  ) throws -> [String] {
    try Project(["m.yaml": "env_file: [.env]\ntasks: { a: { run: x } }", ".env": text])
      .plan(environment: environment).environmentTexts("a")
  }

  struct Line: Sendable, CustomTestStringConvertible {
    let text: String
    let result: [String]
    init(_ text: String, _ result: String...) { (self.text, self.result) = (text, result) }
    var testDescription: String { text }
  }

  @Test(arguments: plain + quoted + expanded)
  func `a line is read as by other tools`(_ line: Line) throws {
    #expect(
      try variables(line.text, environment: [("HOME", "/h"), ("EMPTY", ""), ("OUTER", "outer")])
        == line.result)
  }

  static let plain = [
    Line("A=b", "A=b"), Line("A=b\n", "A=b"), Line("A=b\r\nC=d\r\n", "A=b", "C=d"),
    Line("\u{FEFF}A=b", "A=b"), Line("  A = b  ", "A=b"), Line("\tA=b", "A=b"),
    Line("A=", "A="), Line("A=\nB=c", "A=", "B=c"), Line("A=   \nB=c", "A=", "B=c"),
    Line("# c\n\n  # d\nA=b", "A=b"), Line("A=b # c", "A=b"), Line("A=b# c", "A=b# c"),
    Line("A=b#c #d", "A=b#c"), Line("A=#c", "A=#c"), Line("A= # c", "A="), Line("A=b\t# c", "A=b"),
    Line("export A=b", "A=b"), Line("export   A=b", "A=b"), Line("export=b", "export=b"),
    Line("export =b", "export=b"),
    Line("exported=b", "exported=b"), Line("A: b", "A=b"), Line("A:b", "A=b"),
    Line("A=b=c", "A=b=c"), Line("A=b:c", "A=b:c"), Line("A=-Xmx2048 -DA=B", "A=-Xmx2048 -DA=B"),
    Line("A=b c  d", "A=b c  d"), Line("A=a'b\"c", "A=a'b\"c"), Line("A=a\\nb", "A=a\\nb"),
    Line("A=C:\\dir", "A=C:\\dir"), Line("A=1\nB=2\nA=3", "A=3", "B=2"),
    Line("_a1=d", "_a1=d"), Line("A=ü", "A=ü"), Line("A=\u{FEFF}b", "A=\u{FEFF}b"),
    Line("HOME", "HOME=/h"), Line("export HOME", "HOME=/h"), Line("HOME # c", "HOME=/h"),
    Line("UNSET\nEMPTY", "EMPTY="), Line("A=`b`", "A=`b`"), Line("A=$(b)", "A=$(b)"),
    Line("A={\"b\": 1}", "A={\"b\": 1}"),
  ]

  static let quoted = [
    Line("A='b'", "A=b"), Line("A=\"b\"", "A=b"), Line("A=''", "A="), Line("A=\"\"", "A="),
    Line("A='b # c'", "A=b # c"), Line("A=\"b # c\" # d", "A=b # c"),
    Line("A=\"val #space\"#bla", "A=val #space"),
    Line("A='asdf#\"#sdf\"jklo'#bla", "A=asdf#\"#sdf\"jklo"),
    Line("A=\"asdf#\\\"#sdf\\\"\"#bla", "A=asdf#\"#sdf\""), Line("A='Let\\'s go'", "A=Let's go"),
    Line("A='a\\nb'", "A=a\\nb"), Line("A='a\\\\b'", "A=a\\\\b"), Line("A='$HOME'", "A=$HOME"),
    Line("A='$$2a$$08'", "A=$$2a$$08"), Line("A=\"a\\nb\"", "A=a\nb"),
    Line("A=\"a\\tb\\r\\a\\b\\f\\v\"", "A=a\tb\r\u{7}\u{8}\u{C}\u{B}"),
    Line("A=\"a\\\\b\"", "A=a\\b"), Line("A=\"a\\\\nb\"", "A=a\\nb"),
    Line("A=\"a\\qb\"", "A=a\\qb"),
    Line("A=\"\\0123\"", "A=S"), Line("A=\"\\$HOME\"", "A=$HOME"), Line("A=\"  b  \"", "A=  b  "),
    Line("A=\"a\nb\nc\"\nD=e", "A=a\nb\nc", "D=e"), Line("A='a\r\nb'", "A=a\nb"),
    Line("A=\"{\\\"b\\\": 1}\"", "A={\"b\": 1}"),
    Line(
      "A=\"-----BEGIN-----\nx=y\n# no comment\n\"\nB=1", "A=-----BEGIN-----\nx=y\n# no comment\n",
      "B=1"),
  ]

  static let expanded = [
    Line("B=$HOME/x", "B=/h/x"), Line("B=${HOME}x", "B=/hx"),
    Line("B=\"$HOME ${HOME}\"", "B=/h /h"),
    Line("B=$UNSET.", "B=."), Line("B=${UNSET}", "B="), Line("C=1\nB=$C$C", "C=1", "B=11"),
    Line("B=$C\nC=1", "B=", "C=1"), Line("A=inner\nB=$A", "A=inner", "B=inner"),
    Line("B=$OUTER", "B=outer"), Line("OUTER=inner\nB=$OUTER", "OUTER=outer", "B=outer"),
    Line("OUTER=$OUTER:more", "OUTER=outer"), Line("A=1\nA=$A:2", "A=1:2"),
    Line("B=$$HOME", "B=$HOME"), Line("B=\\$HOME", "B=$HOME"),
    Line("B=\"$$HOME\"", "B=$HOME"), Line("B=lalala$!", "B=lalala$!"), Line("B=a$", "B=a$"),
    Line("B=$1", "B=$1"), Line("B=\"$2a$08$q\"", "B=$2a$08"), Line("B=${UNSET:-d}", "B=d"),
    Line("B=${EMPTY:-d}", "B=d"), Line("B=${EMPTY-d}", "B="), Line("B=${UNSET-d}", "B=d"),
    Line("B=${HOME:-d}", "B=/h"), Line("B=${HOME:+d}", "B=d"), Line("B=${EMPTY:+d}", "B="),
    Line("B=${EMPTY+d}", "B=d"), Line("B=${UNSET+d}", "B="), Line("B=${HOME:?no}", "B=/h"),
    Line("B=${EMPTY?no}", "B="), Line("B=${UNSET:-${HOME}/x}", "B=/h/x"),
    Line("B=${UNSET:-${NONE:-deep}}", "B=deep"), Line("B=${HOME:-${NONE:?no}}", "B=/h"),
    Line("B=\"${UNSET:-a b}\"", "B=a b"), Line("B=${UNSET:-a}b", "B=ab"),
    Line("B=${UNSET:-}", "B="),
  ]

  @Test
  func `env and the inherited environment override files, and later files override earlier ones`()
    throws
  {
    let plan = try Project([
      "m.yaml": """
      vars: { mode: test, home: "${{ env.A }}" }
      env_file: [base.env, "conf/${{ vars.mode }}.env", "?none.env"]
      env: { C: "${{ env.B }}-${{ env.A }}", D: env }
      defaults: { env: { E: defaults } }
      tasks:
        a: { run: "echo ${{ vars.home }} ${{ env.A }} ${{ env.D }}", env: { F: "${{ env.C }}" } }
      """,
      "base.env": "A=base\nB=base\nD=file\nE=file\nF=file\n", "conf/test.env": "B=$A-test\n",
    ]).plan(environment: [("A", "inherited"), ("D", "inherited"), ("E", "inherited")])
    #expect(
      try plan.environmentTexts("a") == [
        "A=inherited", "B=inherited-test", "D=env", "E=defaults", "F=inherited-test-inherited",
        "C=inherited-test-inherited",
      ])
    #expect(try plan.scriptText("a") == "echo inherited inherited env")
  }

  @Test func `a variable with another value in the environment has one warning, and is read there`()
    throws
  {
    let compiled = try Project([
      "m.yaml": "env_file: [a.env, b.env]\ntasks: { a: { run: x } }",
      "a.env": "A=1\nSAME=2\n", "b.env": "\nA=3\nB=4\n",
    ]).compile(environment: [("A", "s3cret"), ("SAME", "2"), ("OTHER", "5")])
    #expect(
      compiled.warnings.map(\.message) == [
        "`A` has a different value in the environment of opflow, which wins"
      ])
    #expect(compiled.warnings.map { "\($0)" }.allSatisfy { !$0.contains("s3cret") })
    #expect(compiled.environmentRead.map(\.name) == ["A", "B", "SAME"])
  }

  @Test func `the variables of a file are for its own tasks`() throws {
    let plan = try Project([
      "m.yaml": "env_file: [.env]\ninclude: [db/t.yaml]\ntasks: { a: { run: x } }",
      ".env": "A=root", "db/t.yaml": "env_file: [.env]\ntasks: { b: { run: x } }",
      "db/.env": "B=db",
    ]).plan()
    #expect(try plan.environmentTexts("a") == ["A=root"])
    #expect(try plan.environmentTexts("b") == ["B=db"])
  }

  @Test func `the values of a file are part of the plan's key and of fingerprints`() throws {
    var project = Project([
      "m.yaml": "env_file: [.env, '?more.env']\ntasks: { a: { run: x } }", ".env": "A=${HOME}",
    ])
    func made() throws -> (key: PlanKey, fingerprint: Fingerprint, read: [String]) {
      let compiled = try project.compile(environment: [("HOME", "/h")])
      let plan = try Plan(copying: compiled.planBytes)
      return (
        compiled.planKey, plan.fingerprint(try plan.id("a")), compiled.environmentRead.map(\.name)
      )
    }
    let first = try made()
    #expect(first.read == ["A", "HOME"])
    project.files[".env"] = Array("A=${HOME} # said".utf8)
    let said = try made()
    #expect(said.key != first.key && said.fingerprint == first.fingerprint)
    project.files["more.env"] = Array("B=1".utf8)
    let more = try made()
    #expect(more.key != said.key && more.fingerprint != said.fingerprint)
    project.files["more.env"] = Array("A=/h".utf8)
    #expect(try made().fingerprint == first.fingerprint)
  }

  @Test func `a plan whose file may be missing is known again while it is`() throws {
    let project = Project(["m.yaml": "env_file: ['?.env']\ntasks: { a: { run: x } }"])
    let compiled = try project.compile()
    let plan = try Plan(copying: compiled.planBytes)
    var inputs = PlanInputs(opflowVersion: "1.0", folder: "/data/project")
    inputs.files = [compiled.files[0]]
    func isCurrent(_ file: PlanFile) -> Bool {
      plan.inputs(ifCurrent: inputs, runID: "r", file: { _ in file }, variable: { _ in nil }) != nil
    }
    let path = "/data/project/.env"
    #expect(isCurrent(PlanFile(missing: path)))
    #expect(!isCurrent(PlanFile(path: path, realPath: path, content: Hash.planKey([]))))
  }
}
