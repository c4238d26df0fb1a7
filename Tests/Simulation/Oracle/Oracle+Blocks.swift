import OpflowJournal
import OpflowPlan

/// What is seen of blocks.
struct BlockSights {
  /// Tries that go on though they have their end.
  var draining: Set<Oracle.Try> = []
  /// When those began that the journal tells of.
  var since: [Oracle.Try: Instant] = [:]
  var (begun, cutShort, lingered) = (0, 0, 0)
}

/// Blocks, as they are seen from outside: what goes on in programs, also beyond the end that it was
/// given.
extension Oracle {
  func isExternal(_ task: TaskID) -> Bool { plan.hasExternalTasks && plan.kind(task) == .block }

  /// Whether that try goes on though it has its end.
  func lingers(_ task: TaskID, _ attempt: Int32) -> Bool {
    blocks.draining.contains(Try(task: task, attempt: attempt))
  }

  mutating func startBlock(
    _ task: TaskID, _ attempt: Int32, on slot: WorkerID
  ) throws(Finding) {
    if let other = blocks.draining.first(where: { $0.task == task }) {
      throw fault(task, "its try \(attempt) starts beside try \(other.attempt), which goes on")
    }
    // It may have had its end before it was begun.
    guard stand[task.index] == .running, self.attempt(task) == attempt, !hasEnd(task, attempt)
    else {
      blocks.draining.insert(Try(task: task, attempt: attempt))
      return
    }
    blocks.begun += 1
    try start(task, attempt, on: slot, at: .local)
  }

  private func hasEnd(_ task: TaskID, _ attempt: Int32) -> Bool {
    ends[task].map { $0.attempt == attempt } ?? false
  }

  mutating func endExternalTask(_ task: TaskID, _ attempt: Int32, _ outcome: Outcome)
    throws(Finding)
  {
    let key = Try(task: task, attempt: attempt)
    if blocks.draining.remove(key) != nil { return }
    try end(SimulatedTree.End(task: task, attempt: attempt, outcome: outcome), on: .none)
  }

  /// Its program is gone.
  mutating func cutShort(_ task: TaskID, _ attempt: Int32) {
    if blocks.draining.remove(Try(task: task, attempt: attempt)) != nil { return }
    if let slot = live[task] {
      blocks.cutShort += 1
      endAll(on: slot)
    }
  }

  /// A block's end stands in the journal after its program said so, or after it had the time to.
  mutating func checkEndOfBlock(_ line: Transition, _ key: Try) throws(Finding) {
    let task = line.task
    let timeout = Int64(plan.policy(task).timeoutMilliseconds)
    let isOverdue =
      timeout > 0
      && blocks.since[key].map {
        lastMoment >= $0.advanced(byMilliseconds: timeout)
      } ?? false
    switch line.outcome.reason {
    case nil: break
    case .timeout: if !isOverdue { throw fault(task, "its time was not up") }
    case .stopped:
      if !isStopping, !cancelling.contains(task), line.event != .cancel {
        throw fault(task, "nobody told it to end")
      }
    case let reason?: throw fault(task, "a block ends with reason '\(reason.word)'")
    }
    if let outcome = ended[key], outcome.status == line.outcome.status { return }
    // Nobody has heard of its end: its time to end was over.
    guard line.outcome.status == .unknown, line.outcome.reason != nil else {
      throw fault(task, "'\(line.event.kind.word)' of a block that goes on")
    }
    if let slot = live[task] {
      endAll(on: slot)
      blocks.lingered += 1
      blocks.draining.insert(key)
    }
  }
}
