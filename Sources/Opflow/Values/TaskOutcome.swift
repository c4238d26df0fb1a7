/// Where a task stands; the words are those of `opflow status`.
public enum TaskStatus: String, Sendable, CaseIterable {
  /// It waits: for what it needs, for its turn, for the next try.
  case pending
  case running
  /// Its processes are stopped by a signal, and go on later.
  case suspended
  case succeeded
  /// It succeeded in an earlier drive of the run, before this program or the one that drives the run was started, and
  /// that holds.
  case reused
  /// What it would do is done: its inputs and outputs are those of its last success.
  case upToDate = "up_to_date"
  case failed
  /// It never ran, since what it needs did not succeed, or because of an order.
  case skipped
  case cancelled

  /// Whether it has an end.
  public var isFinished: Bool {
    switch self {
    case .pending, .running, .suspended: false
    case .succeeded, .reused, .upToDate, .failed, .skipped, .cancelled: true
    }
  }

  /// Whether it has an end that is good.
  public var isSuccess: Bool {
    switch self {
    case .succeeded, .reused, .upToDate: true
    case .pending, .running, .suspended, .failed, .skipped, .cancelled: false
    }
  }
}

/// What became of a task.
public struct TaskOutcome: Sendable, Equatable {
  public var state: TaskStatus
  /// How often it was tried, over all drives of the run.
  public var attempts: Int
  /// Of the last try; nil where it ended by a signal, or never ran.
  public var exitCode: Int?
  /// The signal that ended the last try.
  public var signal: Int?
  /// Why, where the exit code does not say it: `timeout`, `cancel`, `upstream` and so on, as the journal has it.
  public var reason: String?
  /// What was the matter, in words: of an error that a closure threw the beginning.
  public var message: String?
  /// It failed and may, so that what needs it runs all the same.
  public var isAllowedFailure: Bool
  /// How long the last try took.
  public var duration: Duration

  public var isSuccess: Bool { state.isSuccess }
}

/// How far a download is.
public struct TaskProgress: Sendable, Equatable {
  public var doneBytes: Int64
  /// Nil where nobody knows.
  public var totalBytes: Int64?
  /// Over the last seconds.
  public var bytesPerSecond: Int64
  /// What was there when this try began and is not fetched again.
  public var resumedBytes: Int64

  /// From 0 to 1; nil where the end is unknown.
  public var fraction: Double? {
    guard let totalBytes, totalBytes > 0 else { return nil }
    return min(1, Double(doneBytes) / Double(totalBytes))
  }
}

/// How many tasks of a queue are in each state.
public struct TaskTally: Sendable, Equatable {
  var counts = [Int](repeating: 0, count: TaskStatus.allCases.count)

  public subscript(state: TaskStatus) -> Int { counts[state.place] }
  public var all: Int { counts.reduce(0, +) }
  public var unfinished: Int { self[.pending] + self[.running] + self[.suspended] }
  /// Whether every task has ended, and none failed where it may not, was left out or was cancelled.
  public var isSuccess: Bool {
    unfinished == 0 && self[.failed] == 0 && self[.cancelled] == 0 && self[.skipped] == 0
  }
}

extension TaskStatus {
  /// Of its count.
  var place: Int {
    switch self {
    case .pending: 0
    case .running: 1
    case .suspended: 2
    case .succeeded: 3
    case .reused: 4
    case .upToDate: 5
    case .failed: 6
    case .skipped: 7
    case .cancelled: 8
    }
  }
}
