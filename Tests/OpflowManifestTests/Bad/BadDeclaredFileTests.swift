import OpflowManifest
import Testing

/// `inputs` and `outputs` that are none.
struct BadDeclaredFileTests {
  @Test(arguments: entries + tasks)
  func `is refused with every mistake at its place`(_ bad: BadManifest) {
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
      "5:15: an item of `outputs` came out empty from `${{ env.NOT_SET }}`"),
    BadManifest(
      "what is not closed, in lists of lists", task: "run: x\ninputs: [[a, ['b[']], 'c[]']",
      "4:19: `b[` is no pattern: a `[` in it is not closed",
      "4:27: `c[]` is no pattern: a `[` in it is not closed"),
    BadManifest(
      "braces", task: "run: x\ninputs: ['src/*.{c,h}']\noutputs: ['{a,b}.o']",
      "4:14: `src/*.{c,h}` holds `{c,h}`, which a pattern has not",
      "5:15: `{a,b}.o` holds `{a,b}`, and no braces are expanded here"),
    BadManifest(
      "an exclusion", task: "run: x\ninputs: ['*.c', '!x.c']",
      "4:21: `!x.c` begins with `!`, and nothing is taken out here"),
    BadManifest(
      "a value of another task", task: "run: x\nneeds: [b]\ninputs: ['${{ needs.b.v }}']",
      "4:13: unknown task `b`", "5:19: `needs.b.v` cannot stand here"),
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
      "4:25: an item of `inputs` has either `env` or `run`, and this one has both"),
    BadManifest(
      "neither", task: "run: x\ninputs: [{}, { <<: {} }]",
      "4:14: an item of `inputs` has neither `env` nor `run`",
      "4:18: an item of `inputs` has neither `env` nor `run`"),
    BadManifest(
      "names of no variable", task: "run: x\ninputs: [{ env: 'A=B' }, { env: OPFLOW_RUN_ID }]",
      "4:21: `A=B` is no name of an environment variable",
      "4:37: `OPFLOW_RUN_ID` is opflow's own"),
    BadManifest(
      "several names", task: "run: x\ninputs: [{ env: [A, B] }]",
      "4:21: `env` must be a string, not a list"),
    BadManifest(
      "a command as a text", task: "run: x\ninputs: [{ run: gcc --version }]",
      "4:21: `run` must be a list of words, not a string"),
    BadManifest(
      "commands without a program", task: "run: x\ninputs: [{ run: [] }, { run: ['', x] }]",
      "4:21: `run` is empty", "4:35: the first word of `run` is empty"),
  ]

  static let tasks: [BadManifest] = [
    BadManifest(
      "a secret", task: "run: x\nsecrets: [TOKEN]\ninputs: [{ env: TOKEN }]",
      "5:21: `TOKEN` is a secret, and what an input is now is written down"),
    BadManifest(
      "of a question", task: "approve: Go?\ninputs: [a]\noutputs: [b]",
      "4:5: `inputs` says nothing of a question (`approve`)",
      "5:5: `outputs` says nothing of a question (`approve`)"),
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
      "4:15: `.opflow/x` lies in the folder where runs are kept"),
  ]

  @Test func `a path longer than any can be is refused, one byte less is not`() {
    func errors(_ count: Int) -> [String] {
      OpflowManifestTests.errors(
        in: "tasks: { a: { run: x, inputs: [\(String(repeating: "a/", count: count / 2))b] } }")
    }
    #expect(errors(4094) == [])
    #expect(errors(4096).map { $0.hasSuffix("is longer than a path can be") } == [true])
  }

  @Test(arguments: [
    ("inputs: [{ enf: CC }]", "did you mean `env`?"),
    ("inputs: { env: CC }", "write a list: [{ env: NAME }]"),
    (
      "inputs: [{ run: gcc --version }]",
      "no shell reads it: [gcc, --version]; where one is to, [sh, -c, \"…\"]"
    ),
    ("inputs: ['!x.c']", "name what is to count; `./!x.c` is a file that is called so"),
    ("inputs: ['*.{c,h}']", "write an item for each; the character itself is `[{]`"),
    ("inputs: [{{ vars.x }}]", "an expression is `${{ … }}`; put the whole value in quotes"),
    ("input: [a]", "did you mean `inputs`?"), ("output: [a]", "did you mean `outputs`?"),
    ("sources: [a]", "the key is `inputs` here"), ("generates: [a]", "the key is `outputs` here"),
  ])
  func `what to do is said`(_ key: String, _ help: String) throws {
    let error = try #require(throws: ManifestError.self) {
      try compile("tasks: { a: { run: x, \(key) } }")
    }
    #expect(error.diagnostics.map(\.help) == [help])
  }
}
