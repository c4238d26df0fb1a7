internal import OpflowBase
package import OpflowPlan
package import OpflowWire

package struct TaskDetails: Sendable {
  package private(set) var downloads: [TaskID: FetchRecord] = [:]
  package private(set) var complaints: [TaskID: String] = [:]
  package private(set) var reruns: [TaskID: RerunReason] = [:]

  /// The changed files of tasks that ran.
  package private(set) var staleness: [TaskID: String] = [:]

  package private(set) var ports: [TaskID: ServicePorts] = [:]

  package private(set) var stopping: Set<TaskID> = []

  /// Failures followed by another attempt, since the task's last `resume` line.
  package private(set) var failedTries: [TaskID: [FailedTry]] = [:]

  mutating func beginSession() {
    reruns.removeAll()
    stopping.removeAll()
  }

  /// False for most lines.
  @inline(__always)
  func hears(_ event: TransitionKind, _ plan: Plan) -> Bool {
    switch event {
    case .start: !downloads.isEmpty || !complaints.isEmpty || plan.hasChecks || !stopping.isEmpty
    case .success: plan.hasDownloads || !stopping.isEmpty
    case .ready, .stopping, .failure, .retry, .resume, .fresh, .skip, .cancel, .interrupt, .pause,
      .proceed:
      true
    }
  }

  mutating func apply(
    _ event: TransitionKind, _ task: TaskID, _ line: JournalLine, _ fields: TransitionFields,
    _ plan: Plan
  ) {
    if !stopping.isEmpty, event.endsTry || event == .start { stopping.remove(task) }
    switch event {
    case .start, .resume:
      if !downloads.isEmpty { downloads[task] = nil }
      if !complaints.isEmpty { complaints[task] = nil }
      if plan.hasChecks { noteStaleness(event, task, fields, plan) }
      if event == .resume {
        reruns[task] = fields.rerunReason(plan)
        failedTries[task] = nil
      }
    case .success:
      if plan.hasDownloads, plan.kind(task) == .download {
        downloads[task] = line.fetch
      }
    case .failure, .retry:
      complaints[task] = fields.detail.isEmpty ? nil : Field.text(fields.detail)
      if event == .retry {
        failedTries[task, default: []].append(
          FailedTry(
            attempt: fields.attempt, outcome: fields.end.outcome, detail: complaints[task] ?? ""))
      }
    case .fresh: staleness[task] = nil
    case .ready: ports[task] = Field.text(fields.detail).flatMap { .init(text: $0) }
    case .stopping: stopping.insert(task)
    case .skip, .cancel, .interrupt, .pause, .proceed: break
    }
  }

  private mutating func noteStaleness(
    _ event: TransitionKind, _ task: TaskID, _ fields: TransitionFields, _ plan: Plan
  ) {
    guard plan.isChecked(task) else { return }
    if !fields.detail.isEmpty {
      staleness[task] = Field.text(fields.detail)
    } else if event == .resume {
      staleness[task] = nil
    }
  }
}

package struct FailedTry: Sendable {
  package let attempt: Int32
  package let outcome: Outcome
  package let detail: String
}

package struct TryRecords: Sendable {
  /// The due time of the next attempt.
  package private(set) var next: [TaskID: Int64] = [:]
  /// Failed attempts that count, in the newest session and sessions that it continues.
  private(set) var used: [TaskID: Int32] = [:]

  mutating func beginSession(continues: Bool) {
    if continues { return }
    next.removeAll()
    used.removeAll()
  }

  mutating func forget(_ tasks: [TaskID]) {
    for task in tasks {
      next[task] = nil
      used[task] = nil
    }
  }

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

  mutating func apply(
    _ event: TransitionKind, _ task: TaskID, _ line: JournalLine, _ fields: TransitionFields,
    _ plan: Plan
  ) {
    if !next.isEmpty { next[task] = nil }
    switch event {
    case .retry, .failure:
      guard event == .retry || fields.allowed else { return }
      let fetch = plan.kind(task) == .download ? line.fetch : nil
      if plan.policy(task).costsTry(fields.end.endReason, fetch) { used[task, default: 0] += 1 }
      if event == .retry { next[task] = line.milliseconds.plus(fields.delayMilliseconds) }
    // The name goes to another task.
    case .skip: if fields.skipReason(plan) == .retracted { used[task] = nil }
    case .start, .success, .cancel, .interrupt, .pause, .proceed, .resume, .fresh, .ready,
      .stopping:
      break
    }
  }
}

package struct TriesUsed: Equatable, Sendable {
  package var count: Int32 = 0
  package var delayMilliseconds: Int64 = 0

  package init(count: Int32 = 0, delayMilliseconds: Int64 = 0) {
    self.count = count
    self.delayMilliseconds = delayMilliseconds
  }
}

extension TaskPolicy {
  /// A failed attempt counts against `retries`, unless a download's part file grew.
  package func costsTry(_ reason: EndReason?, _ fetch: FetchRecord?) -> Bool {
    guard retryMax > 0, reason == .fetch else { return true }
    return (fetch?.report.gainedBytes ?? 0) <= 0
  }
}

package struct ValueRecords: Sendable {
  /// Hashes only. Missing for tasks whose values no task was to read.
  package private(set) var left: [TaskID: ValueSet] = [:]
  private var read: [TaskID: UInt64] = [:]

  mutating func apply(
    _ event: TransitionKind, _ task: TaskID, _ fields: TransitionFields, _ plan: Plan,
    hasArguments: Bool
  ) {
    let flags = plan.flags(task)
    guard hasArguments || flags.contains(.leavesValues) || flags.contains(.readsValues) else {
      return
    }
    switch event {
    case .start, .resume:
      left[task] = nil
      read[task] = nil
    case .success:
      left[task] = fields.taskValues.map { ValueSet(attempt: fields.attempt, $0) }
      read[task] = fields.with
    case .failure:
      left[task] = nil
      read[task] = fields.with
    case .fresh:
      let values = fields.taskValues
      // Unchecked results keep their values.
      if values == nil, fields.isKept { return }
      left[task] = values.map { ValueSet(attempt: ValueFolder.ofRecord, $0) }
      read[task] = fields.with
    case .retry, .skip, .cancel, .interrupt, .pause, .proceed, .ready, .stopping: break
    }
  }

  func isCurrent(_ task: TaskID, _ plan: Plan, arguments: [String]) -> Bool {
    read[task] == plan.valueDigest(of: task, arguments: arguments) { left[$0]?.values ?? [] }
  }
}
