internal import OpflowCore

/// The tasks of a matrix in one row.
struct FamilyStatus {
  let name: String
  private let counts: TaskCounts
  /// The number of successes restored from the cache.
  private var restored = 0
  /// The number of pending tasks that began before the run's process died.
  private var interrupted = 0

  init(_ family: FamilyID, _ status: RunStatus) {
    var counts = TaskCounts()
    var interrupted = 0
    for index in status.plan.legs(family) where status.included.contains(TaskID(index)) {
      let task = TaskID(index)
      counts.add(status.state(task), asks: status.plan.kind(task) == .approve)
      if status.isCut(task) { interrupted += 1 }
    }
    self.init(name: status.plan.familyName(family), counts: counts)
    self.interrupted = interrupted
    restored = status.restoredCount(of: status.plan.legs(family))
  }

  init(name: String, counts: TaskCounts) {
    self.name = name
    self.counts = counts
  }

  var label: String { "\(name) \(counts.ended)/\(counts.total)" }

  /// The state that most needs attention.
  var state: TaskState {
    if counts.running + counts.asking > 0 { return .running }
    if counts.suspended > 0 { return .suspended }
    if counts.failed > 0 { return .failed }
    if counts.cancelled > 0 { return .cancelled }
    if counts.pending > 0 { return .waiting }
    if counts.failedAllowed > 0 { return .failedAllowed }
    if counts.succeeded > 0 { return .succeeded }
    return counts.upToDate > 0 ? .upToDate : .skipped
  }

  /// The number of tasks per state; empty if `state` says it all.
  var words: String {
    let parts = [
      (counts.running, "running"), (counts.suspended, "suspended"), (counts.asking, "asking"),
      (counts.failed, "failed"),
      (counts.failedAllowed, "failed (allowed)"), (counts.cancelled, "cancelled"),
      (interrupted, "interrupted"), (counts.pending - interrupted, "pending"),
      (counts.succeeded, "succeeded" + restoredWords),
      (counts.upToDate, "up to date"), (counts.skipped, "skipped"),
    ].filter { $0.0 > 0 }
    return parts.count > 1 || restored > 0 || interrupted > 0
      ? parts.map { "\($0.0) \($0.1)" }.joined(separator: ", ") : ""
  }

  private var restoredWords: String {
    if restored == 0 { return "" }
    return restored == counts.succeeded ? " (restored)" : " (\(restored) restored)"
  }

  func write(into json: inout JSONWriter) {
    json.beginObject()
    json.key("id")
    json.string(name)
    json.key("state")
    json.string(state.word)
    json.key("counts")
    StatusJSON.write(counts, into: &json)
    if restored > 0 {
      json.key("restored")
      json.number(restored)
    }
    json.endObject()
  }
}
