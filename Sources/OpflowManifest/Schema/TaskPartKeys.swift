// The keys of maps within a task: their only definition.

enum NeedKey: Int, SchemaKey {
  case task, on

  var name: StaticString {
    switch self {
    case .task: "task"
    case .on: "on"
    }
  }

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

enum RetryKey: Int, SchemaKey {
  case max, delay, backoff, maxDelay, jitter, exitCodes

  var name: StaticString {
    switch self {
    case .max: "max"
    case .delay: "delay"
    case .backoff: "backoff"
    case .maxDelay: "max_delay"
    case .jitter: "jitter"
    case .exitCodes: "exit_codes"
    }
  }

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

enum StopKey: Int, SchemaKey {
  case signal, grace

  var name: StaticString {
    switch self {
    case .signal: "signal"
    case .grace: "grace"
    }
  }

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

enum CacheKey: Int, SchemaKey {
  case secrets

  var name: StaticString { "secrets" }

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

enum InputKey: Int, SchemaKey {
  case env, run

  var name: StaticString {
    switch self {
    case .env: "env"
    case .run: "run"
    }
  }

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

private enum SignalWords {
  private static let short = [
    "HUP", "INT", "QUIT", "ABRT", "KILL", "USR1", "USR2", "ALRM", "TERM", "WINCH", "PWR",
  ]

  static var all: [String] { short + short.map { "SIG" + $0 } }
}
