internal import OpflowCore

/// The tasks whose last attempt took longest.
enum SlowestTasks {
  /// Longest first; no approvals.
  static func of(_ status: RunStatus, most: Int) -> [(task: TaskID, wall: Int64)] {
    var longest: [(task: TaskID, wall: Int64)] = []
    for task in status.plan.tasks.lazy.map({ TaskID($0) }) where status.included.contains(task) {
      if status.plan.kind(task) == .approve { continue }
      let wall = status.history[task].wallMicroseconds
      if wall <= longest.last?.wall ?? 0, longest.count == most || wall == 0 { continue }
      let place = longest.firstIndex { $0.wall < wall } ?? longest.count
      longest.insert((task, wall), at: place)
      if longest.count > most { longest.removeLast() }
    }
    return longest
  }
}
