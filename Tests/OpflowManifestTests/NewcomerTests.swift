import OpflowManifest
import OpflowPlan
import Testing

/// What people write first who know other tools, and what they are told.
struct NewcomerTests {
  /// A task's keys, and the help of the first mistake.
  private static let taskSlips: [(String, String)] = [
    (
      "run: x, resources: { db: 1 }",
      "declare its capacity at the top of the manifest: `resources: { db: 1 }`"
    ),
    (
      "run: x, resources: { memroy: 1GiB }",
      "did you mean `memory`? Else declare its capacity at the top of the manifest:"
        + " `resources: { memroy: 1GiB }`"
    ),
    ("run: x, env: [A=1]", "write a map: { A: \"1\" }"),
    ("run: x, env: [{ name: A, value: 1 }]", "write a map: { NAME: value }"),
    ("run: x, env: A=1", "write a map: { A: \"1\" }"),
    ("run: x, allow_failure: \"2\"", "write a list: [2]"),
    ("run: x, needs: e", "did you mean `b`?"),
    ("run: x, if: $CI", "a variable of the environment is `env.CI`"),
    ("run: x, if: \"${CI}\"", "a variable of the environment is `env.CI`"),
    (
      "run: x, if: env.A == 'b' && $CI_JOB != ''", "a variable of the environment is `env.CI_JOB`"
    ),
    ("run: x, if: \"env.CI = 'a'\"", "compare with `==`"),
    (
      "run: x, if: always()",
      "`finally: true` runs a task after all others, whatever became of them;"
        + " `needs: [{ task: ID, on: finished }]` after any end of one"
    ),
    (
      "run: x, if: \"${{ failure() }}\"",
      "`needs: [{ task: ID, on: failure }]` runs a task after a failure of another"
    ),
    ("run: x, if: success()", "a task runs after the success of what it needs; leave it out"),
    (
      "run: x, if: \"startsWith(env.A, 'b')\"",
      "compare texts with `==` and `!=`; anything else is for `run` to find out"
    ),
    (
      "run: x, if: \"[ -f x ]\"",
      "an expression is no command; let `run` find out what only a command can tell"
    ),
    (
      "run: \"x ${{ github.sha }}\"",
      "GitHub Actions tells it in the environment: `env.GITHUB_SHA`"
    ),
    (
      "run: \"x ${{ secrets.TOKEN }}\"",
      "a task that lists it in `secrets` finds it in its environment as `$TOKEN`;"
        + " in an expression it stands in `headers` of a download only"
    ),
    (
      "run: \"x ${{ runner.os }}\"",
      "GitHub Actions tells it in the environment: `env.RUNNER_OS`"
    ),
    (
      "run: \"x ${{ foo.bar }}\"",
      "an expression knows `vars.NAME`, `env.NAME`, `matrix.NAME`, `task.id` and `run.id`"
    ),
    ("run: \"x ${{ matrix.os }}\"", "only a task with a `matrix` has such names"),
    ("run: x, allow_failure: \"true\"", "write it without quotes"),
    ("run: x, finally: 'false'", "write it without quotes"),
    ("run: x, allow_failure: 75", "write a list: [75]"),
    ("run: x, retry: { exit_codes: 75 }", "write a list: [75]"),
    ("run: x, tags: 'a, b'", "several tags are a list: [fast, slow]"),
    ("run: x, needs: [{ task: b, on: always }]", "`finished` is met by any end"),
    (
      "run: x, needs: [{ task: b, on: failed }]",
      "`failure` is met by a failure that is not allowed"
    ),
    (
      "cmds: [make, make test]",
      "the key is `run` here: write `run: |`, and below it each command on a line of its own"
    ),
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
      "`manual: true` keeps it out of `opflow run`; what needs it still has it run"
    ),
    (
      "run: x, prompt: sure",
      "a question is a task of its own with `approve: \"…?\"`, which this one needs"
    ),
    (
      "run: x, vars: { A: b }",
      "`vars` stand at the top; what only this task has is `env`"
    ),
    ("run: x, stop_grace_period: 10s", "it stands in `stop`: `stop: { grace: 10s }`"),
    (
      "run: x, dir: ~",
      "`~` is nothing to YAML; the home folder is `${{ env.HOME }}`"
    ),
    (
      "dir: x, needs: [b]",
      "give it `run` or `download`; one that is but a name for others has `needs` alone"
    ),
    ("run: x, needs: b c", "several ids are a list: [b, c]"),
    ("run: x, needs: 'b, c'", "several ids are a list: [b, c]"),
    ("run: x, timeout-minutes: 5", "the key is `timeout` here, with a unit: `timeout: 10m`"),
    ("run: x, runs-on: ubuntu", "tasks run on this machine; leave it out"),
    ("uses: actions/checkout@v4", "there are no actions here: write their commands under `run`"),
    ("run: x, image: alpine", "tasks run on this machine; a container is `run: docker run …`"),
    ("run: x, stage: build", "what comes after what follows from `needs`"),
    ("run: x, artifacts: [a]", "the key is `outputs` here"),
    ("run: x, sources: [a]", "the key is `inputs` here"),
    (
      "run: x, strategy: { matrix: { a: [1] } }",
      "`matrix` stands in the task itself: `matrix: { NAME: [a, b] }`"
    ),
    (
      "run: x, parallel: { matrix: [{ A: b }] }",
      "an axis stands under `matrix`: `matrix: { NAME: [a, b] }`"
    ),
    ("run: x, parallel: 5", "copies with a number each are `matrix: { n: { range: [1, 5] } }`"),
    (
      "run: x, parallel: many",
      "tasks run at once as far as `needs` and `max_parallel` let them"
    ),
    ("run: x, when: manual", "write `manual: true`"),
    ("run: x, when: always", "write `finally: true`, or `on: finished` with each of its `needs`"),
    (
      "run: x, when: on_failure",
      "say so of what it needs: `needs: [{ task: ID, on: failure }]`"
    ),
    ("run: x, when: '${{ env.CI }}'", "the key is `if` here"),
    ("download: https://example.org/a", "write { url: https://…, to: FILE }"),
    ("run: x, needs: other", "the other tasks are b, c"),
    ("run: x, needs: [a]", "take it out of its own `needs`"),
    (
      "run: x, needs: ['${NEXT}']",
      "an id is written out, or has an expression: `${{ env.NEXT }}`"
    ),
    (
      "run: x, retry: 3x",
      "how often it is tried again, `retry: 3`, or with more: `retry: { max: 3, delay: 5s }`"
    ),
    (
      "run: x, retry: [3]",
      "how often it is tried again, `retry: 3`, or with more: `retry: { max: 3, delay: 5s }`"
    ),
    (
      "run: x, stop: SIGINT",
      "write the signal, how long to wait for an end, or both: { signal: INT, grace: 10s }"
    ),
    (
      "run: x, timeout: '${LIMIT}'",
      "nothing expands `${LIMIT}` here: write `${{ env.LIMIT }}`"
    ),
    ("run: x, finally: $LAST", "nothing expands `$LAST` here: write `${{ env.LAST }}`"),
    ("run: x, priority: $LEVEL", "nothing expands `$LEVEL` here: write `${{ env.LEVEL }}`"),
    (
      "run: x, resources: { memory: $SIZE }",
      "nothing expands `$SIZE` here: write `${{ env.SIZE }}`"
    ),
    ("run: x, retry: $TRIES", "nothing expands `$TRIES` here: write `${{ env.TRIES }}`"),
    ("run: x, if: env.A and env.B", "write `&&`"),
    ("run: x, if: env.A or env.B", "write `||`"),
    ("run: x, if: not env.A", "write `!`"),
    (
      "run: x, secrets: { TOKEN: abc }",
      "a task lists names, `secrets: [TOKEN]`; where their values come from stands in `secrets`"
        + " at the top"
    ),
    ("run: x, priority: urgent", "write `very_high`"),
    ("run: x, stop: { signal: SIGTRM }", "did you mean `TERM`?"),
    ("run: x, matrix: { os: [] }", "give it a value, or take it away"),
    ("run: { cmd: make }", "write the command itself: `run: make test`"),
    (
      "run: x, service: { port: 80 }",
      "it stands in `ready`: `service: { ready: { port: 8080 } }`"
    ),
    (
      "run: x, schedule: '0 3 * * *'",
      "what starts a run is whoever calls `opflow run`: cron, a systemd timer, CI"
    ),
  ]

  @Test(arguments: taskSlips)
  func `a task with what another tool has`(keys: String, help: String) throws {
    let error = try #require(throws: ManifestError.self) {
      try compile("tasks: { a: { \(keys) }, b: { run: x }, c: { run: x } }")
    }
    #expect(error.diagnostics.contains { $0.help == help }, "\(error.diagnostics)")
    #expect(error.diagnostics.allSatisfy { $0.line > 0 && $0.column > 0 })
  }

  private static let manifestSlips: [(String, String)] = [
    (
      "tasks:\n  - name: build\n    run: make\n",
      "each task stands under its id: `tasks: { build: { run: … } }`"
    ),
    (
      "tasks: [make, test]",
      "each task stands under its id: `tasks: { build: { run: … } }`"
    ),
    (
      "build:\n  script: make\n",
      "a task stands under `tasks`: `tasks: { build: { run: … } }`"
    ),
    ("tasks: { a: [make, make test] }", "write a: { run: … }"),
    ("tasks: { a: make }", "write a: { run: … }"),
    (
      "tasks:\n  a:\n    run make test\n",
      "a `:` and a blank stand between a key and its value: `run: make test`"
    ),
    (
      "tasks:\n  a:\n    run:make\n",
      "a `:` and a blank stand between a key and its value: `run: make`"
    ),
    ("tasks: { a: { run: x, needs: [b] } }", "there is no other task"),
    ("tasks: { a: { run: x, needs: [other] }, b: { run: x } }", "the other task is `b`"),
    ("tasks:\nbuild:\n  run: make\n", "write the tasks below it, further to the right"),
    (
      "version: \"3.8\"\ntasks: { a: { run: x } }",
      "it is the version of the manifest's format; leave it out, or write `version: 1`"
    ),
    (
      "services: { db: { image: postgres } }\ntasks: { a: { run: x } }",
      "a service is a task with `service: true`, and what uses it names it in `needs`"
    ),
    (
      "version: 3\ntasks: { a: { run: x } }",
      "it is the version of the manifest's format; leave it out, or write `version: 1`"
    ),
    (
      "on: push\ntasks: { a: { run: x } }",
      "what starts a run is whoever calls `opflow run`: cron, CI, a hook"
    ),
    (
      "shell: bash\ntasks: { a: { run: x } }",
      "it stands under `defaults`: `defaults: { shell: bash }`"
    ),
    (
      "version: '3'\ntasks: { a: { run: x } }",
      "it is the version of the manifest's format; leave it out, or write `version: 1`"
    ),
    ("jobs: 4\ntasks: { a: { run: x } }", "the key is `max_parallel` here: `max_parallel: 4`"),
    (
      "base: &b { timeout: 1m }\ntasks: { a: { run: x, <<: *b } }",
      "a key that is there for its anchor begins with `x-`: `x-base`"
    ),
    (
      ".base: { timeout: 1m }\ntasks: { a: { run: x } }",
      "a key that is there for its anchor begins with `x-`: `x-base`"
    ),
    (
      "rule a:\n  shell: x\ntasks: { b: { run: x } }",
      "a rule is a task: `tasks: { a: { run: … } }`"
    ),
    (
      "tasks: { build all: { run: x } }",
      "an id is 1 to 255 letters, digits and `_ . - + @ : /`, beginning with a letter, digit or "
        + "`_`: `build-all`"
    ),
    (
      "tasks: { 'bücher!': { run: x } }",
      "an id is 1 to 255 letters, digits and `_ . - + @ : /`, beginning with a letter, digit or "
        + "`_`: `b-cher`"
    ),
    ("vars: [A=1]\ntasks: { a: { run: x } }", "write a map: { A: \"1\" }"),
  ]

  @Test(arguments: manifestSlips)
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
  func `a quote within quotes is told as such`(text: String, place: String) throws {
    let error = try #require(throws: ManifestError.self) { try compile(text) }
    let first = try #require(error.diagnostics.first)
    #expect("\(first.line):\(first.column)" == place)
    #expect(first.message == "nothing may follow the closing quote")
    #expect(first.help?.hasPrefix("a `'` within '…' is written twice") == true)
  }

  @Test func `a single tag needs no list`() throws {
    let plan = try plan("tasks: { a: { run: x, tags: fast } }")
    #expect(plan.texts(.tags, of: try plan.id("a")).map { plan.string($0) } == ["fast"])
  }

  @Test(
    arguments: [
      ("env: { PATH: \"$HOME/bin:$PATH\" }", "`env.PATH` holds `$HOME`", "write `${{ env.HOME }}`"),
      ("env: { A: \"x${FOO_1}y\" }", "`env.A` holds `${FOO_1}`", "write `${{ env.FOO_1 }}`"),
      ("env: { A: ~/x }", "`env.A` holds `~`", "write `${{ env.HOME }}`"),
      ("dir: ~/src", "`dir` holds `~`", "write `${{ env.HOME }}`"),
      ("dir: $WORK/src", "`dir` holds `$WORK`", "write `${{ env.WORK }}`"),
    ])
  func `what only a shell would expand is warned of`(
    key: String, message: String, help: String
  ) throws {
    for text in [
      "tasks: { a: { run: x, \(key) } }", "defaults: { \(key) }\ntasks: { a: { run: x } }",
    ] {
      let warnings = try compile(text).warnings
      #expect(warnings.map(\.message) == ["\(message), and nothing expands it here"])
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
      ("run: \"echo\u{A0}x\"", "put a plain blank in its place"),
      ("run: 'echo “x y”'", "put `\"` in its place"),
      ("run: [cat, a, '|', wc]", "write all of it as a text: `run: make && make test`"),
      ("run: [make, make test]", "write `run: |`, and below it each command on a line of its own"),
      ("run: [cat, ~/x]", "write `${{ env.HOME }}`"),
      ("run: [cat, $HOME]", "write `${{ env.HOME }}`"),
    ])
  func `a script that other tools would fill in is warned of`(keys: String, help: String) throws {
    let warnings = try compile("vars: { NAME: x }\ntasks: { a: { \(keys) } }").warnings
    #expect(warnings.map(\.help) == [help])
  }

  @Test(arguments: [
    "run: 'docker ps --format {{.Names}}'", "run: 'echo $(date) ${HOME} $NAME'",
    "run: 'echo \"it’s\"'",
    "run: 'echo \"“x”\"'", "run: [printf, '%s', '$HOME is a name']", "run: [expr, 1, '|', 2]",
    "run: [echo, '*.c', '$1']", "run: 'echo ${{ vars.NAME }}'", "run: [make, maker]",
  ])
  func `a script that means what it says is not`(keys: String) throws {
    #expect(try compile("vars: { NAME: x }\ntasks: { a: { \(keys) } }").warnings.isEmpty)
  }

  @Test func `a file of another encoding is told how it becomes one`() throws {
    for (bytes, message) in [
      ([0xFF, 0xFE, 0x74, 0], "the manifest is UTF-16"),
      (
        Array("tasks: { a: { run: h".utf8) + [0xE4, 0x20, 0x7D, 0x7D],
        "the manifest is not UTF-8 from here on"
      ),
    ] as [([UInt8], String)] {
      let error = try #require(throws: ManifestError.self) { try compile(bytes: bytes) }
      #expect(error.diagnostics.first?.message == message)
      #expect(error.diagnostics.first?.help?.hasPrefix("save it as UTF-8") == true)
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
      one.warnings.map(\.message) == ["`url` holds `${NAME}`, and nothing expands it here"])
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
    #expect(errors(in: text) == ["1:40: `memory` in `retry` does not exist yet"])
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
