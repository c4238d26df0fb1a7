// The only definition of the keys of maps within a task.

enum NeedKey: Int, SchemaKey {
  case task, on

  static let table = [
    KeyRow(
      "task", .id, standard: "required", "a task, or a family, or legs of one",
      example: "task: build"),
    KeyRow(
      "on", .word(["success", "failure", "finished", "ran"]), standard: "`success`",
      "which end of it is waited for", example: "task: build\non: failure"),
  ]
}

enum RetryKey: Int, SchemaKey {
  case max, delay, backoff, maxDelay, jitter, exitCodes

  static let table = [
    KeyRow(
      "max", .integer(KeyBounds.retries), standard: "0; of a download 3", "tries after the first",
      example: "max: 3"),
    KeyRow(
      "delay", .duration, standard: "1s", "before the second try", example: "delay: 5s"),
    KeyRow(
      "backoff", .number(KeyBounds.backoff), standard: "2",
      "what the delay is multiplied by each time", example: "backoff: 1.5"),
    KeyRow(
      "max_delay", .duration, standard: "1m, or `delay` where that is longer",
      "what the delay does not exceed", example: "max_delay: 5m"),
    KeyRow(
      "jitter", .number(KeyBounds.jitter), standard: "0.2",
      "how much of the delay is left to chance, as a part of one", example: "jitter: 0"),
    KeyRow(
      "exit_codes", .list(.integer(KeyBounds.exitCode), mayBeEmpty: false), standard: "any failure",
      "only these are tried again; timeouts and signals then are final", example: "exit_codes: [75]"
    ),
  ]
}

enum StopKey: Int, SchemaKey {
  case signal, grace

  static let table = [
    KeyRow(
      "signal", .wordOrNumber(StopSignal.words, KeyBounds.signal), standard: "`TERM`",
      "sent to all processes of the task", example: "signal: INT"),
    KeyRow(
      "grace", .duration, standard: "5s", "after which what is left is killed",
      example: "grace: 30s"),
  ]
}

enum CacheKey: Int, SchemaKey {
  case secrets

  static let table = [
    KeyRow(
      "secrets", .boolean, standard: "`false`",
      "also of a task with `secrets`: what it leaves goes to everybody who has the cache",
      example: "secrets: true")
  ]
}

enum InputKey: Int, SchemaKey {
  case env, run

  static let table = [
    KeyRow(
      "env", .name(.taskVariable), "the value of a variable, as the task finds it",
      example: "env: CC"),
    KeyRow(
      "run", .command, "what a command prints that is run in the task's `dir`",
      example: "run: [cc, --version]"),
  ]
}

enum ServiceKey: Int, SchemaKey {
  case ready, restart, ports

  static let table = [
    KeyRow(
      "ready", .map(.ready), standard: "ready as soon as it has started",
      "what tells that it is ready: what needs it starts then",
      example: "ready: { port: 5432, timeout: 2m }"),
    KeyRow(
      "restart", .integer(KeyBounds.retries), standard: "0",
      "how often it starts again when it ends by itself after it was ready", example: "restart: 2"),
    KeyRow(
      "ports", .list(.name(.identifier), mayBeEmpty: false),
      "names of ports: for each a free one is found at every start, of which it and what needs "
        + "it find the number in `OPFLOW_PORT_NAME`",
      example: "ports: [http]\nready: { http: \"http://127.0.0.1:$OPFLOW_PORT_HTTP/\" }"),
  ]
}

enum ReadyKey: Int, SchemaKey {
  case port, http, log, exec, file, timeout, every

  static let probes: [ReadyKey] = [.port, .http, .log, .exec, .file]

  static let table = [
    KeyRow(
      "port", .either([.integer(KeyBounds.port), .name(.identifier)]),
      "somebody listens on that TCP port of this machine; or on the one of that name of `ports`",
      example: "port: 5432"),
    KeyRow(
      "http", .address, "a GET of that URL of this machine is answered by a status of 200 to 399",
      example: "http: http://127.0.0.1:8080/health"),
    KeyRow(
      "log", .text, "a line of its output has that in it, a pattern with `*` and `?`",
      example: "log: ready to accept connections"),
    KeyRow(
      "exec", .command, "that command ends with exit code 0; it runs in the service's folder",
      example: "exec: [pg_isready, -q]"),
    KeyRow(
      "file", .text, "that file is there, made or changed since the start", example: "file: run/pid"
    ),
    KeyRow(
      "timeout", .duration, standard: "60s", "how long it may take to be ready",
      example: "port: 5432\ntimeout: 2m"),
    KeyRow(
      "every", .duration, standard: "200ms", "from one look to the next",
      example: "port: 5432\nevery: 1s"),
  ]
}

