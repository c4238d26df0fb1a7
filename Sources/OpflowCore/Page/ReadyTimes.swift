/// When tries could have begun: when all that they need had its end, and the try before them theirs.
///
/// From there until they began they waited: for a worker, for resources, for the delay of a retry.
struct ReadyTimes {
  /// By entry of the lanes, in milliseconds since the epoch; never after its beginning.
  let milliseconds: [Int64]

  init(_ status: RunStatus, _ entries: [AttemptLanes.Entry]) {
    let (plan, attempts) = (status.plan, status.history.attempts.all)
    let drives = Self.driveBeginnings(status, entries)
    // By task: where its last try so far ended.
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

  /// By the number of a drive: when it began. Of drives between the first and the newest one nothing is known
  /// before the first of their tries.
  ///
  /// Those of which there is something to tell: how many drives there were is but a number that stands in the
  /// journal.
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
