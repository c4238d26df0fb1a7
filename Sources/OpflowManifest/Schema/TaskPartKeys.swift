// The only definition of the keys of maps within a task.

enum NeedKey: Int, SchemaKey {
  case task, on

  static let table = [
    KeyRow(
      "task", .id, standard: "required",
      "A task ID, a matrix or a matrix task",
      example: "task: build"),
    KeyRow(
      "on", .word(["success", "failure", "finished", "ran"]), standard: "`success`",
      "Required result of the dependency",
      example: "task: build\non: failure"),
  ]
}

enum RetryKey: Int, SchemaKey {
  case max, delay, backoff, maxDelay, jitter, exitCodes

  static let table = [
    KeyRow(
      "max", .integer(KeyBounds.retries), standard: "0; 3 for a download",
      "Retries after the first attempt",
      example: "max: 3"),
    KeyRow(
      "delay", .duration, standard: "1s",
      "Delay before the second attempt",
      example: "delay: 5s"),
    KeyRow(
      "backoff", .number(KeyBounds.backoff), standard: "2",
      "Factor by which the delay grows after each attempt",
      example: "backoff: 1.5"),
    KeyRow(
      "max_delay", .duration, standard: "1m, or `delay` if that is longer",
      "Longest delay",
      example: "max_delay: 5m"),
    KeyRow(
      "jitter", .number(KeyBounds.jitter), standard: "0.2",
      "Random part of the delay, as a fraction",
      example: "jitter: 0.5"),
    KeyRow(
      "exit_codes", .list(.integer(KeyBounds.exitCode), mayBeEmpty: false), standard: "any failure",
      "Retry only after these exit codes, not after timeouts and signals",
      example: "exit_codes: [75]"
    ),
  ]
}

enum StopKey: Int, SchemaKey {
  case signal, grace

  static let table = [
    KeyRow(
      "signal", .wordOrNumber(StopSignal.words, KeyBounds.signal), standard: "`TERM`",
      "Stop signal for all processes of the task",
      example: "signal: INT"),
    KeyRow(
      "grace", .duration, standard: "5s",
      "Grace period; after it, opflow kills the task",
      example: "grace: 30s"),
  ]
}

enum CacheKey: Int, SchemaKey {
  case secrets

  static let table = [
    KeyRow(
      "secrets", .boolean, standard: "`false`",
      "Also cache a task with `secrets`; everybody who can read the cache can read its results",
      example: "secrets: true")
  ]
}

enum InputKey: Int, SchemaKey {
  case env, run

  static let table = [
    KeyRow(
      "env", .name(.taskVariable),
      "Environment variable of the task",
      example: "env: CC"),
    KeyRow(
      "run", .command,
      "Command whose output is the input; it runs in the task's `dir`",
      example: "run: [cc, --version]"),
  ]
}

enum ServiceKey: Int, SchemaKey {
  case ready, restart, ports

  static let table = [
    KeyRow(
      "ready", .map(.ready), standard: "ready when it has started",
      "Check for readiness; dependents start when it succeeds",
      example: "ready: { port: 5432, timeout: 2m }"),
    KeyRow(
      "restart", .integer(KeyBounds.retries), standard: "0",
      "Restarts after an exit of the ready service",
      example: "restart: 2"),
    KeyRow(
      "ports", .list(.name(.identifier), mayBeEmpty: false),
      "Names of ports; at each start opflow finds free ports, which the service and its "
        + "dependents get as `OPFLOW_PORT_NAME`",
      example: "ports: [http]\nready: { http: \"http://127.0.0.1:$OPFLOW_PORT_HTTP/\" }"),
  ]
}

enum ReadyKey: Int, SchemaKey {
  case port, http, log, exec, file, timeout, every

  static let probes: [ReadyKey] = [.port, .http, .log, .exec, .file]

