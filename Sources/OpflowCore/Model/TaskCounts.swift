/// How many of some tasks stand where.
package struct TaskCounts: Equatable, Sendable {
  /// Those that were handed ahead among them.
  package private(set) var pending = 0
  /// Those that are suspended among them.
  package private(set) var running = 0
  package private(set) var succeeded = 0
  package private(set) var upToDate = 0
  /// Those that fail the run.
  package private(set) var failed = 0
  package private(set) var failedAllowed = 0
  package private(set) var skipped = 0
  package private(set) var cancelled = 0

  package init() {}

  package var total: Int { ended + cancelled + pending + running }
  /// Those that a resume of the run leaves as they are, but for those that failed.
  package var ended: Int { succeeded + upToDate + allFailed + skipped }
  package var allFailed: Int { failed + failedAllowed }

  /// So many tasks more are in that state.
  mutating func add(_ state: TaskState, _ count: Int = 1) {
    switch state {
    case .waiting, .ready, .checking, .handed: pending += count
    case .running, .suspended: running += count
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
