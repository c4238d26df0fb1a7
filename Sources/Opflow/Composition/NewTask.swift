/// A task to add to a queue.
///
/// Adding the same `id` and definition again, even after a restart, returns the existing task with
/// its outcome; another definition is rejected. Expressions (`${{`) are not interpreted.
public struct NewTask: Sendable {
  /// 1 to 255 letters, digits and `_ . - + @ : /`, starting with a letter, a digit or `_`.
  public var id: String
  public var action: TaskAction
  /// The tasks that must end first; with success by default.
  public var needs: [TaskNeed] = []
  /// Higher priorities start first. Dependencies inherit the priority.
  public var priority: TaskPriority = .normal
  /// Nil for the default: three retries for a download, else none.
  public var retry: RetryPolicy?
  /// The time after which an attempt fails; nil or zero for no limit.
  public var timeout: Duration?
  /// Relative to the program's working directory when the queue was made, the default.
  public var cwd: String?
  /// Added to the variables of the program that started the run.
  public var env: [String: String] = [:]
  /// The command for a script, such as `["/bin/bash", "-eo", "pipefail", "-c"]`.
  public var shell: [String]?
  public var stop: StopPolicy?
  /// True if dependents run after a failure, which does not fail the run either.
  public var allowFailure = false
  /// Resources in use while the task runs, such as `["cpu": 2]`; nil for one `cpu`, or one
  /// `download`.
  public var resources: [String: Int]?
  /// True to fail, instead of running again, if the run died while the task ran.
  public var failsWhenInterrupted = false
  /// Select the task on the command line (`tag:WORD`).
  public var tags: [String] = []
  public var description: String?

  public init(
    _ id: String, _ action: TaskAction, needs: [TaskNeed] = [], priority: TaskPriority = .normal,
    retry: RetryPolicy? = nil, timeout: Duration? = nil, cwd: String? = nil,
    env: [String: String] = [:]
  ) {
    self.id = id
    self.action = action
    self.needs = needs
    self.priority = priority
    self.retry = retry
    self.timeout = timeout
    self.cwd = cwd
    self.env = env
  }
}

/// A dependency, and how it must have ended.
public struct TaskNeed: Sendable, ExpressibleByStringLiteral {
  enum Condition: String, Sendable { case success, failure, finished, ran }

  let id: String
  let condition: Condition
  let runID: String?

  public init(stringLiteral id: String) { self.init(id, .success) }

  init(_ id: String, _ condition: Condition, runID: String? = nil) {
    self.id = id
    self.condition = condition
    self.runID = runID
  }

  /// The task succeeded, was up to date, was allowed to fail, or was skipped.
  public static func success(_ id: String) -> TaskNeed { TaskNeed(id, .success) }
  /// The task failed, e.g. by a timeout, and was not allowed to.
  public static func failure(_ id: String) -> TaskNeed { TaskNeed(id, .failure) }
  /// The task ended in any way.
  public static func finished(_ id: String) -> TaskNeed { TaskNeed(id, .finished) }
  /// The task succeeded or was allowed to fail, and was not skipped.
  public static func ran(_ id: String) -> TaskNeed { TaskNeed(id, .ran) }
}

/// From -1000 to 1000; among ready tasks, higher ones start first.
public struct TaskPriority: Sendable, Hashable, ExpressibleByIntegerLiteral {
  public let rawValue: Int
  public init(_ rawValue: Int) { self.rawValue = rawValue }
  public init(integerLiteral rawValue: Int) { self.rawValue = rawValue }

  public static let veryLow = TaskPriority(-8)
  public static let low = TaskPriority(-4)
  public static let normal = TaskPriority(0)
  public static let high = TaskPriority(4)
  public static let veryHigh = TaskPriority(8)
}

public struct RetryPolicy: Sendable, Hashable {
  /// Attempts after the first.
  public var max: Int
  /// The delay before the second attempt.
  public var delay: Duration
  /// The factor of the delay for each further attempt.
  public var backoff: Double
  /// The longest delay; nil for a minute, or `delay` if that is longer.
  public var maxDelay: Duration?
  /// Exit codes that allow a retry; timeouts and signals are then final. Empty for any failure.
  public var exitCodes: [Int]

  public init(
    max: Int, delay: Duration = .seconds(1), backoff: Double = 2, maxDelay: Duration? = nil,
    exitCodes: [Int] = []
  ) {
    self.max = max
    self.delay = delay
    self.backoff = backoff
    self.maxDelay = maxDelay
    self.exitCodes = exitCodes
  }
}

public struct StopPolicy: Sendable, Hashable {
  /// The signal for all processes of the task: a name such as `TERM` or `INT`.
  public var signal: String
  /// The time after which remaining processes are killed.
  public var grace: Duration

  public init(signal: String = "TERM", grace: Duration = .seconds(5)) {
    self.signal = signal
    self.grace = grace
  }
}

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
  /// waits for dependencies and its turn, is journaled, and by default holds one `cpu`.
  ///
  /// - The task fails when the closure throws; the outcome's message is the error's text.
  /// - `timeout`, `cancel` and the end of the run cancel the Swift task; a closure that does not
  ///   check this (`Task.checkCancellation()`) cannot be ended.
  /// - If the program ends first, the task is interrupted, and runs again in the next program that
  ///   adds a block with its ID.
  /// - `cwd`, `env` and `shell` do not apply, and a running block cannot be suspended.
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
