import OpflowManifest
import Testing

/// Wrong `inputs` and `outputs`.
struct BadDeclaredFileTests {
  @Test(arguments: entries + tasks)
  func `is refused with every error at its place`(_ bad: BadManifest) {
    #expect(errors(in: bad.text) == bad.errors)
  }

  static let entries: [BadManifest] = [
    BadManifest(
      "nothing", task: "run: x\ninputs:", "4:12: `inputs` must be a list of paths, not empty"),
    BadManifest(
      "a map in place of a list", task: "run: x\ninputs: { env: CC }",
      "4:13: `inputs` must be a list of paths, not a map"),
    BadManifest("an empty text", task: "run: x\noutputs: ''", "4:14: `outputs` is empty"),
    BadManifest(
      "empty items", task: "run: x\ninputs: [a, '', ~]",
      "4:17: an item of `inputs` is empty",
      "4:21: an item of `inputs` must be a string, not null"),
    BadManifest(
      "a number", task: "run: x\ninputs: [1.10]",
      "4:14: an item of `inputs` must be a string, not a number"),
    BadManifest(
      "what comes out empty", task: "run: x\nenv: { E: '' }\noutputs: ['${{ env.NOT_SET }}']",
      "5:15: an item of `outputs` is empty: the result of `${{ env.NOT_SET }}`"),
    BadManifest(
      "what is not closed, in lists of lists", task: "run: x\ninputs: [[a, ['b[']], 'c[]']",
      "4:19: `b[` is not a valid pattern: a `[` has no `]`",
      "4:27: `c[]` is not a valid pattern: a `[` has no `]`"),
    BadManifest(
      "braces", task: "run: x\ninputs: ['src/*.{c,h}']\noutputs: ['{a,b}.o']",
      "4:14: `src/*.{c,h}` contains `{c,h}`, but opflow does not expand braces",
      "5:15: `{a,b}.o` contains `{a,b}`, but opflow does not expand braces"),
    BadManifest(
      "an exclusion", task: "run: x\ninputs: ['*.c', '!x.c']",
      "4:21: `!x.c` begins with `!`, but a pattern cannot exclude files"),
    BadManifest(
      "a value of another task", task: "run: x\nneeds: [b]\ninputs: ['${{ needs.b.v }}']",
      "4:13: unknown task `b`", "5:19: `needs.b.v` cannot be used here"),
    BadManifest(
      "an output that is no path", task: "run: x\noutputs: [{ env: CC }]",
      "4:15: an item of `outputs` must be a path or a pattern, not a map"),
    BadManifest(
      "an expression without quotes", task: "run: x\ninputs: [{{ vars.x }}]",
      "4:14: an item of `inputs` must be a path, a pattern or a map, not a map"),
    BadManifest(
      "an unknown key", task: "run: x\ninputs: [{ enf: CC }, { file: x }]",
      "4:16: unknown key `enf` in an item of `inputs`",
      "4:29: unknown key `file` in an item of `inputs`"),
    BadManifest(
      "both", task: "run: x\ninputs: [{ env: CC, run: [cc] }]",
      "4:25: an item of `inputs` cannot have both `env` and `run`"),
    BadManifest(
      "neither", task: "run: x\ninputs: [{}, { <<: {} }]",
      "4:14: an item of `inputs` has neither `env` nor `run`",
      "4:18: an item of `inputs` has neither `env` nor `run`"),
    BadManifest(
      "names of no variable", task: "run: x\ninputs: [{ env: 'A=B' }, { env: OPFLOW_RUN_ID }]",
      "4:21: `A=B` is not a valid environment variable name",
      "4:37: `OPFLOW_RUN_ID` is reserved: opflow sets the variables that begin with `OPFLOW_`"),
    BadManifest(
      "several names", task: "run: x\ninputs: [{ env: [A, B] }]",
      "4:21: `env` must be a string, not a list"),
    BadManifest(
      "a command as a text", task: "run: x\ninputs: [{ run: gcc --version }]",
      "4:21: `run` must be a list of strings, not a string"),
    BadManifest(
      "commands without a program", task: "run: x\ninputs: [{ run: [] }, { run: ['', x] }]",
      "4:21: `run` is empty", "4:35: the first item of `run` is empty"),
  ]

  static let tasks: [BadManifest] = [
    BadManifest(
      "a secret", task: "run: x\nsecrets: [TOKEN]\ninputs: [{ env: TOKEN }]",
      "5:21: `TOKEN` is a secret, and opflow records the values of inputs"),
    BadManifest(
      "of an approval", task: "approve: Go?\ninputs: [a]\noutputs: [b]",
      "4:5: an approval (`approve`) cannot have `inputs`",
      "5:5: an approval (`approve`) cannot have `outputs`"),
    BadManifest(
      "of a download", task: "download: { url: 'http://h/x', to: x }\ninputs: [a]\noutputs: [b]",
      "4:5: a download cannot have `inputs`", "5:5: a download cannot have `outputs`"),
    BadManifest(
      "in defaults", "defaults: { inputs: [a] }\ntasks: { a: { run: x } }",
      "1:13: unknown key `inputs` in `defaults`"),
    BadManifest(
      "one output of two tasks",
      "tasks:\n  a: { run: x, outputs: [out/a] }\n  b: { run: x, dir: out, outputs: [a] }",
      "3:36: `a` is written twice"),
    BadManifest(
      "one output of two legs",
      "tasks:\n  a: { run: x, matrix: { n: [1, 2] }, outputs: [out] }",
      "2:49: `out` is written twice"),
    BadManifest(
      "an output where runs are kept", task: "run: x\noutputs: [.opflow/x]",
      "4:15: `.opflow/x` is in the folder where opflow keeps its runs"),
  ]

  @Test func `a path that is one byte too long is refused`() {
    func errors(_ count: Int) -> [String] {
      OpflowManifestTests.errors(
        in: "tasks: { a: { run: x, inputs: [\(String(repeating: "a/", count: count / 2))b] } }")
    }
    #expect(errors(4094) == [])
    #expect(errors(4096).map { $0.hasSuffix("is too long for a path") } == [true])
  }

  @Test(arguments: [
    ("inputs: [{ enf: CC }]", "did you mean `env`?"),
    ("inputs: { env: CC }", "write a list: [{ env: NAME }]"),
    (
      "inputs: [{ run: gcc --version }]",
      "opflow runs it without a shell: [gcc, --version]; with a shell: [sh, -c, \"…\"]"
    ),
    (
      "inputs: ['!x.c']",
      "list only the files that matter; write `./!x.c` for a file with that name"
    ),
    ("inputs: ['*.{c,h}']", "write an item for each alternative, or `[{]` for the character `{`"),
    ("inputs: [{{ vars.x }}]", "write an expression as `${{ … }}`; quote the whole value"),
    ("input: [a]", "did you mean `inputs`?"), ("output: [a]", "did you mean `outputs`?"),
    ("sources: [a]", "the key is `inputs` here"), ("generates: [a]", "the key is `outputs` here"),
  ])
  func `the help says what to do`(_ key: String, _ help: String) throws {
    let error = try #require(throws: ManifestError.self) {
      try compile("tasks: { a: { run: x, \(key) } }")
    }
    #expect(error.diagnostics.map(\.help) == [help])
  }
}
