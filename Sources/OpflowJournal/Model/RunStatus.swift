package import OpflowPlan
package import OpflowWire

package struct RunStatus {
  package let run: String
  package let state: RunState
  package let counts: TaskCounts
  package let openedMilliseconds: Int64
  package let lastMilliseconds: Int64
  package let plan: Plan
  package let history: RunModel
  /// Excludes tasks that `--only` excludes.
  package let included: TaskSet
  private let isHeld: Bool
  package var told: [TaskID: RunningDownloads.Entry] = [:]
  package var inner: [TaskID: InnerRun] = [:]
  package var awaited: String?
  package var keptBytes: [TaskID: Int64] = [:]

  /// `isHeld`: the run is live.
  package init(run: String, plan: Plan, history: RunModel, included: TaskSet, isHeld: Bool) {
    self.run = run
    self.plan = plan
    self.history = history
    self.included = included
    self.isHeld = isHeld
    state = history.state(isHeld: isHeld)
    openedMilliseconds = history.openedMilliseconds
    lastMilliseconds = history.lastMilliseconds
    var counts = TaskCounts()
    for index in plan.tasks where included.contains(TaskID(index)) {
      let task = TaskID(index)
      counts.add(Self.state(task, plan, history, isHeld: isHeld), asks: plan.kind(task) == .approve)
    }
    self.counts = counts
  }

  /// Excludes the gaps between sessions.
  package func sessionsMilliseconds(at now: Int64) -> Int64 {
    history.sessionsMilliseconds(until: state == .running ? now : lastMilliseconds)
  }

  package var sessionWords: String {
    history.sessions > 1 ? " in \(history.sessions) sessions" : ""
  }

  /// An attempt failed, and the next one is due or never came.
  package func awaitsNextTry(_ task: TaskID) -> Bool {
    state(task) == .waiting && history.tries.next[task] != nil
  }

  /// The run is not live, and the task ran or waited for its next attempt when interrupted.
  package func isCut(_ task: TaskID) -> Bool {
    !isHeld && state(task) == .waiting && (history[task].isInterrupted || awaitsNextTry(task))
  }

  package var name: String { plan.string(plan.manifest.name) }

  package func state(_ task: TaskID) -> TaskState {
    Self.state(task, plan, history, isHeld: isHeld)
  }

  package func progress(_ task: TaskID) -> DownloadProgress? {
    guard state(task).isRunning, let entry = told[task],
      entry.attempt == history[task].attempts
    else { return nil }
    return entry.progress
  }

  package func mayHavePart(_ task: TaskID) -> Bool {
    guard plan.kind(task) == .download, history[task].attempts > 0 else { return false }
    switch state(task) {
    case .waiting, .ready, .checking, .prefetched, .failed, .failedAllowed, .cancelled: return true
    case .running, .suspended, .succeeded, .upToDate, .skipped: return false
    }
  }

  package func report(_ task: TaskID) -> FetchReport? {
    state(task) == .succeeded ? history.details.downloads[task]?.report : nil
  }

  /// If the run is not live, running tasks wait for a resume.
  @inline(__always)
  package static func state(
    _ task: TaskID, _ plan: Plan, _ history: RunModel, isHeld: Bool
  ) -> TaskState {
    let recorded = history.state(task)
    return switch recorded {
    case .prefetched, .running, .suspended: isHeld ? recorded : .waiting
    case .waiting, .ready, .checking, .succeeded, .upToDate, .failedAllowed, .failed, .skipped,
      .cancelled:
      plan.shown(recorded, of: task)
    }
  }

  package func hasEmptyMatrix(_ task: TaskID) -> Bool {
    history.state(task) == .succeeded && plan.hasEmptyMatrix(task)
  }

  package func why(_ task: TaskID) -> Why? {
    if hasEmptyMatrix(task) { return .skipped(.emptyMatrix) }
    let record = history[task]
    return state(task) == .waiting && record.isInterrupted ? .rerun(.interrupted) : record.why
  }

  package func isReady(_ service: TaskID) -> Bool {
    history[service].isReady && !isStopping(service)
  }

  package func isStopping(_ service: TaskID) -> Bool {
    isHeld && state(service).isRunning && history.details.stopping.contains(service)
  }

  package func waitsFor(_ task: TaskID) -> [TaskID] {
    guard state(task) == .waiting else { return [] }
    return plan.needs(task).lazy.map { TaskID(plan.needTargets[$0]) }.filter {
      included.contains($0) && (!state($0).isTerminal || state($0) == .cancelled)
        && !isReady($0)
    }
  }

  package func nextTry(_ task: TaskID) -> Int64? {
    isHeld && state(task) == .waiting ? history.tries.next[task] : nil
  }

  package func waitsForRerun(_ task: TaskID) -> Bool {
    let record = history[task]
    return record.state == .failed && plan.flags(task).contains(.failWhenInterrupted)
      && (record.why == .ended(.interrupted) || record.why == .ended(.workerLost))
  }

  package func failsOnResume(_ task: TaskID) -> Bool {
    plan.flags(task).contains(.failWhenInterrupted) && isCut(task)
      && history[task].isInterrupted
  }

  package func restoredCount(of tasks: Range<Int>) -> Int {
    if !plan.hasCaches { return 0 }
    return tasks.lazy.map { TaskID($0) }.count {
      included.contains($0) && state($0) == .succeeded && history[$0].isRestored
    }
  }
}