  static let table = [
    KeyRow(
      "port", .either([.integer(KeyBounds.port), .name(.identifier)]),
      "TCP port of this machine that must accept connections: a number, or a name of `ports`",
      example: "port: 5432"),
    KeyRow(
      "http", .address,
      "URL of this machine that must answer a GET with a status from 200 to 399",
      example: "http: http://127.0.0.1:8080/health"),
    KeyRow(
      "log", .text,
      "Pattern with `*` and `?` that must occur in a line of the output",
      example: "log: ready to accept connections"),
    KeyRow(
      "exec", .command,
      "Command that must exit with 0; it runs in the service's folder",
      example: "exec: [pg_isready, -q]"),
    KeyRow(
      "file", .text,
      "File that must be created or changed after the start",
      example: "file: run/pid"
    ),
    KeyRow(
      "timeout", .duration, standard: "60s",
      "Time limit for becoming ready",
      example: "port: 5432\ntimeout: 2m"),
    KeyRow(
      "every", .duration, standard: "200ms",
      "Interval between checks",
      example: "port: 5432\nevery: 1s"),
  ]
}

enum DownloadKey: Int, SchemaKey {
  case url, mirrors, to, sha256, sha512, size, headers, mode, resume, maxSpeed

  static let table = [
    KeyRow(
      "url", .address, standard: "required",
      "URL of the file: `http`, `https` or `file`",
      example: "url: https://example.org/sdk.tgz\nto: cache/sdk.tgz"),
    KeyRow(
      "mirrors", .list(.address, mayBeEmpty: true),
      "More URLs of the same file, in the order to try them",
      example: Self.whole + "mirrors: [https://mirror.example.org/sdk.tgz]"),
    KeyRow(
      "to", .text, standard: "required",
      "Path of the file, relative to the task's `dir`; opflow creates missing folders",
      example: "url: https://example.org/sdk.tgz\nto: cache/sdk.tgz"),
    KeyRow(
      "sha256", .hexadecimal(64),
      "Required SHA-256 of the file",
      example: Self.whole
        + "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
    KeyRow(
      "sha512", .hexadecimal(128),
      "Required SHA-512 of the file",
      example: Self.whole + "sha512: " + String(repeating: "0123456789abcdef", count: 8)),
    KeyRow(
      "size", .size,
      "Required size of the file in bytes",
      example: Self.whole + "size: 1048576"),
    KeyRow(
      "headers", .each(.header, .scalar),
      "HTTP headers, sent unchanged to the host of `url`",
      example: Self.whole + "headers: { Accept: application/gzip }"),
    KeyRow(
      "mode", .octal, standard: "those of any new file",
      "Permission bits of the file",
      example: Self.whole + "mode: \"0755\""),
    KeyRow(
      "resume", .boolean, standard: "`true`",
      "Continue a partial file",
      example: Self.whole + "resume: false"),
    KeyRow(
      "max_speed", .speed,
      "Maximum number of bytes per second",
      example: Self.whole + "max_speed: 2MiB"),
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
      ]),
      "Values that belong together: a list of maps, or a table in a file with a header row",
      example: "rows: [{ os: linux, cc: gcc }, { os: bsd, cc: clang }]"),
    KeyRow(
      "exclude",
      .list(.entries(.identifier, .scalar, known: [], mayBeEmpty: false), mayBeEmpty: false),
      "Remove the matrix tasks that have these values",
      example: "os: [linux, bsd]\ncc: [gcc, clang]\nexclude: [{ os: bsd, cc: gcc }]"),
    KeyRow(
      "include",
      .list(.entries(.identifier, .scalar, known: [], mayBeEmpty: false), mayBeEmpty: false),
      "Add matrix tasks, each with a value for every name",
      example: "os: [linux]\ncc: [gcc, clang]\ninclude: [{ os: bsd, cc: clang }]"),
  ]
}

enum AxisKey: Int, SchemaKey {
  case range, glob, lines, file, after

  static let ofAxes: [AxisKey] = [.range, .glob, .lines, .after]
  static let ofRows: [AxisKey] = [.file, .after]

  static let table = [
    KeyRow(
      "range", .pair(.integer(KeyBounds.axis)),
      "Integers from the first to the last",
      example: "range: [1, 4]"),
    KeyRow(
      "glob", .text,
      "Files that match a pattern, sorted",
      example: "glob: \"data/*.csv\""),
    KeyRow(
      "lines", .text,
      "Lines of a file, without empty ones",
      example: "lines: hosts.txt"),
    KeyRow(
      "file", .text, standard: "required",
      "File with a header row and a line for each row",
      example: "file: samples.tsv"),
    KeyRow(
      "after", .id,
      "Task that writes the file, or the files that match; opflow reads them after it",
      example: "after: build"),
  ]
}
