// The keys of a download: their only definition.

enum DownloadKey: Int, SchemaKey {
  case url, mirrors, to, sha256, sha512, size, headers, mode, resume, maxSpeed

  var name: StaticString {
    switch self {
    case .url: "url"
    case .mirrors: "mirrors"
    case .to: "to"
    case .sha256: "sha256"
    case .sha512: "sha512"
    case .size: "size"
    case .headers: "headers"
    case .mode: "mode"
    case .resume: "resume"
    case .maxSpeed: "max_speed"
    }
  }

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

  /// The required keys.
  private static let whole = "url: https://example.org/sdk.tgz\nto: cache/sdk.tgz\n"
}
