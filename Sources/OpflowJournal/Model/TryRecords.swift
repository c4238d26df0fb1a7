internal import OpflowBase
package import OpflowPlan

/// Used attempts; most tasks have no entry.
package struct TryRecords: Sendable {
  /// When the next attempt is due, since the epoch.
  package private(set) var next: [TaskID: Int64] = [:]
  /// Failed attempts that count, in the newest session and those that it continues.
  private(set) var used: [TaskID: Int32] = [:]

  mutating func beginDrive(continues: Bool) {
    if continues { return }
    next.removeAll()
    used.removeAll()
  }

  /// Tasks that are retried, or whose name goes to another task.
  mutating func forget(_ tasks: [TaskID]) {
    for task in tasks {
      next[task] = nil
      used[task] = nil
    }
  }

  /// Most lines change nothing here.
  @inline(__always)
  func hears(_ event: TransitionKind, isAllowed: Bool) -> Bool {
    switch event {
    case .retry: true
    case .failure: isAllowed || !next.isEmpty
    case .skip: !used.isEmpty || !next.isEmpty
    case .start, .success, .cancel, .interrupt, .resume, .fresh: !next.isEmpty
    case .pause, .proceed, .ready, .stopping: false
    }
  }

  mutating func apply(_ event: TransitionKind, _ task: TaskID, _ line: JournalLine, _ plan: Plan) {
    if !next.isEmpty { next[task] = nil }
    switch event {
    case .retry, .failure:
      let fields = TransitionFields(line)
      guard event == .retry || fields.allowed else { return }
      let fetch = plan.kind(task) == .download ? line.fetch : nil
      if plan.policy(task).costsTry(fields.end.endReason, fetch) { used[task, default: 0] += 1 }
      if event == .retry { next[task] = line.milliseconds.plus(fields.delayMilliseconds) }
    // The name goes to another task.
    case .skip: if TransitionFields(line).skipReason(plan) == .withdrawn { used[task] = nil }
    case .start, .success, .cancel, .interrupt, .pause, .proceed, .resume, .fresh, .ready,
      .stopping:
      break
    }
  }
}
