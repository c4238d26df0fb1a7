internal import OpflowCore

/// When attempts could have started: after all dependencies and the attempt before. From there on
/// they waited for a worker, for resources or for a retry's delay.
struct ReadyTimes {
  /// Per entry, since the epoch; never after its start.
  let milliseconds: [Int64]

  init(_ status: RunStatus, _ entries: [AttemptLanes.Entry]) {
    let (plan, attempts) = (status.plan, status.history.attempts.all)
    let drives = Self.driveBeginnings(status, entries)
    var ends = [Int64](repeating: .min, count: plan.taskCount)
    var lastEnd = Int64.min
    var ready: [Int64] = []
    ready.reserveCapacity(entries.count)
    for entry in entries {
      let attempt = attempts[entry.attempt]
      var time = drives[Int(attempt.drive)] ?? entry.begin
      time = max(time, ends[attempt.task.index])
      for edge in plan.needs(attempt.task) {
        time = max(time, ends[Int(plan.needTargets[edge])])
      }
      if plan.flags(attempt.task).contains(.finally) { time = max(time, lastEnd) }
      ready.append(min(time, entry.begin))
      ends[attempt.task.index] = entry.end
      lastEnd = max(lastEnd, entry.end)
    }
    milliseconds = ready
  }

  /// The starts of sessions; of some only the start of their first attempt is known. Only of
  /// sessions with attempts, since their number in the journal is untrusted.
  private static func driveBeginnings(
    _ status: RunStatus, _ entries: [AttemptLanes.Entry]
  ) -> [Int: Int64] {
    let history = status.history
    var beginnings: [Int: Int64] = [:]
    for entry in entries {
      let drive = Int(history.attempts.all[entry.attempt].drive)
      beginnings[drive] = min(beginnings[drive] ?? .max, entry.begin)
    }
    if history.drives > 0 { beginnings[history.drives] = history.driveMilliseconds }
    if history.drives > 1 { beginnings[1] = history.openedMilliseconds }
    return beginnings
  }
}
