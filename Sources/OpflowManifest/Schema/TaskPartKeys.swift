// The keys of maps within a task: their only definition.

enum NeedKey: Int, SchemaKey {
  case task, on

  static let names: [StaticString] = ["task", "on"]

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

  static let names: [StaticString] = [
    "max", "delay", "backoff", "max_delay", "jitter", "exit_codes",
  ]

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
        "what the delay does not exceed", example: "max_delay: 5m")
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

  static let names: [StaticString] = ["signal", "grace"]

  var row: KeyRow {
    switch self {
    case .signal:
      KeyRow(
        .wordOrNumber(StopSignal.words, KeyBounds.signal), standard: "`TERM`",
        "sent to all processes of the task", example: "signal: INT")
    case .grace:
      KeyRow(.duration, standard: "5s", "after which what is left is killed", example: "grace: 30s")
    }
  }
}

enum CacheKey: Int, SchemaKey {
  case secrets

  static let names: [StaticString] = ["secrets"]

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

  static let names: [StaticString] = ["env", "run"]

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

// The keys of services: their only definition.

enum ServiceKey: Int, SchemaKey {
  case ready, restart, ports

  static let names: [StaticString] = ["ready", "restart", "ports"]

  var row: KeyRow {
    switch self {
    case .ready:
      KeyRow(
        .map(.ready), standard: "ready as soon as it has started",
        "what tells that it is ready: what needs it starts then",
        example: "ready: { port: 5432, timeout: 2m }")
    case .restart:
      KeyRow(
        .integer(KeyBounds.retries), standard: "0",
        "how often it starts again when it ends by itself after it was ready", example: "restart: 2"
      )
    case .ports:
      KeyRow(
        .list(.name(.identifier), mayBeEmpty: false),
        "names of ports: for each a free one is found at every start, of which it and what needs "
          + "it find the number in `OPFLOW_PORT_NAME`",
        example: "ports: [http]\nready: { http: \"http://127.0.0.1:$OPFLOW_PORT_HTTP/\" }")
    }
  }
}

enum ReadyKey: Int, SchemaKey {
  case port, http, log, exec, file, timeout, every

  static let names: [StaticString] = ["port", "http", "log", "exec", "file", "timeout", "every"]

  static let probes: [ReadyKey] = [.port, .http, .log, .exec, .file]

  var row: KeyRow {
    switch self {
    case .port:
      KeyRow(
        .either([.integer(KeyBounds.port), .name(.identifier)]),
        "somebody listens on that TCP port of this machine; or on the one of that name of `ports`",
        example: "port: 5432")
    case .http:
      KeyRow(
        .address, "a GET of that URL of this machine is answered by a status of 200 to 399",
        example: "http: http://127.0.0.1:8080/health")
    case .log:
      KeyRow(
        .text, "a line of its output has that in it, a pattern with `*` and `?`",
        example: "log: ready to accept connections")
    case .exec:
      KeyRow(
        .command, "that command ends with exit code 0; it runs in the service's folder",
        example: "exec: [pg_isready, -q]")
    case .file:
      KeyRow(.text, "that file is there, made or changed since the start", example: "file: run/pid")
    case .timeout:
      KeyRow(
        .duration, standard: "60s", "how long it may take to be ready",
        example: "port: 5432\ntimeout: 2m")
    case .every:
      KeyRow(
        .duration, standard: "200ms", "from one look to the next", example: "port: 5432\nevery: 1s")
    }
  }
}

// The keys of a download: their only definition.

enum DownloadKey: Int, SchemaKey {
  case url, mirrors, to, sha256, sha512, size, headers, mode, resume, maxSpeed

  static let names: [StaticString] = [
    "url", "mirrors", "to", "sha256", "sha512", "size", "headers", "mode", "resume", "max_speed",
  ]

