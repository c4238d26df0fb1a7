/// A task as it is to be added to a queue.
///
/// The `id` is what it is known by, over restarts too: a program that adds it again, with the same definition, gets the
/// task that is there, with what became of it. With another definition it is refused.
///
/// The texts may have expressions of the manifest only where that says so; here they stand as they are: `${{` has no
/// meaning.
public struct NewTask: Sendable {
  /// 1 to 255 letters, digits and `_ . - + @ : /`, beginning with a letter, a digit or `_`.
  public var id: String
  public var action: TaskAction
  /// What must have ended before it starts. Without a condition: with success.
  public var needs: [TaskNeed] = []
  /// Among tasks that could start the higher one does; what it needs inherits it.
  public var priority: TaskPriority = .normal
  /// How often it is tried again after a failure. Nil for what the kind does by itself: a download three times,
  /// everything else never.
  public var retry: RetryPolicy?
  /// After which a try is stopped, and has failed; nil, and zero, for never.
  public var timeout: Duration?
  /// Where it runs; nil for the folder that the queue was made in. A relative path starts there.
  public var cwd: String?
  /// Environment variables, over those of the program that started the run.
  public var env: [String: String] = [:]
  /// The words before a script, such as `["/bin/bash", "-eo", "pipefail", "-c"]`.
  public var shell: [String]?
  /// How it is ended while it runs.
  public var stop: StopPolicy?
  /// Its failure fails nothing else: what needs it runs all the same.
  public var allowFailure = false
  /// What it holds while it runs, such as `["cpu": 2]`; nil for one `cpu`, or for one `download`.
  public var resources: [String: Int]?
  /// A run that died while it ran does not run it again, but counts it as failed.
  public var failsWhenInterrupted = false
  /// Words by which the command line finds it (`tag:WORD`).
  public var tags: [String] = []
  /// A line for people.
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

/// What a task waits for: another one, and how that must have ended.
public struct TaskNeed: Sendable, ExpressibleByStringLiteral {
  enum Condition: String, Sendable { case success, failure, finished, ran }

  let id: String
  let condition: Condition
  /// Of the run whose task it is; nil where only the id is known.
  let runID: String?

  public init(stringLiteral id: String) { self.init(id, .success) }

  init(_ id: String, _ condition: Condition, runID: String? = nil) {
    self.id = id
    self.condition = condition
    self.runID = runID
  }

  /// It succeeded, was up to date, failed where it may, or was left out.
  public static func success(_ id: String) -> TaskNeed { TaskNeed(id, .success) }
  /// It failed, timeouts included, and was not allowed to.
  public static func failure(_ id: String) -> TaskNeed { TaskNeed(id, .failure) }
  /// It ended, whatever became of it.
  public static func finished(_ id: String) -> TaskNeed { TaskNeed(id, .finished) }
  /// It succeeded, or failed where it may, and was not left out.
  public static func ran(_ id: String) -> TaskNeed { TaskNeed(id, .ran) }
}

/// What starts first among tasks that could: a number from -1000 to 1000, or one of the words.
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

/// How often, and after what time, a task that failed is tried again.
public struct RetryPolicy: Sendable, Hashable {
  /// Tries after the first.
  public var max: Int
  /// Before the second try.
  public var delay: Duration
  /// What the delay is multiplied by each time.
  public var backoff: Double
  /// What the delay does not exceed; nil for a minute, or `delay` where that is longer.
  public var maxDelay: Duration?
  /// Only these are tried again; timeouts and signals then are final. Empty for any failure.
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

/// How a task is ended while it runs.
public struct StopPolicy: Sendable, Hashable {
  /// Sent to all processes of the task: a name such as `TERM` or `INT`.
  public var signal: String
  /// After which what is left is killed.
  public var grace: Duration

  public init(signal: String = "TERM", grace: Duration = .seconds(5)) {
    self.signal = signal
    self.grace = grace
  }
}
