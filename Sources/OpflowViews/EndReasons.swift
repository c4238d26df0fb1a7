package import OpflowCore

/// Explains why tasks ended as they did.
package struct EndReasons {
  private let status: RunStatus
  private var plan: Plan { status.plan }

  private static let longestChain = 8

  package init(_ status: RunStatus) { self.status = status }

  func of(_ task: TaskID) -> [TaskReason] {
    let record = status.history[task]
    let time = DurationText.text(microseconds: record.wallMicroseconds)
    let tries = record.attempts > 1 ? ", on try \(record.attempts)" : ""
    switch status.state(task) {
    case .succeeded where plan.kind(task) == .approve:
      let answer = status.history.orders.answer(to: task).map { GateText.answered($0) }
      let words = "was \(answer ?? "approved")"
      return [TaskReason(.succeeded, "\(words) after \(time)", shared: words)] + reused(record)
    case .succeeded where record.isRestored:
      let came = "all it needs was met; its result was restored from the cache"
      return [TaskReason(.succeeded, came, shared: "was restored from the cache")] + reused(record)
    case .succeeded:
      let ran = "all it needs was met; it ran for \(time)\(tries)"
      return [TaskReason(.succeeded, ran, shared: "ran")] + reused(record)
    case .upToDate: return [TaskReason(.succeeded, "is up to date")]
    case .failed, .failedAllowed: return failed(task, after: time) + reused(record)
    case .skipped where status.hasEmptyMatrix(task):
      return [
        TaskReason(
          .skipped, "all it needs was met; \(Plan.emptyMatrixText)", shared: "has no legs")
      ] + reused(record)
    case .skipped: return [skipped(task)] + reused(record)
    case .cancelled: return [cancelled(task, after: time)]
    case .waiting, .ready, .checking, .handed, .running, .suspended: return []
    }
  }

  private func cancelled(_ task: TaskID, after time: String) -> TaskReason {
    let asker = by(status.history.orders.of(task, .cancel)?.asker)
    let record = status.history[task]
    if record.wasCancelledPending {
      let moment = record.attempts == 0 ? "it started" : "its next try"
      return TaskReason(
        .cancelled, "was cancelled\(asker) before \(moment)",
        shared: "was cancelled before \(moment)")
    }
    if record.why == .ended(.workerLost) {
      return TaskReason(
        .cancelled, "was cancelled\(asker), and \(outcome(task)) after \(time)",
        shared: "was cancelled")
    }
    return TaskReason(
      .cancelled, "was stopped after \(time): \(outcome(task))\(asker)", shared: "was stopped")
  }

  /// Returns ` by opflow cancel (pid 12)`; empty if the requester is unknown.
  private func by(_ asker: OrderAsker?) -> String {
    asker.map { " by \(CleanText.string($0.text))" } ?? ""
  }

  package func outcome(_ task: TaskID) -> String {
    let record = status.history[task]
    return OutcomeText.text(
      Outcome(status: record.status, reason: record.why?.endReason),
      what: status.history.details.complaints[task] ?? "")
  }

  /// `try 2 of 6 failed: exit 1`, for a task that was to be retried.
  package func triesFailed(_ task: TaskID) -> String {
    let most = Int(plan.policy(task).retryMax) + 1
    return "try \(status.history[task].attempts) of \(most) failed: \(outcome(task))"
  }

  private func failed(_ task: TaskID, after time: String) -> [TaskReason] {
    let record = status.history[task]
    let most = Int(plan.policy(task).retryMax) + 1
    let tries = most > 1 ? ", try \(record.attempts) of \(most)" : ""
    var text = "\(outcome(task)) after \(time)\(tries)"
    var shared = outcome(task)
    if record.attempts == 0 { text = outcome(task) }
    if status.state(task) == .failedAllowed {
      text += "; `allow_failure` covers that"
      shared += "; `allow_failure` covers that"
    }
    var reasons = [TaskReason(.failed, text, shared: shared)]
    if status.waitsForRerun(task) {
      reasons.append(
        TaskReason(.failed, "`on_interrupted: fail`: it runs again only when --rerun names it"))
    }
    return reasons
  }

  /// Explains a skip with the chain of dependencies that caused it.
  private func skipped(_ task: TaskID) -> TaskReason {
    if status.history[task].why == .skipped(.order),
      let asker = status.history.orders.of(task, .skip)?.asker
    {
      return TaskReason(.skipped, "was skipped\(by(asker))", shared: "was skipped by an order")
    }
    var text = ReasonText.text(status.history[task].why, plan: plan)
    var tasks: [TaskID] = []
    var last = task
    while case .skipped(.upstream(let need)) = status.history[last].why, !need.isNone,
      tasks.count < Self.longestChain
    {
      tasks.append(need)
      last = need
      let words: String
      switch status.state(need) {
      case .failed, .failedAllowed: words = "failed: \(outcome(need))"
      case .skipped:
        let why = status.history[need].why
        let isUpstream = why?.skipReason?.isUpstream ?? false
        words = "was skipped\(isUpstream ? "" : ":") \(ReasonText.text(why, plan: plan))"
      case .waiting, .ready, .checking, .handed, .running, .suspended, .succeeded, .upToDate,
        .cancelled:
        words = status.state(need) == .cancelled ? "was cancelled" : status.state(need).word
      }
      text += tasks.count == 1 ? ", which \(words)" : "; \(plan.nameString(need)) \(words)"
    }
    return TaskReason(.skipped, text, tasks: tasks)
  }

  /// Says that the newest session took the result over from an earlier one.
  private func reused(_ record: TaskRecord) -> [TaskReason] {
    guard status.history.drives > 1, status.history.driveSequence > 0,
      record.settleSequence < status.history.driveSequence
    else { return [] }
    return [
      TaskReason(
        .reused,
        "the newest resume took that over: neither its definition nor what it needs has changed")
    ]
  }
}
