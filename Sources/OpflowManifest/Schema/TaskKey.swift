internal import OpflowPlan

// The only definition of a task's keys.

enum TaskKey: Int, SchemaKey {
  // In the order of the help: the most used first.
  case run, needs, desc, matrix, env, dir, shell, timeout, retry, condition, inputs, outputs
  case cache, clean, download, service, approve, secrets, resources, priority, allowFailure
  case finally, manual, tags, stop, onInterrupted, interactive, memoryLimit
  case control, local, jobserver, block

  /// The first of the keys that few manifests need.
  static let firstAdvanced = TaskKey.control

  /// A task has at most one action.
  static let actions: [TaskKey] = [.run, .download, .approve, .block]

  /// Keys of a task without an action, which groups its `needs`.
  static let ofNames: [TaskKey] = [
    .needs, .desc, .tags, .manual, .condition, .priority, .matrix, .finally,
  ]

  static let notOfApprovals: [TaskKey] =
    [
      .env, .dir, .shell, .retry, .stop, .resources, .inputs, .outputs, .finally, .onInterrupted,
      .secrets, .interactive, .control, .cache,
    ] + ofPrograms

  static let notOfExternalTasks: [TaskKey] =
    [
      .env, .dir, .shell, .inputs, .outputs, .finally, .secrets, .interactive, .control, .cache,
    ] + ofPrograms

  static let notOfServices: [TaskKey] = [
    .timeout, .retry, .inputs, .outputs, .cache, .finally, .allowFailure, .onInterrupted,
    .interactive, .jobserver, .clean,
  ]

  /// Some flags only say that the plan has more data of the key.
  static let ofFlags: [(key: TaskKey, flag: TaskFlags)] = [
    (.finally, .finally), (.condition, .conditionFalse), (.allowFailure, .allowAnyFailure),
    (.onInterrupted, .failWhenInterrupted), (.matrix, .emptyMatrix), (.manual, .manual),
    (.interactive, .interactive), (.control, .control), (.condition, .lateCondition),
    (.inputs, .checked), (.outputs, .declaresOutputs), (.cache, .cached), (.service, .service),
  ]

  /// `FlagReader` reads them, except `secrets`.
  static let ofTexts: [(key: TaskKey, text: TaskText)] = [
    (.desc, .description), (.tags, .tags), (.secrets, .secrets),
  ]

  /// Keys that `ProcessReader` reads.
  static let ofProcesses: [(key: TaskKey, rule: ProcessRule)] = [
    (.jobserver, .jobserver), (.memoryLimit, .memoryLimit), (.local, .local), (.clean, .clean),
  ]

  private static var ofPrograms: [TaskKey] {
    ofProcesses.filter(\.rule.isOfPrograms).map(\.key)
  }

  /// Keys of `ifTrue` are errors only if true.
  static var notOfDownloads: (always: [TaskKey], ifTrue: [TaskKey]) {
    var keys: (always: [TaskKey], ifTrue: [TaskKey]) = (
      [.inputs, .outputs, .cache, .service], [.interactive, .control]
    )
    for row in ofProcesses where row.rule.isOfPrograms {
      switch row.rule.takes {
      case .flag, .style: keys.ifTrue.append(row.key)
      case .bytes, .number: keys.always.append(row.key)
      }
    }
    return keys
  }

  /// In help's order.
  static let ofDefaults: [TaskKey] = [
    .shell, .dir, .env, .timeout, .retry, .stop, .priority, .resources, .onInterrupted,
  ]

