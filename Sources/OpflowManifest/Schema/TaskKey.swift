internal import OpflowPlan

// The only definition of a task's keys.

enum TaskKey: Int, SchemaKey {
  case run, download, needs, priority, env, dir, shell, timeout, retry, stop, allowFailure
  case resources, condition, matrix, inputs, outputs, finally, onInterrupted, secrets, desc, tags
  case manual, interactive, control, approve, cache, service, jobserver, memoryLimit, local, block
  case clean

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

  /// Keys that `ProcessReader` reads. `use` completes an error message.
  static let ofProcesses: [(key: TaskKey, rule: ProcessRule, use: StaticString)] = [
    (.jobserver, .jobserver, "take jobs from it"), (.memoryLimit, .memoryLimit, "use it up"),
    (.local, .local, ""), (.clean, .clean, "leave more than its `to`"),
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
      "what it runs: a text for a shell, or a list that is executed as it stands",
      example: "run: |\n  make\n  make install"),
    KeyRow(
      "download", .map(.download), "a file that it fetches, in place of `run`",
      example: "download:\n  url: https://example.org/sdk.tgz\n  to: cache/sdk.tgz"),
    KeyRow(
      "needs", .either([.id, .list(.either([.id, .map(.need)]), mayBeEmpty: true)]),
      "what must have ended before: ids, or with a condition `{ task: ID, on: WORD }`;"
        + " a task with nothing else to do is a name for them",
      example: "needs: [build, { task: lint, on: finished }]"),
    KeyRow(
      "priority", .wordOrNumber(PriorityLevels.words, KeyBounds.priority),
      standard: "`normal`, which is 0", "among ready tasks the higher one starts first",
      example: "priority: high"),
    KeyRow(
      "env", .each(.taskVariable, .scalar), "environment variables, over the manifest's",
      example: "env: { CC: clang }"),
    KeyRow(
      "dir", .text, standard: "the folder of the task's file", "where it runs",
      example: "dir: src"),
    KeyRow(
      "shell", .either([.text, .command]), standard: "`[/bin/sh, -ec]`",
      "the words before a script; `bash` is short for `[bash, -eo, pipefail, -c]`",
      example: "shell: [python3, -c]"),
    KeyRow(
      "timeout", .duration, standard: "none", "after which a try is stopped, and has failed",
      example: "timeout: 10m"),
    KeyRow(
      "retry", .either([.integer(KeyBounds.retries), .map(.retry)]), standard: "0; of a download 3",
      "how often it is tried again after a failure; a number is short for `max`",
      example: "retry: { max: 3, delay: 5s }"),
    KeyRow(
      "stop", .map(.stop), standard: "`{ signal: TERM, grace: 5s }`",
      "how it is ended while it runs", example: "stop: { signal: INT, grace: 30s }"),
    KeyRow(
      "allow_failure", .either([.boolean, .list(.integer(KeyBounds.exitCode), mayBeEmpty: false)]),
      standard: "`false`", "a failure of it, or one with these exit codes, does not fail the run",
      example: "allow_failure: [2, 3]"),
    KeyRow(
      "resources",
      .entries(
        .identifier, .amount(mayBeNone: true),
        known: [
          ("cpu", .integer(0...KeyBounds.maxParallel.upperBound)),
          ("download", .integer(0...KeyBounds.maxParallel.upperBound)), ("memory", .size),
        ], mayBeEmpty: true), standard: "`{ cpu: 1 }`; of a download `{ download: 1 }`",
      "what it holds while it runs", example: "resources: { cpu: 4, memory: 2GiB }"),
    KeyRow(
      "if", .expression, standard: "true",
      "when it is false, the task is skipped, and what needs it runs",
      example: "if: env.CI == 'true'"),
    KeyRow(
      "matrix", .map(.matrix), "makes a task for each combination of values",
      example: "matrix: { arch: [x86_64, aarch64] }\nrun: make ARCH=${{ matrix.arch }}"),
    KeyRow(
      "inputs", .nested("inputs", .either([.text, .map(.input)])),
      "what decides whether it is up to date: paths, patterns, variables, commands",
      example: "inputs: [\"src/**/*.c\", Makefile, { env: CC }]"),
    KeyRow(
      "outputs", .nested("outputs", .text), "the paths and patterns of what it leaves",
      example: "outputs: [out/app]"),
    KeyRow(
      "finally", .boolean, standard: "`false`",
      "it runs after all others have ended, whatever became of them", example: "finally: true"),
    KeyRow(
      "on_interrupted", .word(["rerun", "fail"]), standard: "`rerun`",
      "what a resume does with it when it was running as the run ended",
      example: "on_interrupted: fail"),
    KeyRow(
      TaskText.secrets.word, .list(.name(.taskVariable), mayBeEmpty: true),
      "the secrets that it finds in its environment", example: "secrets: [TOKEN]"),
    KeyRow(
      TaskText.description.word, .line, "a line for people", example: "desc: the unit tests"),
    KeyRow(
      TaskText.tags.word, .either([.tag, .list(.text, mayBeEmpty: true)]),
      "words by which `--only tag:WORD` and `--skip tag:WORD` find it",
      example: "tags: [fast, unit]"),
    KeyRow(
      "manual", .boolean, standard: "`false`",
      "it runs only when it is named, or needed by what runs", example: "manual: true"),
    KeyRow(
      "interactive", .boolean, standard: "`false`", "it has the terminal for itself while it runs",
      example: "interactive: true"),
    KeyRow(
      "control", .boolean, standard: "`false`",
      "it may steer its own run: `opflow cancel` and the like", example: "control: true"),
    KeyRow(
      "approve", .text,
      "a question that it asks, in place of `run`: `opflow approve` lets it succeed",
      example: "approve: Publish this package?"),
    KeyRow(
      "cache", .either([.boolean, .map(.cache)]), standard: "`false`",
      "results are kept, and brought back instead of running it; it needs `inputs`",
      example: "inputs: [\"src/*.c\"]\noutputs: [out/app]\ncache: true"),
    KeyRow(
      "service", .either([.boolean, .map(.service)]), standard: "`false`",
      "it does not end by itself, and runs for as long as what needs it",
      example: "run: ./server\nservice: { ready: { port: 8080 } }"),
    KeyRow(
      "jobserver", ValueShape(.jobserver), standard: "`false`",
      "a `make`, `ninja` or `cargo` that it runs takes its jobs from the run's `cpu`",
      example: "run: make\njobserver: true"),
    KeyRow(
      "memory_limit", ValueShape(.memoryLimit), standard: "none",
      "it is ended when it and all that it started use more; it needs a control group",
      example: "memory_limit: 2GiB"),
    KeyRow(
      "local", ValueShape(.local), standard: "`false`",
      "it runs on the machine where opflow was started, whatever further machines a run has",
      example: "local: true"),
    KeyRow(
      "block", .boolean, "`true` in place of `run`: it is done by a program that offers it",
      example: "block: true"),
    KeyRow(
      "clean", ValueShape(.clean), standard: "`false`",
      "before it runs, the files that it left the last time are removed; it needs `inputs` and "
        + "`outputs`", example: "inputs: [\"src/*.c\"]\noutputs: [\"out/*\"]\nclean: true"),
  ]
}
