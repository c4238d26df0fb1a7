import OpflowManifest
import OpflowPlan
import Testing

/// Habits from other tools, and the help that opflow gives.
struct NewcomerTests {
  /// The keys of a task, and the help of its first error.
  private static let taskErrors: [(String, String)] = [
    (
      "run: x, resources: { db: 1 }",
      "declare its limit at the top of the manifest: `resources: { db: 1 }`"
    ),
    (
      "run: x, resources: { memroy: 1GiB }",
      "did you mean `memory`? if not, declare its limit at the top of the manifest:"
        + " `resources: { memroy: 1GiB }`"
    ),
    ("run: x, env: [A=1]", "write a map: { A: \"1\" }"),
    ("run: x, env: [{ name: A, value: 1 }]", "write a map: { NAME: value }"),
    ("run: x, env: A=1", "write a map: { A: \"1\" }"),
    ("run: x, allow_failure: \"2\"", "write a list: [2]"),
    ("run: x, needs: e", "did you mean `b`?"),
    ("run: x, if: $CI", "write `env.CI` for an environment variable"),
    ("run: x, if: \"${CI}\"", "write `env.CI` for an environment variable"),
    (
      "run: x, if: env.A == 'b' && $CI_JOB != ''", "write `env.CI_JOB` for an environment variable"
    ),
    ("run: x, if: \"env.CI = 'a'\"", "compare with `==`"),
    (
      "run: x, if: always()",
      "`finally: true` runs a task after all others, even if they fail;"
        + " `needs: [{ task: ID, on: finished }]` runs it after any result of one task"
    ),
    (
      "run: x, if: \"${{ failure() }}\"",
      "`needs: [{ task: ID, on: failure }]` runs a task if another one fails"
    ),
    ("run: x, if: success()", "a task runs only if its dependencies succeed; remove this"),
    (
      "run: x, if: \"startsWith(env.A, 'b')\"",
      "compare strings with `==` and `!=`; do everything else in `run`"
    ),
    (
      "run: x, if: \"[ -f x ]\"",
      "an expression cannot run a command; use `run` for that"
    ),
    (
      "run: \"x ${{ github.sha }}\"",
      "GitHub Actions sets it in the environment: `env.GITHUB_SHA`"
    ),
    (
      "run: \"x ${{ secrets.TOKEN }}\"",
      "add `secrets: [TOKEN]` to the task, and read `$TOKEN` in `run`;"
        + " only `headers` of a download can have the expression"
    ),
    (
      "run: \"x ${{ runner.os }}\"",
      "GitHub Actions sets it in the environment: `env.RUNNER_OS`"
    ),
    (
      "run: \"x ${{ foo.bar }}\"",
      "an expression can use `vars.NAME`, `env.NAME`, `matrix.NAME`, `needs.ID.NAME`, `task.id`"
        + " and `run.id`"
    ),
    ("run: \"x ${{ matrix.os }}\"", "only a task with a `matrix` can use `matrix.NAME`"),
    ("run: x, allow_failure: \"true\"", "write it without quotes"),
    ("run: x, finally: 'false'", "write it without quotes"),
    ("run: x, allow_failure: 75", "write a list: [75]"),
    ("run: x, retry: { exit_codes: 75 }", "write a list: [75]"),
    ("run: x, tags: 'a, b'", "write several tags as a list: [fast, slow]"),
    ("run: x, needs: [{ task: b, on: always }]", "`finished` accepts any result"),
    (
      "run: x, needs: [{ task: b, on: failed }]",
      "`failure` accepts a failure that `allow_failure` does not allow"
    ),
    (
      "cmds: [make, make test]",
      "the key is `run` here; write `run: |`, and below it each command on its own line"
    ),
    ("run: x, finally: yes", "write `finally: true`"),
    ("run: x, manual: Off", "write `manual: false`"),
    (
      "run: x, needs: { b: success, c: finished }",
      "write a list: needs: [b, { task: c, on: finished }]"
    ),
    ("run: x, needs: { b: { condition: x } }", "write a list: needs: [b]"),
    (
      "run: x, needs: { task: b, on: failure }",
      "put it in a list: needs: [{ task: ID, on: finished }]"
    ),
    (
      "run: x, internal: true",
      "`manual: true` keeps it out of `opflow run`, unless another task needs it"
    ),
    (
      "run: x, prompt: sure",
      "make the question a task with `approve: \"…?\"`, and need it: `needs: [QUESTION]`"
    ),
    (
      "run: x, vars: { A: b }",
      "write `vars` at the top level, or use `env` in this task"
    ),
    ("run: x, stop_grace_period: 10s", "write it in `stop`: `stop: { grace: 10s }`"),
    (
      "run: x, dir: ~",
      "YAML reads `~` as null; write `${{ env.HOME }}` for the home folder"
    ),
    (
      "dir: x, needs: [b]",
      "add `run` or `download`; an alias of other tasks has only `needs`"
    ),
    ("run: x, needs: b c", "write several IDs as a list: [b, c]"),
    ("run: x, needs: 'b, c'", "write several IDs as a list: [b, c]"),
    ("run: x, timeout-minutes: 5", "the key is `timeout` here, with a unit: `timeout: 10m`"),
    (
      "run: x, runs-on: ubuntu",
      "`opflow run --on NODES` decides where tasks run; remove this key"
    ),
    ("uses: actions/checkout@v4", "opflow has no actions; write their commands under `run`"),
    (
      "run: x, image: alpine",
      "tasks are processes without a container; to use one, write `run: docker run …`"
    ),
    ("run: x, stage: build", "opflow has no stages; set the order with `needs`"),
    ("run: x, artifacts: [a]", "the key is `outputs` here"),
    ("run: x, sources: [a]", "the key is `inputs` here"),
    (
      "run: x, strategy: { matrix: { a: [1] } }",
      "write `matrix` in the task itself: `matrix: { NAME: [a, b] }`"
    ),
    (
      "run: x, parallel: { matrix: [{ A: b }] }",
      "write an axis under `matrix`: `matrix: { NAME: [a, b] }`"
    ),
    ("run: x, parallel: 5", "for numbered copies, write `matrix: { n: { range: [1, 5] } }`"),
    (
      "run: x, parallel: many",
      "tasks run in parallel, as far as `needs` and `max_parallel` allow"
    ),
    ("run: x, when: manual", "write `manual: true`"),
    ("run: x, when: always", "write `finally: true`, or `on: finished` with each of its `needs`"),
    (
      "run: x, when: on_failure",
      "write it in `needs`: `needs: [{ task: ID, on: failure }]`"
    ),
    ("run: x, when: '${{ env.CI }}'", "the key is `if` here"),
    ("download: https://example.org/a", "write { url: https://…, to: FILE }"),
    ("run: x, needs: other", "the other tasks are b, c"),
    ("run: x, needs: [a]", "remove it from its own `needs`"),
    (
      "run: x, needs: ['${NEXT}']",
      "opflow does not expand `${NEXT}` here; write `${{ env.NEXT }}`"
    ),
    (
      "run: x, retry: 3x",
      "write the number of retries, `retry: 3`, or a map: `retry: { max: 3, delay: 5s }`"
    ),
    (
      "run: x, retry: [3]",
      "write the number of retries, `retry: 3`, or a map: `retry: { max: 3, delay: 5s }`"
    ),
    (
      "run: x, stop: SIGINT",
      "write the signal, the grace period or both: { signal: INT, grace: 10s }"
    ),
    (
      "run: x, timeout: '${LIMIT}'",
      "opflow does not expand `${LIMIT}` here; write `${{ env.LIMIT }}`"
    ),
    ("run: x, finally: $LAST", "opflow does not expand `$LAST` here; write `${{ env.LAST }}`"),
    ("run: x, priority: $LEVEL", "opflow does not expand `$LEVEL` here; write `${{ env.LEVEL }}`"),
    (
      "run: x, resources: { memory: $SIZE }",
      "opflow does not expand `$SIZE` here; write `${{ env.SIZE }}`"
    ),
    ("run: x, retry: $TRIES", "opflow does not expand `$TRIES` here; write `${{ env.TRIES }}`"),
    ("run: x, if: env.A and env.B", "write `&&`"),
    ("run: x, if: env.A or env.B", "write `||`"),
    ("run: x, if: not env.A", "write `!`"),
    (
      "run: x, secrets: { TOKEN: abc }",
      "write `secrets: [TOKEN]`; the source of `TOKEN` goes into `secrets` at the top of the"
        + " manifest"
    ),
    ("run: x, priority: urgent", "write `very_high`"),
    ("run: x, stop: { signal: SIGTRM }", "did you mean `TERM`?"),
    ("run: x, matrix: { os: [] }", "add a value, or remove it"),
    ("run: { cmd: make }", "write the command as a string: `run: make test`"),
    (
      "run: x, service: { port: 80 }",
      "write it in `ready`: `service: { ready: { port: 8080 } }`"
    ),
    (
      "run: x, schedule: '0 3 * * *'",
      "opflow has no triggers; start `opflow run` from cron, a systemd timer or CI"
    ),
  ]

