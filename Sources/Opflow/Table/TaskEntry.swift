internal import OpflowJournal
internal import OpflowPlan

struct EntryNeed {
  /// In the table.
  let place: Int32
  let condition: NeedCondition
}

/// As of the last journal line read.
struct TaskEntry {
  let id: String
  var state = TaskStatus.pending
  var isAllowedFailure = false
  var attempts: Int32 = 0
  var status = ExitStatus.unknown
  var why: StaticString?
  var message: String?
  var wallMicroseconds: Int64 = 0
  var progress: TaskProgress?
  private(set) var exactState = TaskState.waiting
  private(set) var isSkippedUpstream = false
  var needs: [EntryNeed] = []

  init(_ id: String) { self.id = id }

  /// Returns whether a reported property changed.
  mutating func take(_ record: TaskRecord, in model: RunModel, _ task: TaskID) -> Bool {
    let before = (state, attempts)
    exactState = record.state
    isSkippedUpstream = record.why?.skipReason?.isUpstream == true
    state = Self.state(record, model, task)
    isAllowedFailure = record.state == .failedAllowed
    attempts = record.attempts
    status = record.status
    why = record.why?.word
    wallMicroseconds = record.wallMicroseconds
    message = model.details.complaints[task]
    if state != .running, state != .suspended { progress = nil }
    return before != (state, attempts)
  }

  /// Returns whether it had not ended.
  mutating func withdraw() -> Bool {
    if state.isFinished { return false }
    state = .skipped
    exactState = .skipped
    why = Why.skipped(.withdrawn).word
    progress = nil
    return true
  }

  private static func state(
    _ record: TaskRecord, _ model: RunModel, _ task: TaskID
  ) -> TaskStatus {
    switch record.state {
    case .waiting, .ready, .checking, .handed: .pending
    case .running: .running
    case .suspended: .suspended
    case .succeeded: isEarlier(record, model) ? .reused : .succeeded
    case .upToDate: .upToDate
    case .failedAllowed, .failed: .failed
    case .skipped: .skipped
    case .cancelled: .cancelled
    }
  }

  private static func isEarlier(_ record: TaskRecord, _ model: RunModel) -> Bool {
    record.settleSequence < model.driveSequence
  }

  var outcome: TaskOutcome {
    var outcome = TaskOutcome(
      state: state, attempts: Int(attempts), reason: why.map(\.description), message: message,
      isAllowedFailure: isAllowedFailure, duration: .microseconds(wallMicroseconds))
    switch status {
    case .unknown: break
    case .exit(let code): outcome.exitCode = Int(code)
    case .signal(let number): outcome.signal = Int(number)
    }
    return outcome
  }
}
