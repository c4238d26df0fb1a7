import OpflowManifest
import Testing

/// Invalid secrets.
struct BadSecretTests {
  @Test(arguments: cases)
  func `is refused with every error at its place`(_ bad: BadManifest) {
    #expect(errors(in: bad.text) == bad.errors)
  }

  /// What the plan would hold of a secret.
  @Test func `one that any file of the manifest sets is refused where it is listed`() {
    let task = "tasks: { b: { run: x, secrets: [TOKEN] } }"
    let said = "`TOKEN` is a secret, but `env` or `env_file` sets"
    let root = "tasks: { a: { run: x } }\n"
    for (files, errors) in [
      (
        ["m.yaml": "env_file: [.env]\ninclude: [b.yaml]\n" + root, "b.yaml": task],
        ["b.yaml:1:33: \(said) it"]
      ),
      (
        ["m.yaml": "env: { TOKEN: abcd }\ninclude: [b.yaml]\n" + root, "b.yaml": task],
        ["b.yaml:1:33: \(said) it"]
      ),
      (
        [
          "m.yaml": "include: [b.yaml]\n" + task,
          "b.yaml": "env_file: [.env]\ntasks: { a: { run: x } }",
        ],
        ["m.yaml:2:33: \(said) it"]
      ),
      (
        [
          "m.yaml": "include: [{ path: b.yaml, as: b }]\n" + task,
          "b.yaml": "env_file: [.env]\n" + root,
        ],
        ["m.yaml:2:33: \(said) it"]
      ),
      (["m.yaml": "defaults: { env: { TOKEN: abcd } }\n" + task], ["m.yaml:2:33: \(said) it"]),
      (["m.yaml": "env_file: [.env]\n" + task], ["m.yaml:2:33: \(said) it"]),
      (
        [
          "m.yaml": "env_file: [.env]\nsecrets: { KEY: { env: TOKEN } }\n"
            + "tasks: { b: { run: x, secrets: [KEY] } }"
        ],
        [
          """
          m.yaml:3:33: `KEY` is a secret, but `env` or `env_file` sets its source `TOKEN`
          """
        ]
      ),
      (
        [
          "m.yaml": "env_file: [.env]\ntasks: { b: { download: { url: https://h/x, to: y,"
            + " headers: { A: \"${{ secrets.TOKEN }}\" } } } }"
        ],
        ["m.yaml:2:71: \(said) it"]
      ),
      // Nobody lists it.
      (["m.yaml": "env_file: [.env]\n" + root], []),
    ] as [([String: String], [String])] {
      var files = files
      files[".env"] = "TOKEN=from-a-file\n"
      #expect(Project(files).errors() == errors)
    }
    let project = Project([
      "m.yaml": "env: { A: b, TOKEN: abcd }\ninclude: [b.yaml]\n" + root, "b.yaml": task,
    ])
    #expect(
      project.diagnostics().map { $0.notes.map { "\($0.file):\($0.line)" } }
        == [["m.yaml:1"]])
  }

  private static func top(_ secrets: String) -> String {
    "secrets: \(secrets)\ntasks: { a: { run: x } }"
  }

  static let cases: [BadManifest] = [
    BadManifest(
      "secrets of a task that are a text", task: "run: x\nsecrets: TOKEN",
      "4:14: `secrets` must be a list of names, not a string"),
    BadManifest(
      "secrets of a task that are a map", task: "run: x\nsecrets: { TOKEN: { env: A } }",
      "4:14: `secrets` must be a list of names, not a map"),
    BadManifest(
      "a secret with a bad name", task: "run: x\nsecrets: ['A=B']",
      "4:15: `A=B` is not a valid environment variable name"),
    BadManifest(
      "a secret of opflow's own", task: "run: x\nsecrets: [OPFLOW_RUN]",
      "4:15: `OPFLOW_RUN` is reserved"),
    BadManifest(
      "a secret that is a number", task: "run: x\nsecrets: [1]",
      "4:15: an item of `secrets` must be a string, not a number"),
    BadManifest(
      "a secret with a long name", task: "run: x\nsecrets: [\(String(repeating: "A", count: 256))]",
      "4:15: the name is too long; the name of a secret has at most 255 bytes"),
    BadManifest(
      "secrets at the top as a list", top("[TOKEN]"),
      "1:10: `secrets` must be a map, not a list"),
    BadManifest(
      "a secret's value in the manifest", top("{ TOKEN: hunter2 }"),
      "1:19: `secrets.TOKEN` must be a map, not a string"),
    BadManifest(
      "a secret from nowhere", top("{ TOKEN: {} }"),
      "1:19: `secrets.TOKEN` has no source"),
    BadManifest(
      "a secret from two places", top("{ TOKEN: { env: A, file: b } }"),
      "1:29: `secrets.TOKEN` can have only one of `env`, `file` and `run`"),
    BadManifest(
      "a secret from an unknown place", top("{ TOKEN: { vault: a } }"),
      "1:19: `secrets.TOKEN` has no source",
      "1:21: unknown key `vault` in a secret"),
    BadManifest(
      "a secret from a shell's command", top("{ TOKEN: { run: pass show a } }"),
      "1:26: `run` must be a list of strings, not a string"),
    BadManifest(
      "a secret from no command", top("{ TOKEN: { run: [] } }"), "1:26: `run` is empty"),
    BadManifest(
      "a secret from a command with a blank", top("{ TOKEN: { run: ['pass show a'] } }"),
      "1:27: the first item of `run` must be the name of a program, not `pass show a`"),
    BadManifest(
      "a secret from a file without a name", top("{ TOKEN: { file: '' } }"),
      "1:27: `file` is empty"),
    BadManifest(
      "a secret from a variable that is none", top("{ TOKEN: { env: 'A B' } }"),
      "1:26: `A B` is not a valid environment variable name"),
    BadManifest(
      "a secret with a bad name at the top", top("{ 'A B': { env: A } }"),
      "1:12: `A B` is not a valid environment variable name"),
    BadManifest(
      "a secret in an expression of a task", task: "run: \"x ${{ env.TOKEN }}\"\nsecrets: [TOKEN]",
      "3:17: `env.TOKEN` is a secret, which expressions cannot read"),
    BadManifest(
      "a secret of a later task in an expression",
      """
      env: { A: "${{ env.TOKEN }}" }
      tasks:
        a: { run: x }
        b: { run: x, secrets: [TOKEN] }
      """,
      "1:16: `env.TOKEN` is a secret, which expressions cannot read"),
    BadManifest(
      "a secret of another variable in an expression",
      "secrets: { TOKEN: { env: CI_TOKEN } }\ntasks: { a: { run: x, if: env.CI_TOKEN == 'a' } }",
      "2:27: `env.CI_TOKEN` is a secret, which expressions cannot read"),
    BadManifest(
      "a secret of a merged map in an expression",
      """
      x-all: &all { secrets: [TOKEN] }
      tasks: { a: { <<: *all, run: x, timeout: '${{ env.TOKEN }}' } }
      """,
      "2:47: `env.TOKEN` is a secret, which expressions cannot read"),
    BadManifest(
      "a secret whose name comes from an expression",
      "vars: { n: TOKEN }\ntasks: { a: { run: 'x ${{ env.TOKEN }}', secrets: ['${{ vars.n }}'] } }",
      "2:52: `TOKEN` is a secret, but an expression reads `env.TOKEN`"),
    BadManifest(
      "a secret that env sets at the top",
      "env: { TOKEN: hunter2 }\ntasks: { a: { run: x, secrets: [TOKEN] } }",
      "2:33: `TOKEN` is a secret, but `env` or `env_file` sets it"),
    BadManifest(
      "a secret that env sets", task: "run: x\nenv: { TOKEN: hunter2 }\nsecrets: [TOKEN]",
      "5:15: `TOKEN` is a secret, but `env` or `env_file` sets it"),
    BadManifest(
      "a secret by name in a script", task: "run: \"x ${{ secrets.TOKEN }}\"",
      "3:17: `secrets.TOKEN`: expressions cannot read secrets"),
    BadManifest(
      "a secret by name in an address",
      task: "download: { url: \"https://h/${{ secrets.T }}\", to: y }",
      "3:37: `secrets.T`: expressions cannot read secrets"),
    BadManifest(
      "a secret that is compared in a header",
      task: "download: { url: https://h/x, to: y, headers: { A: \"${{ secrets.T == 'a' }}\" } }",
      "3:78: an expression cannot compare or combine secrets"),
    BadManifest(
      "a secret that is chosen in a header",
      task: "download: { url: https://h/x, to: y, headers: { A: \"${{ secrets.T || 'a' }}\" } }",
      "3:78: an expression cannot compare or combine secrets"),
    BadManifest(
      "a secret that is negated in a header",
      task: "download: { url: https://h/x, to: y, headers: { A: \"${{ !secrets.T }}\" } }",
      "3:72: an expression cannot compare or combine secrets"),
  ]
}
