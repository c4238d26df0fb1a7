internal import OpflowCore

// What the keys of a task take and mean.

extension TaskKey {
  var row: KeyRow {
    switch self {
    case .run:
      KeyRow(
        .either([.script, .command]),
        "what it runs: a text for a shell, or a list that is executed as it stands",
        example: "run: |\n  make\n  make install")
    case .download:
      KeyRow(
        .map(.download), "a file that it fetches, in place of `run`",
        example: "download:\n  url: https://example.org/sdk.tgz\n  to: cache/sdk.tgz")
    case .needs:
      KeyRow(
        .either([.id, .list(.either([.id, .map(.need)]), mayBeEmpty: true)]),
        "what must have ended before: ids, or with a condition `{ task: ID, on: WORD }`;"
          + " a task with nothing else to do is a name for them",
        example: "needs: [build, { task: lint, on: finished }]")
    case .priority:
      KeyRow(
        .wordOrNumber(PriorityLevels.words, KeyBounds.priority),
        standard: "`normal`, which is 0", "among ready tasks the higher one starts first",
        example: "priority: high")
    case .env:
      KeyRow(
        .each(.taskVariable, .scalar), "environment variables, over the manifest's",
        example: "env: { CC: clang }")
    case .dir:
      KeyRow(
        .text, standard: "the folder of the task's file", "where it runs", example: "dir: src")
    case .shell:
      KeyRow(
        .either([.text, .command]), standard: "`[/bin/sh, -ec]`",
        "the words before a script; `bash` is short for `[bash, -eo, pipefail, -c]`",
        example: "shell: [python3, -c]")
    case .timeout:
      KeyRow(
        .duration, standard: "none", "after which a try is stopped, and has failed",
        example: "timeout: 10m")
    case .retry:
      KeyRow(
        .either([.integer(KeyBounds.retries), .map(.retry)]), standard: "0; of a download 3",
        "how often it is tried again after a failure; a number is short for `max`",
        example: "retry: { max: 3, delay: 5s }")
    case .stop:
      KeyRow(
        .map(.stop), standard: "`{ signal: TERM, grace: 5s }`", "how it is ended while it runs",
        example: "stop: { signal: INT, grace: 30s }")
    case .allowFailure:
      KeyRow(
        .either([.boolean, .list(.integer(KeyBounds.exitCode), mayBeEmpty: false)]),
        standard: "`false`", "a failure of it, or one with these exit codes, does not fail the run",
        example: "allow_failure: [2, 3]")
    case .resources:
      KeyRow(
        .entries(
          .identifier, .amount(mayBeNone: true),
          known: [
            ("cpu", .integer(0...KeyBounds.maxParallel.upperBound)),
            ("download", .integer(0...KeyBounds.maxParallel.upperBound)), ("memory", .size),
          ], mayBeEmpty: true),
        standard: "`{ cpu: 1 }`; of a download `{ download: 1 }`", "what it holds while it runs",
        example: "resources: { cpu: 4, memory: 2GiB }")
    case .condition:
      KeyRow(
        .expression, standard: "true",
        "when it is false, the task is skipped, and what needs it runs",
        example: "if: env.CI == 'true'")
    case .matrix:
      KeyRow(
        .map(.matrix), "makes a task for each combination of values",
        example: "matrix: { arch: [x86_64, aarch64] }\nrun: make ARCH=${{ matrix.arch }}")
    case .inputs:
      KeyRow(
        .nested("inputs", .either([.text, .map(.input)])),
        "what decides whether it is up to date: paths, patterns, variables, commands",
        example: "inputs: [\"src/**/*.c\", Makefile, { env: CC }]")
    case .outputs:
      KeyRow(
        .nested("outputs", .text), "the paths and patterns of what it leaves",
        example: "outputs: [out/app]")
    case .finally:
      KeyRow(
        .boolean, standard: "`false`",
        "it runs after all others have ended, whatever became of them",
        example: "finally: true")
    case .onInterrupted:
      KeyRow(
        .word(["rerun", "fail"]), standard: "`rerun`",
        "what a resume does with it when it was running as the run ended",
        example: "on_interrupted: fail")
    case .secrets:
      KeyRow(
        .list(.name(.taskVariable), mayBeEmpty: true),
        "the secrets that it finds in its environment",
        example: "secrets: [TOKEN]")
    case .desc: KeyRow(.line, "a line for people", example: "desc: the unit tests")
    case .tags:
      KeyRow(
        .either([.tag, .list(.text, mayBeEmpty: true)]),
        "words by which `--only tag:WORD` and `--skip tag:WORD` find it",
        example: "tags: [fast, unit]")
    case .manual:
      KeyRow(
        .boolean, standard: "`false`", "it runs only when it is named, or needed by what runs",
        example: "manual: true")
    case .interactive:
      KeyRow(
        .boolean, standard: "`false`", "it has the terminal for itself while it runs",
        example: "interactive: true")
    case .control:
      KeyRow(
        .boolean, standard: "`false`", "it may steer its own run: `opflow cancel` and the like",
        example: "control: true")
    case .approve:
      KeyRow(
        .text, "a question that it asks, in place of `run`: `opflow approve` lets it succeed",
        example: "approve: Publish this package?")
    case .block:
      KeyRow(
        .boolean, "`true` in place of `run`: it is done by a program that offers it",
        example: "block: true")
    case .cache:
      KeyRow(
        .either([.boolean, .map(.cache)]), standard: "`false`",
        "results are kept, and brought back instead of running it; it needs `inputs`",
        example: "inputs: [\"src/*.c\"]\noutputs: [out/app]\ncache: true")
    case .service:
      KeyRow(
        .either([.boolean, .map(.service)]), standard: "`false`",
        "it does not end by itself, and runs for as long as what needs it",
        example: "run: ./server\nservice: { ready: { port: 8080 } }")
    case .jobserver:
      KeyRow(
        .either([.boolean, .word(["fifo", "pipe"])]), standard: "`false`",
        "a `make`, `ninja` or `cargo` that it runs takes its jobs from the run's `cpu`",
        example: "run: make\njobserver: true")
    case .memoryLimit:
      KeyRow(
        .size, standard: "none",
        "it is ended when it and all that it started use more; it needs a control group",
        example: "memory_limit: 2GiB")
    case .local:
      KeyRow(
        .boolean, standard: "`false`",
        "it runs on the machine where opflow was started, whatever further machines a run has",
        example: "local: true")
    }
  }
}

