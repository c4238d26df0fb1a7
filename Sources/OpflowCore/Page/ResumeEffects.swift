/// What the newest drive of a run did with the results of those before.
struct ResumeEffects {
  /// Tasks that it took over.
  private(set) var reused = 0
  /// Those that it took back, by why, the most first.
  let again: [(why: String, tasks: [TaskID])]

  init(_ status: RunStatus) {
    let plan = status.plan
    for task in plan.tasks.lazy.map({ TaskID($0) })
    where status.included.contains(task) && Self.isReused(task, status) { reused += 1 }
    var groups: [String: [TaskID]] = [:]
    for (task, reason) in status.history.details.reruns where status.included.contains(task) {
      // Those that follow another one are alike, whichever it is.
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

  /// Whether a task has the result of a drive before the newest one.
  static func isReused(_ task: TaskID, _ status: RunStatus) -> Bool {
    let sequence = status.history.settleSequence(task)
    return status.history.drives > 1 && sequence > 0 && sequence < status.history.driveSequence
  }
}
