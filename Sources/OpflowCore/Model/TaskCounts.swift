/// How many of some tasks stand where.
package struct TaskCounts: Equatable, Sendable {
  /// Those that were handed ahead among them.
  package private(set) var pending = 0
  package private(set) var running = 0
  package private(set) var suspended = 0
  /// Tasks with `approve` that wait for an answer, where who counts tells them apart; else they are running.
  package private(set) var asking = 0
  package private(set) var succeeded = 0
  package private(set) var upToDate = 0
  /// Those that fail the run.
  package private(set) var failed = 0
  package private(set) var failedAllowed = 0
  package private(set) var skipped = 0
  package private(set) var cancelled = 0

  package init() {}

  package var total: Int { ended + cancelled + pending + begun }
  /// Those that have begun and have no end.
  package var begun: Int { running + suspended + asking }
  /// Those that a resume of the run leaves as they are, but for those that failed.
  package var ended: Int { succeeded + upToDate + allFailed + skipped }
  package var allFailed: Int { failed + failedAllowed }

  /// A task more is in that state.
  ///
  /// - Parameter asks: it is one with `approve`.
  mutating func add(_ state: TaskState, asks: Bool) {
    if asks, state == .running { asking += 1 } else { add(state) }
  }

  /// So many tasks more are in that state.
  mutating func add(_ state: TaskState, _ count: Int = 1) {
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

  /// A task goes from one state to another.
  mutating func move(from old: TaskState, to new: TaskState) {
    add(old, -1)
    add(new)
  }
}
