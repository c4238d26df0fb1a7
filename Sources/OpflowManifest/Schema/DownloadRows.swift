// What the keys of a download and of a matrix take and mean.

extension DownloadKey {
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
        .each(.header, .scalar),
        "header fields, sent as they are to the host of `url`",
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

  /// What every download has.
  private static let whole = "url: https://example.org/sdk.tgz\nto: cache/sdk.tgz\n"
}

extension MatrixKey {
  var row: KeyRow {
    switch self {
    case .rows:
      KeyRow(
        .either([
          .text, .map(.rows),
          .list(.entries(.identifier, .scalar, known: [], mayBeEmpty: false), mayBeEmpty: false),
        ]),
        "values that belong together: a list of maps, or a file with a line of names",
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

extension AxisKey {
  var row: KeyRow {
    switch self {
    case .range:
      KeyRow(
        .pair(.integer(KeyBounds.axis)),
        "whole numbers, from the first to the last",
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