package struct TaskCounts: Equatable, Sendable {
  package private(set) var pending = 0
  package private(set) var running = 0
  package private(set) var suspended = 0
  /// Waiting approvals, if not counted as `running`.
  package private(set) var asking = 0
  package private(set) var succeeded = 0
  package private(set) var upToDate = 0
  package private(set) var failed = 0
  package private(set) var failedAllowed = 0
  package private(set) var skipped = 0
  package private(set) var cancelled = 0

  package init() {}

  package var total: Int { ended + cancelled + pending + begun }
  package var begun: Int { running + suspended + asking }
  /// Includes failures, which a resume repeats.
  package var ended: Int { succeeded + upToDate + allFailed + skipped }
  package var allFailed: Int { failed + failedAllowed }

  package mutating func add(_ state: TaskState, asks: Bool) {
    if asks, state == .running { asking += 1 } else { add(state) }
  }

  package mutating func add(_ state: TaskState, _ count: Int = 1) {
    switch state {
    case .waiting, .ready, .checking, .prefetched: pending += count
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

package struct InnerRun: Equatable, Sendable {
  package let run: RunID
  package let counts: TaskCounts

  package init(run: RunID, counts: TaskCounts) {
    self.run = run
    self.counts = counts
  }
}

package enum JointEnd: Equatable, Sendable {
  case open(count: Int, first: TaskID)
  /// Includes allowed failures and skips.
  case good
  /// The task failed, or a failure caused its skip.
  case failed(TaskID)
  case cancelled(TaskID)
}

extension RunModel {
  package func end(of tasks: [TaskID]) -> JointEnd {
    var failed = TaskID.none
    var cancelled = TaskID.none
    var open = TaskID.none
    var count = 0
    for task in tasks {
      switch state(task) {
      case .waiting, .ready, .checking, .prefetched, .running, .suspended:
        if open.isNone { open = task }
        count += 1
      case .failed: if failed.isNone { failed = task }
      case .skipped: if failed.isNone, isSkippedByFailure(task) { failed = task }
      case .cancelled: if cancelled.isNone { cancelled = task }
      case .succeeded, .upToDate, .failedAllowed: break
      }
    }
    if count > 0 { return .open(count: count, first: open) }
    if !failed.isNone { return .failed(failed) }
    return cancelled.isNone ? .good : .cancelled(cancelled)
  }

  /// The chain of skips leads to a failure, not to an unneeded failure handler.
  private func isSkippedByFailure(_ task: TaskID) -> Bool {
    var task = task
    // A damaged journal may contain a cycle.
    for _ in 0..<Self.longestChain {
      guard case .skipped(.upstream(let need)) = self[task].why else { return false }
      if need.isNone { return true }
      switch state(need) {
      case .failed, .cancelled: return true
      case .skipped: task = need
      case .waiting, .ready, .checking, .prefetched, .running, .suspended, .succeeded, .upToDate,
        .failedAllowed:
        return false
      }
    }
    return true
  }

  private static let longestChain = 1_000_000
}
