internal import OpflowCore
internal import OpflowSystem

/// Where a process that asks something of a run stands to it.
enum PeerOrigin: Equatable {
  case outside
  /// It descends from that worker, and so from the task that this one runs.
  case worker(WorkerID)
  /// It descends from this process, and from no worker that it has.
  case inside

  /// Follows the chain of parents.
  ///
  /// A guard against accident, not against the user, who may do whatever a task may do: a process that was
  /// handed to somebody else's care (a container, a service manager) is outside, and so is one that has
  /// ended since it asked, or of which nothing is to be seen.
  ///
  /// - Parameter workers: by their pids.
  static func of(_ pid: Int32, workers: [Int32: WorkerID]) -> PeerOrigin {
    let own = ProcessID.own
    if pid <= 0 || pid == own { return .outside }
    // A parent that ends while the chain is read leaves its children to the worker, which is the subreaper:
    // then the chain is another, and is read again.
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
