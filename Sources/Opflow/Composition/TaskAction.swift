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

  /// A script for a shell, by default `/bin/sh -ec`; executed directly without shell syntax.
  public static func shell(_ script: String) -> TaskAction { TaskAction(kind: .shell(script)) }

  /// A program with arguments, without a shell; looked up in the task's `PATH` if it has no slash.
  public static func command(_ words: [String]) -> TaskAction { TaskAction(kind: .command(words)) }

  /// A closure that runs in this program, in a Swift task, by the same rules as other tasks: it
  /// waits for dependencies and its turn, is journaled, and holds one `cpu` unless `resources` says
  /// otherwise.
  ///
  /// It fails when it throws; the outcome's message is the error's text. `timeout`, `cancel` and
  /// the end of the run cancel its Swift task; a closure that does not check this
  /// (`Task.checkCancellation()`) cannot be ended. If the program ends meanwhile, the task is
  /// interrupted, and runs again in the next program that adds a block with its ID. `cwd`, `env`
  /// and `shell` do not apply, and it cannot be suspended while it runs.
  public static func block(_ body: @escaping @Sendable () async throws -> Void) -> TaskAction {
    TaskAction(kind: .block(body))
  }

  /// Downloads a file by HTTP, or copies a `file:` URL. The next attempt, or the next program,
  /// continues a partial download.
  ///
  /// - Parameters:
  ///   - url: an `http`, `https` or `file` URL.
  ///   - path: the target, relative to `cwd`; gets this name only when complete and verified.
  ///   - sha256: 64 hexadecimal digits to match.
  ///   - sha512: 128 hexadecimal digits to match.
  ///   - mirrors: further URLs of the file, in the order of trying.
  ///   - headers: header fields for the host of `url`.
  ///   - maxSpeed: bytes per second.
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
