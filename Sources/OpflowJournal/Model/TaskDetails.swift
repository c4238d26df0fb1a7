internal import OpflowBase
package import OpflowPlan
package import OpflowWire

/// Details for views; most tasks have none.
package struct TaskDetails: Sendable {
  package private(set) var downloads: [TaskID: FetchRecord] = [:]
  package private(set) var complaints: [TaskID: String] = [:]
  /// Why the newest session discarded results.
  package private(set) var reruns: [TaskID: RerunReason] = [:]

  /// What was out of date for tasks that ran.
  package private(set) var staleness: [TaskID: String] = [:]

  /// Of services that are or were ready.
  package private(set) var ports: [TaskID: ServicePorts] = [:]

  package private(set) var stopping: Set<TaskID> = []

  /// Followed by another one, since the task's last `resume` line.
  package private(set) var failedTries: [TaskID: [FailedTry]] = [:]

  mutating func beginDrive() {
    reruns.removeAll()
    stopping.removeAll()
  }

  /// Most lines change nothing here.
  @inline(__always)
  func hears(_ event: TransitionKind, _ plan: Plan) -> Bool {
    switch event {
    case .start:
      !downloads.isEmpty || !complaints.isEmpty || plan.hasChecks || !stopping.isEmpty
    case .success: plan.hasDownloads || !stopping.isEmpty
    case .ready, .stopping, .failure, .retry, .resume, .fresh, .skip, .cancel, .interrupt, .pause,
      .proceed:
      true
    }
  }

  mutating func apply(
    _ event: TransitionKind, _ task: TaskID, _ line: JournalLine, _ plan: Plan
  ) {
    if !stopping.isEmpty, event.endsTry || event == .start { stopping.remove(task) }
    switch event {
    case .start, .resume:
      if !downloads.isEmpty { downloads[task] = nil }
      if !complaints.isEmpty { complaints[task] = nil }
      if plan.hasChecks { noteStaleness(event, task, line, plan) }
      if event == .resume {
        reruns[task] = TransitionFields(line).rerunReason(plan)
        failedTries[task] = nil
      }
    case .success:
      if plan.hasDownloads, plan.kind(task) == .download {
        downloads[task] = line.fetch
      }
    case .failure, .retry:
      let fields = TransitionFields(line)
      complaints[task] = fields.what.isEmpty ? nil : Field.text(fields.what)
      if event == .retry {
        failedTries[task, default: []].append(
          FailedTry(
            attempt: fields.attempt, outcome: fields.end.outcome, what: complaints[task] ?? ""))
      }
    case .fresh: staleness[task] = nil
    case .ready: ports[task] = Field.text(TransitionFields(line).what).flatMap { .init(text: $0) }
    case .stopping: stopping.insert(task)
    case .skip, .cancel, .interrupt, .pause, .proceed: break
    }
  }

  private mutating func noteStaleness(
    _ event: TransitionKind, _ task: TaskID, _ line: JournalLine, _ plan: Plan
  ) {
    guard plan.isChecked(task) else { return }
    let what = TransitionFields(line).what
    if !what.isEmpty {
      staleness[task] = Field.text(what)
    } else if event == .resume {
      staleness[task] = nil
    }
  }
}

package struct FailedTry: Sendable {
  package let attempt: Int32
  package let outcome: Outcome
  package let what: String
}
