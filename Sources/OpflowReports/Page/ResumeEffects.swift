internal import OpflowCore
internal import OpflowViews

/// What the newest session did with earlier results.
struct ResumeEffects {
  /// The number of results that stand.
  private(set) var reused = 0
  /// Tasks that run again by reason, largest group first.
  let again: [(why: String, tasks: [TaskID])]

  init(_ status: RunStatus) {
    let plan = status.plan
    for task in plan.tasks.lazy.map({ TaskID($0) })
    where status.included.contains(task) && Self.isReused(task, status) { reused += 1 }
    var groups: [String: [TaskID]] = [:]
    for (task, reason) in status.history.details.reruns where status.included.contains(task) {
      let why =
        if case .afterRerun = reason { "what they need ran again" } else {
          ReasonText.text(.rerun(reason), plan: plan)
        }
      groups[why, default: []].append(task)
    }
    again =
      groups
      .map { (why: $0.key, tasks: $0.value.sorted { $0.index < $1.index }) }
      .sorted { ($1.tasks.count, $0.why) < ($0.tasks.count, $1.why) }
  }

  /// Whether the task's result is from a session before the newest.
  static func isReused(_ task: TaskID, _ status: RunStatus) -> Bool {
    let sequence = status.history.settleSequence(task)
    return status.history.drives > 1 && sequence > 0 && sequence < status.history.driveSequence
  }
}
