/// What a task does: the kinds of operations that there are.
public struct TaskAction: Sendable {
  enum Kind: Sendable {
    case shell(String)
    case command([String])
    case download(Download)
    case block(Block)
  }

  typealias Block = @Sendable () async throws -> Void

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

  /// A closure that runs in this program, in a Swift task of its own, by the same rules as any other task: it waits for
  /// what it needs and for its turn, it is journaled, and it holds one `cpu` unless its `resources` say otherwise.
  ///
  /// It succeeds when it returns, and fails when it throws: the error's text is the outcome's message. `timeout`, `cancel`
  /// and the end of the run cancel its Swift task, which it should heed (`Task.checkCancellation()`); nobody can end a
  /// closure that does not. A program that ends while it runs leaves it interrupted: it runs again in the next one that
  /// adds a block of that id. `cwd`, `env` and `shell` are not for it, and it cannot be suspended while it runs.
  public static func block(_ body: @escaping @Sendable () async throws -> Void) -> TaskAction {
    TaskAction(kind: .block(body))
  }

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