extension NeedKey {
  var row: KeyRow {
    switch self {
    case .task:
      KeyRow(
        .id, standard: "required", "a task, or a family, or legs of one", example: "task: build")
    case .on:
      KeyRow(
        .word(["success", "failure", "finished", "ran"]), standard: "`success`",
        "which end of it is waited for", example: "task: build\non: failure")
    }
  }
}

extension RetryKey {
  var row: KeyRow {
    switch self {
    case .max:
      KeyRow(
        .integer(KeyBounds.retries), standard: "0; of a download 3", "tries after the first",
        example: "max: 3")
    case .delay:
      KeyRow(.duration, standard: "1s", "before the second try", example: "delay: 5s")
    case .backoff:
      KeyRow(
        .number(KeyBounds.backoff), standard: "2", "what the delay is multiplied by each time",
        example: "backoff: 1.5")
    case .maxDelay:
      KeyRow(
        .duration, standard: "1m, or `delay` where that is longer",
        "what the delay does not exceed",
        example: "max_delay: 5m")
    case .jitter:
      KeyRow(
        .number(KeyBounds.jitter), standard: "0.2",
        "how much of the delay is left to chance, as a part of one", example: "jitter: 0")
    case .exitCodes:
      KeyRow(
        .list(.integer(KeyBounds.exitCode), mayBeEmpty: false), standard: "any failure",
        "only these are tried again; timeouts and signals then are final",
        example: "exit_codes: [75]")
    }
  }
}

extension StopKey {
  var row: KeyRow {
    switch self {
    case .signal:
      KeyRow(
        .wordOrNumber(SignalWords.all, KeyBounds.signal), standard: "`TERM`",
        "sent to all processes of the task", example: "signal: INT")
    case .grace:
      KeyRow(
        .duration, standard: "5s", "after which what is left is killed", example: "grace: 30s")
    }
  }
}

/// What a signal may be called.
private enum SignalWords {
  private static let short = [
    "HUP", "INT", "QUIT", "ABRT", "KILL", "USR1", "USR2", "ALRM", "TERM", "WINCH", "PWR",
  ]

  static var all: [String] { short + short.map { "SIG" + $0 } }
}

extension CacheKey {
  var row: KeyRow {
    switch self {
    case .secrets:
      KeyRow(
        .boolean, standard: "`false`",
        "also of a task with `secrets`: what it leaves goes to everybody who has the cache",
        example: "secrets: true")
    }
  }
}

extension InputKey {
  var row: KeyRow {
    switch self {
    case .env:
      KeyRow(
        .name(.taskVariable), "the value of a variable, as the task finds it", example: "env: CC")
    case .run:
      KeyRow(
        .command, "what a command prints that is run in the task's `dir`",
        example: "run: [cc, --version]")
    }
  }
}