enum DownloadKey: Int, SchemaKey {
  case url, mirrors, to, sha256, sha512, size, headers, mode, resume, maxSpeed

  static let table = [
    KeyRow(
      "url", .address, standard: "required", "what to fetch: `http`, `https` or `file`",
      example: "url: https://example.org/sdk.tgz\nto: cache/sdk.tgz"),
    KeyRow(
      "mirrors", .list(.address, mayBeEmpty: true),
      "further addresses of the same file, in the order in which they are tried",
      example: Self.whole + "mirrors: [https://mirror.example.org/sdk.tgz]"),
    KeyRow(
      "to", .text, standard: "required",
      "where the file is to be, from the task's `dir` on; missing folders are made",
      example: "url: https://example.org/sdk.tgz\nto: cache/sdk.tgz"),
    KeyRow(
      "sha256", .hexadecimal(64), "its SHA-256, without which no success",
      example: Self.whole
        + "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
    KeyRow(
      "sha512", .hexadecimal(128), "its SHA-512; with both, both must fit",
      example: Self.whole + "sha512: " + String(repeating: "0123456789abcdef", count: 8)),
    KeyRow(
      "size", .size, "its size in bytes; another one is a failure",
      example: Self.whole + "size: 1048576"),
    KeyRow(
      "headers", .each(.header, .scalar), "header fields, sent as they are to the host of `url`",
      example: Self.whole + "headers: { Accept: application/gzip }"),
    KeyRow(
      "mode", .octal, standard: "those of any new file", "its permission bits",
      example: Self.whole + "mode: \"0755\""),
    KeyRow(
      "resume", .boolean, standard: "`true`", "continue a part that is there",
      example: Self.whole + "resume: false"),
    KeyRow(
      "max_speed", .speed, "bytes a second at most", example: Self.whole + "max_speed: 2MiB"),
  ]

  private static let whole = "url: https://example.org/sdk.tgz\nto: cache/sdk.tgz\n"
}

enum MatrixKey: Int, SchemaKey {
  case rows, exclude, include

  static let table = [
    KeyRow(
      "rows",
      .either([
        .text, .map(.rows),
        .list(.entries(.identifier, .scalar, known: [], mayBeEmpty: false), mayBeEmpty: false),
      ]), "values that belong together: a list of maps, or a file with a line of names",
      example: "rows: [{ os: linux, cc: gcc }, { os: bsd, cc: clang }]"),
    KeyRow(
      "exclude",
      .list(.entries(.identifier, .scalar, known: [], mayBeEmpty: false), mayBeEmpty: false),
      "takes away the legs that have these values",
      example: "os: [linux, bsd]\ncc: [gcc, clang]\nexclude: [{ os: bsd, cc: gcc }]"),
    KeyRow(
      "include",
      .list(.entries(.identifier, .scalar, known: [], mayBeEmpty: false), mayBeEmpty: false),
      "adds legs, each with a value for every name",
      example: "os: [linux]\ncc: [gcc, clang]\ninclude: [{ os: bsd, cc: clang }]"),
  ]
}

enum AxisKey: Int, SchemaKey {
  case range, glob, lines, file, after

  static let ofAxes: [AxisKey] = [.range, .glob, .lines, .after]
  static let ofRows: [AxisKey] = [.file, .after]

  static let table = [
    KeyRow(
      "range", .pair(.integer(KeyBounds.axis)), "whole numbers, from the first to the last",
      example: "range: [1, 4]"),
    KeyRow(
      "glob", .text, "the files that fit a pattern, sorted", example: "glob: \"data/*.csv\""),
    KeyRow(
      "lines", .text, "the lines of a file, without the empty ones", example: "lines: hosts.txt"),
    KeyRow(
      "file", .text, standard: "required", "a file with a line of names, and a line for each row",
      example: "file: samples.tsv"),
    KeyRow(
      "after", .id,
      "the task that writes the file, or those that fit: they are read when it has succeeded",
      example: "after: build"),
  ]
}
