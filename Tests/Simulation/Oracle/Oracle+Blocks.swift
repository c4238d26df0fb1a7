import OpflowJournal
import OpflowPlan

/// The observed state of external tasks.
struct BlockSights {
  /// Attempts that still run after their end.
  var draining: Set<Oracle.Try> = []
  /// When attempts began, according to the journal.
  var since: [Oracle.Try: Instant] = [:]
  var (begun, cutShort, lingered) = (0, 0, 0)
}

/// External tasks as an outside observer sees them: what runs in clients, even after the journaled
/// end.
extension Oracle {
  func isExternal(_ task: TaskID) -> Bool { plan.hasExternalTasks && plan.kind(task) == .block }

  /// True if the attempt still runs after its end.
  func lingers(_ task: TaskID, _ attempt: Int32) -> Bool {
    blocks.draining.contains(Try(task: task, attempt: attempt))
  }

  mutating func startBlock(
    _ task: TaskID, _ attempt: Int32, on slot: WorkerID
  ) throws(Finding) {
    if let other = blocks.draining.first(where: { $0.task == task }) {
      throw fault(task, "its try \(attempt) starts beside try \(other.attempt), which goes on")
    }
    // It may have ended before it began.
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

  /// Its client disconnected.
  mutating func cutShort(_ task: TaskID, _ attempt: Int32) {
    if blocks.draining.remove(Try(task: task, attempt: attempt)) != nil { return }
    if let slot = live[task] {
      blocks.cutShort += 1
      endAll(on: slot)
    }
  }

  /// Checks that the end of an external task was reported by its client, or that its grace time was
  /// over.
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
    // Without a report, its grace time was over.
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
