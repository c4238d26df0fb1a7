/// What a task does: the kinds of operations that there are.
public struct TaskAction: Sendable {
  enum Kind: Sendable {
    case shell(String)
    case command([String])
    case download(Download)
  }

  struct Download: Sendable {
    var url: String
    var to: String
    var sha256: String?
    var sha512: String?
    var mirrors: [String] = []
    var headers: [String: String] = [:]
    var maxSpeed: Int?
  }

  let kind: Kind

  /// A script for a shell, by default `/bin/sh -ec`. One without shell syntax is executed directly.
  public static func shell(_ script: String) -> TaskAction { TaskAction(kind: .shell(script)) }

  /// A program with its arguments, executed as they stand: no shell looks at them. A program without a slash is
  /// looked for in the `PATH` of the task.
  public static func command(_ words: [String]) -> TaskAction { TaskAction(kind: .command(words)) }

  /// A file that is fetched by HTTP, or copied from a `file:` URL. What came of it before is kept in a part beside it
  /// and continued, by the next try and by the next program.
  ///
  /// - Parameters:
  ///   - url: what to fetch: `http`, `https` or `file`.
  ///   - path: where the file is to be, from the task's `cwd` on. Missing folders are made. The file has that name only
  ///     when it is whole and verified.
  ///   - sha256: 64 hexadecimal digits, without which no success.
  ///   - sha512: 128 hexadecimal digits; with both, both must fit.
  ///   - mirrors: further addresses of the same file, in the order in which they are tried.
  ///   - headers: header fields, sent as they are to the host of `url`.
  ///   - maxSpeed: bytes a second at most.
  public static func download(
    _ url: String, to path: String, sha256: String? = nil, sha512: String? = nil,
    mirrors: [String] = [], headers: [String: String] = [:], maxSpeed: Int? = nil
  ) -> TaskAction {
    TaskAction(
      kind: .download(
        Download(
          url: url, to: path, sha256: sha256, sha512: sha512, mirrors: mirrors, headers: headers,
          maxSpeed: maxSpeed)))
  }
}
