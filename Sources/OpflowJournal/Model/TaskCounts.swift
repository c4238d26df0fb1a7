package import OpflowPlan

package struct TaskCounts: Equatable, Sendable {
  /// With prefetched tasks.
  package private(set) var pending = 0
  package private(set) var running = 0
  package private(set) var suspended = 0
  /// Waiting approvals, if counted apart; else part of `running`.
  package private(set) var asking = 0
  package private(set) var succeeded = 0
  package private(set) var upToDate = 0
  /// These fail the run.
  package private(set) var failed = 0
  package private(set) var failedAllowed = 0
  package private(set) var skipped = 0
  package private(set) var cancelled = 0

  package init() {}

  package var total: Int { ended + cancelled + pending + begun }
  package var begun: Int { running + suspended + asking }
  /// Tasks that a resume does not repeat, plus failed ones.
  package var ended: Int { succeeded + upToDate + allFailed + skipped }
  package var allFailed: Int { failed + failedAllowed }

  package mutating func add(_ state: TaskState, asks: Bool) {
    if asks, state == .running { asking += 1 } else { add(state) }
  }

  package mutating func add(_ state: TaskState, _ count: Int = 1) {
    switch state {
    case .waiting, .ready, .checking, .handed: pending += count
    case .running: running += count
    case .suspended: suspended += count
    case .succeeded: succeeded += count
    case .upToDate: upToDate += count
    case .failed: failed += count
    case .failedAllowed: failedAllowed += count
    case .skipped: skipped += count
    case .cancelled: cancelled += count
    }
  }

  mutating func move(from old: TaskState, to new: TaskState) {
    add(old, -1)
    add(new)
  }
}
