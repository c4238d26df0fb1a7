/// The state of a task, as in `opflow status`.
public enum TaskStatus: String, Sendable, CaseIterable {
  /// The task waits for dependencies, for its turn or for the next attempt.
  case pending
  case running
  /// The task's processes are stopped by a signal until it is continued.
  case suspended
  case succeeded
  /// The task succeeded in an earlier session, and the result is still valid.
  case reused
  /// The task did not have to run: inputs and outputs are those of its last success.
  case upToDate = "up_to_date"
  case failed
  /// The task did not run, because of its dependencies or a request.
  case skipped
  case cancelled

  public var isFinished: Bool {
    switch self {
    case .pending, .running, .suspended: false
    case .succeeded, .reused, .upToDate, .failed, .skipped, .cancelled: true
    }
  }

  public var isSuccess: Bool {
    switch self {
    case .succeeded, .reused, .upToDate: true
    case .pending, .running, .suspended, .failed, .skipped, .cancelled: false
    }
  }
}

public struct TaskOutcome: Sendable, Equatable {
  public var state: TaskStatus
  /// The number of attempts over all sessions of the run.
  public var attempts: Int
  /// The last attempt's; nil after a signal, or if the task never ran.
  public var exitCode: Int?
  /// The last attempt's signal.
  public var signal: Int?
  /// Set if the exit code does not say why: `timeout`, `cancel`, `upstream` and so on.
  public var reason: String?
  /// Failure details; the start of a closure's error.
  public var message: String?
  public var isAllowedFailure: Bool
  /// The last attempt's duration.
  public var duration: Duration

  public var isSuccess: Bool { state.isSuccess }
}

/// The progress of a download.
public struct TaskProgress: Sendable, Equatable {
  public var doneBytes: Int64
  /// Nil if unknown.
  public var totalBytes: Int64?
  /// The speed over the last seconds.
  public var bytesPerSecond: Int64
  /// Bytes kept from earlier attempts.
  public var resumedBytes: Int64

  /// From 0 to 1; nil if the size is unknown.
  public var fraction: Double? {
    guard let totalBytes, totalBytes > 0 else { return nil }
    return min(1, Double(doneBytes) / Double(totalBytes))
  }
}

public struct TaskTally: Sendable, Equatable {
  var counts = [Int](repeating: 0, count: TaskStatus.allCases.count)

  public subscript(state: TaskStatus) -> Int { counts[state.place] }
  public var all: Int { counts.reduce(0, +) }
  public var unfinished: Int { self[.pending] + self[.running] + self[.suspended] }
  /// True if all tasks have ended, and none failed, was skipped or was cancelled.
  public var isSuccess: Bool {
    unfinished == 0 && self[.failed] == 0 && self[.cancelled] == 0 && self[.skipped] == 0
  }
}

extension TaskStatus {
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

/// Why a request failed, in the words of the command line.
public struct QueueError: Error, Sendable, Equatable, CustomStringConvertible {
  public enum Kind: Sendable, Equatable {
    /// Wrong use, such as an invalid name or an unknown task.
    case usage
    /// An invalid task or manifest.
    case manifest
    /// The run rejects the request in its present state.
    case refused
    /// Another process holds the run and rejects requests from here.
    case held
    /// The files of the run cannot be used.
    case journal
    /// A file or system call failed.
    case io
    /// `opflow` is not found, cannot be started, or exits early.
    case opflow
    /// The run ended, or the queue was dropped, before the event.
    case ended
    /// The waiting Swift task was cancelled, but nothing in the queue.
    case waitCancelled
  }

  public let kind: Kind
  public let message: String

  init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  public var description: String { message }
}