  @Test(arguments: taskErrors)
  func `a task with what another tool has`(keys: String, help: String) throws {
    let error = try #require(throws: ManifestError.self) {
      try compile("tasks: { a: { \(keys) }, b: { run: x }, c: { run: x } }")
    }
    #expect(error.diagnostics.contains { $0.help == help }, "\(error.diagnostics)")
    #expect(error.diagnostics.allSatisfy { $0.line > 0 && $0.column > 0 })
  }

  private static let manifestErrors: [(String, String)] = [
    (
      "tasks:\n  - name: build\n    run: make\n",
      "write each task under its ID: `tasks: { build: { run: … } }`"
    ),
    (
      "tasks: [make, test]",
      "write each task under its ID: `tasks: { build: { run: … } }`"
    ),
    (
      "build:\n  script: make\n",
      "write a task under `tasks`: `tasks: { build: { run: … } }`"
    ),
    ("tasks: { a: [make, make test] }", "write a: { run: … }"),
    ("tasks: { a: make }", "write a: { run: … }"),
    (
      "tasks:\n  a:\n    run make test\n",
      "write a `:` and a space between a key and its value: `run: make test`"
    ),
    (
      "tasks:\n  a:\n    run:make\n",
      "write a `:` and a space between a key and its value: `run: make`"
    ),
    ("tasks: { a: { run: x, needs: [b] } }", "the manifest has no other task"),
    ("tasks: { a: { run: x, needs: [other] }, b: { run: x } }", "the other task is `b`"),
    ("tasks:\nbuild:\n  run: make\n", "write the tasks below it, indented"),
    (
      "version: \"3.8\"\ntasks: { a: { run: x } }",
      "remove `version`, or write `version: 1`; it is the version of the manifest format"
    ),
    (
      "services: { db: { image: postgres } }\ntasks: { a: { run: x } }",
      "make each service a task with `service: true`, which other tasks need"
    ),
    (
      "version: 3\ntasks: { a: { run: x } }",
      "remove `version`, or write `version: 1`; it is the version of the manifest format"
    ),
    (
      "on: push\ntasks: { a: { run: x } }",
      "opflow has no triggers; start it from cron, a systemd timer or CI, and remove `on`"
    ),
    (
      "shell: bash\ntasks: { a: { run: x } }",
      "write it under `defaults`: `defaults: { shell: bash }`"
    ),
    (
      "version: '3'\ntasks: { a: { run: x } }",
      "remove `version`, or write `version: 1`; it is the version of the manifest format"
    ),
    ("jobs: 4\ntasks: { a: { run: x } }", "the key is `max_parallel` here: `max_parallel: 4`"),
    (
      "base: &b { timeout: 1m }\ntasks: { a: { run: x, <<: *b } }",
      "if the key only holds an anchor, begin it with `x-`: `x-base`"
    ),
    (
      ".base: { timeout: 1m }\ntasks: { a: { run: x } }",
      "if the key only holds an anchor, begin it with `x-`: `x-base`"
    ),
    (
      "rule a:\n  shell: x\ntasks: { b: { run: x } }",
      "write a rule as a task: `tasks: { a: { run: … } }`"
    ),
    (
      "tasks: { build all: { run: x } }",
      "an ID has 1 to 255 letters, digits and `_ . - + @ : /`, and begins with a letter, digit or "
        + "`_`: `build-all`"
    ),
    (
      "tasks: { 'bücher!': { run: x } }",
      "an ID has 1 to 255 letters, digits and `_ . - + @ : /`, and begins with a letter, digit or "
        + "`_`: `b-cher`"
    ),
    ("vars: [A=1]\ntasks: { a: { run: x } }", "write a map: { A: \"1\" }"),
  ]

  @Test(arguments: manifestErrors)
  func `a manifest with what another tool has`(text: String, help: String) throws {
    let error = try #require(throws: ManifestError.self) { try compile(text) }
    #expect(error.diagnostics.first?.help == help)
    #expect(error.diagnostics.allSatisfy { $0.line > 0 && $0.column > 0 })
  }

  @Test(arguments: [
    ("tasks:\n  a: { run: 'echo it's' }\n", "2:22"),
    ("tasks:\n  a:\n    run: 'echo it's'\n", "3:19"),
    ("tasks:\n  a: [ 'it's' ]\n", "2:12"),
  ])
  func `a quote within quotes has its own error`(text: String, place: String) throws {
    let error = try #require(throws: ManifestError.self) { try compile(text) }
    let first = try #require(error.diagnostics.first)
    #expect("\(first.line):\(first.column)" == place)
    #expect(first.message == "text follows the closing quote")
    #expect(first.help?.hasPrefix("write `''` for a `'` within '…'") == true)
  }

  @Test func `a single tag needs no list`() throws {
    let plan = try plan("tasks: { a: { run: x, tags: fast } }")
    #expect(plan.texts(.tags, of: try plan.id("a")).map { plan.string($0) } == ["fast"])
  }

  @Test(
    arguments: [
      (
        "env: { PATH: \"$HOME/bin:$PATH\" }", "`env.PATH` contains `$HOME`",
        "write `${{ env.HOME }}`"
      ),
      ("env: { A: \"x${FOO_1}y\" }", "`env.A` contains `${FOO_1}`", "write `${{ env.FOO_1 }}`"),
      ("env: { A: ~/x }", "`env.A` contains `~`", "write `${{ env.HOME }}`"),
      ("dir: ~/src", "`dir` contains `~`", "write `${{ env.HOME }}`"),
      ("dir: $WORK/src", "`dir` contains `$WORK`", "write `${{ env.WORK }}`"),
    ])
  func `text that only a shell expands has a warning`(
    key: String, message: String, help: String
  ) throws {
    for text in [
      "tasks: { a: { run: x, \(key) } }", "defaults: { \(key) }\ntasks: { a: { run: x } }",
    ] {
      let warnings = try compile(text).warnings
      #expect(warnings.map(\.message) == ["\(message), which opflow does not expand here"])
      #expect(warnings.map(\.help) == [help])
    }
  }

  @Test(
    arguments: [
      ("run: 'echo {{.NAME}}'", "write `${{ vars.NAME }}`"),
      ("run: 'echo {{ NAME }}'", "write `${{ vars.NAME }}`"),
      ("run: 'echo {{vars.NAME}}'", "write `${{ vars.NAME }}`"),
      ("run: 'echo ${vars.NAME}'", "write `${{ vars.NAME }}`"),
      ("run: '$(NAME) -c x.c'", "write `${{ vars.NAME }}`"),
      (
        "run: 'echo ${{ vars.NAME }} {{arch}}', matrix: { arch: [a] }", "write `${{ matrix.arch }}`"
      ),
      ("run: \"echo\u{A0}x\"", "replace it with a normal space"),
      ("run: 'echo “x y”'", "replace it with `\"`"),
      ("run: [cat, a, '|', wc]", "write the whole command as a string: `run: make && make test`"),
      (
        "run: [make, \"make test\"]",
        "write `run: |`, and each command on a line of its own below it"
      ),
      ("run: [cat, ~/x]", "write `${{ env.HOME }}`"),
      ("run: [cat, $HOME]", "write `${{ env.HOME }}`"),
    ])
  func `a script with syntax of another tool has a warning`(keys: String, help: String) throws {
    let warnings = try compile("vars: { NAME: x }\ntasks: { a: { \(keys) } }").warnings
    #expect(warnings.map(\.help) == [help])
  }

  @Test(arguments: [
    "run: 'docker ps --format {{.Names}}'", "run: 'echo $(date) ${HOME} $NAME'",
    "run: 'echo \"it’s\"'",
    "run: 'echo \"“x”\"'", "run: [printf, '%s', '$HOME is a name']", "run: [expr, 1, '|', 2]",
    "run: [echo, '*.c', '$1']", "run: 'echo ${{ vars.NAME }}'", "run: [make, maker]",
    "run: [sh, -c, \"make test\"]", "run: [sh, -c, 'a b']", "run: [\"echo\", \"a b\", 'c\td']",
    "run: [echo, '${{ vars.NAME }} x']",
  ])
  func `a script without such syntax has no warning`(keys: String) throws {
    #expect(try compile("vars: { NAME: x }\ntasks: { a: { \(keys) } }").warnings.isEmpty)
  }

  @Test(
    arguments: [
      ("[make, make test]", "make test"), ("[sh, -c, a b]", "a b"),
      ("[\"sh\", \"-c\", a b]", "a b"),
      ("\n      - echo\n      - x ${{ vars.NAME }}", "x ${{ vars.NAME }}"),
      ("\n      - npm install\n      - npm test", nil), ("['make all']", nil),
    ] as [(String, String?)])
  func `an unquoted item with a space is an error`(run: String, item: String?) throws {
    let error = try #require(throws: ManifestError.self) {
      try compile("vars: { NAME: x }\ntasks:\n  a:\n    run: \(run)\n")
    }
    let diagnostic = try #require(error.diagnostics.first)
    #expect(error.errorCount == 1)
    if let item {
      #expect(diagnostic.message == "an item of `run` must be one word, not `\(item)`")
    } else {
      #expect(
        diagnostic.message.hasPrefix("the first item of `run` must be the name of a program, not"))
    }
    #expect(
      diagnostic.help
        == "a list is one command; for several, write a block scalar, `run: |`, or join them with"
        + " `&&`: `run: make && make install`; put an argument with spaces in quotes")
  }

  @Test func `a quoted item with a space is one argument`() throws {
    let plan = try plan(
      """
      vars: { NAME: x y }
      tasks:
        a: { run: ["sh", "-c", "a b", 'c d', "${{ vars.NAME }}"] }
        b:
          run:
            - sh
            - -c
            - |
              make
              make test
            - ${{ vars.NAME }}
      """)
    #expect(try plan.wordTexts("a") == ["sh", "-c", "a b", "c d", "x y"])
    #expect(try plan.wordTexts("b") == ["sh", "-c", "make\nmake test\n", "x y"])
  }

  @Test func `the error about another encoding names the command that converts it`() throws {
    for (bytes, message) in [
      ([0xFF, 0xFE, 0x74, 0], "the manifest is UTF-16, not UTF-8"),
      (
        Array("tasks: { a: { run: h".utf8) + [0xE4, 0x20, 0x7D, 0x7D],
        "the manifest is not valid UTF-8 here"
      ),
    ] as [([UInt8], String)] {
      let error = try #require(throws: ManifestError.self) { try compile(bytes: bytes) }
      #expect(error.diagnostics.first?.message == message)
      #expect(error.diagnostics.first?.help?.hasPrefix("convert it to UTF-8") == true)
    }
  }

  @Test(arguments: [
    "", "desc: x, tags: y, manual: true, ", "if: env.CI, priority: high, ",
    "matrix: { n: [1, 2] }, ", "finally: true, ",
  ])
  func `a task that has needs alone is a name for them`(keys: String) throws {
    let plan = try plan("tasks: { a: { \(keys)needs: [b, c] }, b: { run: x }, c: { run: x } }")
    let id = keys.contains("matrix") ? "a[n=1]" : "a"
    let task = try plan.id(id)
    #expect(plan.kind(task) == .command)
    #expect(plan.list(plan.record(task).words).map { plan.string($0) } == ["true"])
    #expect(plan.flags(task).contains(.checked) == !keys.contains("finally"))
  }

  @Test func `a variable of a shell in an address is warned of where it is one for sure`() throws {
    let one = try compile(
      "tasks: { a: { download: { url: 'https://example.org/${NAME}/$DIR', to: x } } }")
    #expect(
      one.warnings.map(\.message) == [
        "`url` contains `${NAME}`, which opflow does not expand here"
      ])
    let none = try compile("tasks: { a: { download: { url: 'https://example.org/$DIR', to: x } } }")
    #expect(none.warnings.isEmpty)
  }

  @Test(arguments: [
    "env: { A: 'pa$s' }", "env: { A: 'costs 5$' }", "env: { A: '$1' }", "env: { A: a~b }",
    "env: { A: '${{ env.HOME }}/x' }", "env: { A: '$' }", "env: { A: '${' }",
    "env: { A: '$AB' }, if: 'true'",
    "dir: src",
  ])
  func `what is no variable of a shell is not`(keys: String) throws {
    let count = keys.contains("$AB") ? 1 : 0
    #expect(try compile("tasks: { a: { run: x, \(keys) } }").warnings.count == count)
  }

  @Test func `a key of a later version is refused as such, with what to do instead`() throws {
    let text = "tasks: { a: { run: x, retry: { max: 1, memory: 2 } } }"
    #expect(errors(in: text) == ["1:40: `memory` in `retry` is not supported yet"])
    let error = try #require(throws: ManifestError.self) { try compile(text) }
    #expect(error.diagnostics.first?.help?.contains("`memory_limit`") == true)
  }

  @Test func `a key that does not exist yet is never offered`() throws {
    for text in [
      "frobnicate: 1\ntasks: { a: { run: x } }", "tasks: { a: { run: x, frobnicate: 1 } }",
    ] {
      let error = try #require(throws: ManifestError.self) { try compile(text) }
      let help = try #require(error.diagnostics.first?.help)
      #expect(help.hasPrefix("known keys: "))
    }
    let text = "tasks: { a: { run: x, retry: { memori: 2 } } }"
    let error = try #require(throws: ManifestError.self) { try compile(text) }
    let help = try #require(error.diagnostics.first?.help)
    #expect(!help.contains("memory"), "\(help)")
  }
}