  static let table = [
    KeyRow(
      "run", .either([.script, .command]),
      "Run a command: a string for the shell, or a list that is executed without a shell",
      example: "run: |\n  make\n  make install"),
    KeyRow(
      "needs", .either([.id, .list(.either([.id, .map(.need)]), mayBeEmpty: true)]),
      "Dependencies: task IDs, or `{ task: ID, on: WORD }` with a condition; a task with "
        + "only `needs` is an alias for a group of tasks",
      example: "needs: [build, { task: lint, on: finished }]"),
    KeyRow(
      TaskText.description.word, .line,
      "Description for readers",
      example: "desc: the unit tests"),
    KeyRow(
      "matrix", .map(.matrix),
      "Make a task for each combination of values",
      example: "matrix: { arch: [x86_64, aarch64] }\nrun: make ARCH=${{ matrix.arch }}"),
    KeyRow(
      "env", .each(.taskVariable, .scalar),
      "Environment variables; they override those of the manifest",
      example: "env: { CC: clang }"),
    KeyRow(
      "dir", .text, standard: "the folder of the task's file",
      "Folder in which the command runs",
      example: "dir: src"),
    KeyRow(
      "shell", .either([.text, .command]), standard: "`[/bin/sh, -ec]`",
      "Command that gets a script as its last argument; `bash` is short for `[bash, -eo, "
        + "pipefail, -c]`",
      example: "shell: [python3, -c]"),
    KeyRow(
      "timeout", .duration, standard: "none",
      "Time limit of an attempt; then opflow stops it, and it has failed",
      example: "timeout: 10m"),
    KeyRow(
      "retry", .either([.integer(KeyBounds.retries), .map(.retry)]),
      standard: "0; 3 for a download",
      "Retries after a failure; a number is short for `max`",
      example: "retry: { max: 3, delay: 5s }"),
    KeyRow(
      "if", .expression, standard: "true",
      "Condition; if it is false, the task is skipped and its dependents still run",
      example: "if: env.CI == 'true'"),
    KeyRow(
      "inputs", .nested("inputs", .either([.text, .map(.input)])),
      "Paths, patterns, variables and commands; if none of them changed, the task is up to date",
      example: "inputs: [\"src/**/*.c\", Makefile, { env: CC }]"),
    KeyRow(
      "outputs", .nested("outputs", .text),
      "Paths and patterns of the files that the task creates",
      example: "outputs: [out/app]"),
    KeyRow(
      "cache", .either([.boolean, .map(.cache)]), standard: "`false`",
      "Store results, and restore them instead of running the task; needs `inputs`",
      example: "inputs: [\"src/*.c\"]\noutputs: [out/app]\ncache: true"),
    KeyRow(
      "clean", ValueShape(.clean), standard: "`false`",
      "Before the task runs, remove the files that it created last time; needs `inputs` and "
        + "`outputs`",
      example: "inputs: [\"src/*.c\"]\noutputs: [\"out/*\"]\nclean: true"),
    KeyRow(
      "download", .map(.download),
      "File to fetch, instead of `run`",
      example: "download:\n  url: https://example.org/sdk.tgz\n  to: cache/sdk.tgz"),
    KeyRow(
      "service", .either([.boolean, .map(.service)]), standard: "`false`",
      "Keep the task running while its dependents run",
      example: "run: ./server\nservice: { ready: { port: 8080 } }"),
    KeyRow(
      "approve", .text,
      "Question for a person, instead of `run`; `opflow approve` lets the task succeed",
      example: "approve: Publish this package?"),
    KeyRow(
      TaskText.secrets.word, .list(.name(.taskVariable), mayBeEmpty: true),
      "Secrets that the task gets as environment variables",
      example: "secrets: [TOKEN]"),
    KeyRow(
      "resources",
      .entries(
        .identifier, .amount(mayBeNone: true),
        known: [
          ("cpu", .integer(0...KeyBounds.maxParallel.upperBound)),
          ("download", .integer(0...KeyBounds.maxParallel.upperBound)), ("memory", .size),
        ], mayBeEmpty: true), standard: "`{ cpu: 1 }`; `{ download: 1 }` for a download",
      "Resources that the task holds while it runs",
      example: "resources: { cpu: 4, memory: 2GiB }"),
    KeyRow(
      "priority", .wordOrNumber(PriorityLevels.words, KeyBounds.priority),
      standard: "`normal` (0)",
      "Among ready tasks, the one with the highest priority starts first",
      example: "priority: high"),
    KeyRow(
      "allow_failure", .either([.boolean, .list(.integer(KeyBounds.exitCode), mayBeEmpty: false)]),
      standard: "`false`",
      "A failure, or one with these exit codes, does not fail the run",
      example: "allow_failure: [2, 3]"),
    KeyRow(
      "finally", .boolean, standard: "`false`",
      "Run after all other tasks, whether they succeeded or failed",
      example: "finally: true"),
    KeyRow(
      "manual", .boolean, standard: "`false`",
      "Run only if you name the task or another task needs it",
      example: "manual: true"),
    KeyRow(
      TaskText.tags.word, .either([.tag, .list(.text, mayBeEmpty: true)]),
      "Labels for `--only tag:NAME` and `--skip tag:NAME`",
      example: "tags: [fast, unit]"),
    KeyRow(
      "stop", .map(.stop), standard: "`{ signal: TERM, grace: 5s }`",
      "Stop signal and grace period of the task",
      example: "stop: { signal: INT, grace: 30s }"),
    KeyRow(
      "on_interrupted", .word(["rerun", "fail"]), standard: "`rerun`",
      "If the run dies while the task runs: a resume runs it again (`rerun`) or lets it "
        + "fail (`fail`)",
      example: "on_interrupted: fail"),
    KeyRow(
      "interactive", .boolean, standard: "`false`",
      "Give the terminal to the task while it runs",
      example: "interactive: true"),
    KeyRow(
      "memory_limit", ValueShape(.memoryLimit), standard: "none",
      "Memory limit of the task and its child processes; a task that exceeds it is killed; "
        + "needs a control group",
      example: "memory_limit: 2GiB"),
    KeyRow(
      "control", .boolean, standard: "`false`",
      "Let the task control its own run, as with `opflow cancel`",
      example: "control: true"),
    KeyRow(
      "local", ValueShape(.local), standard: "`false`",
      "Run the task on the machine where opflow started, not on other nodes",
      example: "local: true"),
    KeyRow(
      "jobserver", ValueShape(.jobserver), standard: "`false`",
      "Let `make`, `ninja` or `cargo` in the task take their jobs from the run's `cpu`",
      example: "run: make\njobserver: true"),
    KeyRow(
      "block", .boolean,
      "`true` instead of `run`: a program that uses the opflow library does the work",
      example: "block: true"),
  ]
}
