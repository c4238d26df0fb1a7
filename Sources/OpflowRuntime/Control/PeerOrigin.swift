internal import OpflowPlan
internal import OpflowSystem

/// How a client process relates to the run.
enum PeerOrigin: Equatable {
  case outside
  /// Descends from the worker, and so from its task.
  case worker(WorkerID)
  case inside

  /// Follows the chain of parents, as a guard against accidents, not against the user: a process of
  /// a container or service manager, or one that has ended, counts as outside. `workers` are by
  /// process ID.
  static func of(_ pid: Int32, workers: [Int32: WorkerID]) -> PeerOrigin {
    let own = ProcessID.own
    if pid <= 0 || pid == own { return .outside }
    // If a parent ends meanwhile, its children move to the worker, the subreaper; then the chain is
    // read again.
    for _ in 0..<mostReadings {
      var current = pid
      for _ in 0..<longestChain {
        if let worker = workers[current] { return .worker(worker) }
        if current == own { return .inside }
        if current <= 1 { return .outside }
        guard let status = ProcessStatus.read(current) else { break }
        current = status.parent
      }
      if current == pid { return .outside }
    }
    return .outside
  }

  private static let mostReadings = 8
  private static let longestChain = 4096
}