  var row: KeyRow {
    switch self {
    case .url:
      KeyRow(
        .address, standard: "required", "what to fetch: `http`, `https` or `file`",
        example: "url: https://example.org/sdk.tgz\nto: cache/sdk.tgz")
    case .mirrors:
      KeyRow(
        .list(.address, mayBeEmpty: true),
        "further addresses of the same file, in the order in which they are tried",
        example: Self.whole + "mirrors: [https://mirror.example.org/sdk.tgz]")
    case .to:
      KeyRow(
        .text, standard: "required",
        "where the file is to be, from the task's `dir` on; missing folders are made",
        example: "url: https://example.org/sdk.tgz\nto: cache/sdk.tgz")
    case .sha256:
      KeyRow(
        .hexadecimal(64), "its SHA-256, without which no success",
        example: Self.whole
          + "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
    case .sha512:
      KeyRow(
        .hexadecimal(128), "its SHA-512; with both, both must fit",
        example: Self.whole + "sha512: " + String(repeating: "0123456789abcdef", count: 8))
    case .size:
      KeyRow(
        .size, "its size in bytes; another one is a failure", example: Self.whole + "size: 1048576")
    case .headers:
      KeyRow(
        .each(.header, .scalar), "header fields, sent as they are to the host of `url`",
        example: Self.whole + "headers: { Accept: application/gzip }")
    case .mode:
      KeyRow(
        .octal, standard: "those of any new file", "its permission bits",
        example: Self.whole + "mode: \"0755\"")
    case .resume:
      KeyRow(
        .boolean, standard: "`true`", "continue a part that is there",
        example: Self.whole + "resume: false")
    case .maxSpeed:
      KeyRow(.speed, "bytes a second at most", example: Self.whole + "max_speed: 2MiB")
    }
  }

  /// The required keys.
  private static let whole = "url: https://example.org/sdk.tgz\nto: cache/sdk.tgz\n"
}

// The keys of a matrix: their only definition.

enum MatrixKey: Int, SchemaKey {
  case rows, exclude, include

  static let names: [StaticString] = ["rows", "exclude", "include"]

  var row: KeyRow {
    switch self {
    case .rows:
      KeyRow(
        .either([
          .text, .map(.rows),
          .list(.entries(.identifier, .scalar, known: [], mayBeEmpty: false), mayBeEmpty: false),
        ]), "values that belong together: a list of maps, or a file with a line of names",
        example: "rows: [{ os: linux, cc: gcc }, { os: bsd, cc: clang }]")
    case .exclude:
      KeyRow(
        .list(.entries(.identifier, .scalar, known: [], mayBeEmpty: false), mayBeEmpty: false),
        "takes away the legs that have these values",
        example: "os: [linux, bsd]\ncc: [gcc, clang]\nexclude: [{ os: bsd, cc: gcc }]")
    case .include:
      KeyRow(
        .list(.entries(.identifier, .scalar, known: [], mayBeEmpty: false), mayBeEmpty: false),
        "adds legs, each with a value for every name",
        example: "os: [linux]\ncc: [gcc, clang]\ninclude: [{ os: bsd, cc: clang }]")
    }
  }
}

enum AxisKey: Int, SchemaKey {
  case range, glob, lines, file, after

  static let names: [StaticString] = ["range", "glob", "lines", "file", "after"]

  static let ofAxes: [AxisKey] = [.range, .glob, .lines, .after]
  static let ofRows: [AxisKey] = [.file, .after]

  var row: KeyRow {
    switch self {
    case .range:
      KeyRow(
        .pair(.integer(KeyBounds.axis)), "whole numbers, from the first to the last",
        example: "range: [1, 4]")
    case .glob:
      KeyRow(.text, "the files that fit a pattern, sorted", example: "glob: \"data/*.csv\"")
    case .lines:
      KeyRow(.text, "the lines of a file, without the empty ones", example: "lines: hosts.txt")
    case .file:
      KeyRow(
        .text, standard: "required", "a file with a line of names, and a line for each row",
        example: "file: samples.tsv")
    case .after:
      KeyRow(
        .id,
        "the task that writes the file, or those that fit: they are read when it has succeeded",
        example: "after: build")
    }
  }
}
