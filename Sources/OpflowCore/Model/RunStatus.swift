/// Where a run stands, as `status` and `runs` show it: the journal's fold, the plan, and whether
/// somebody drives the run.
package struct RunStatus {
  package let run: String
  package let state: RunState
  package let counts: TaskCounts
  /// Since the epoch.
  package let openedMilliseconds: Int64
  /// Of the journal's last line.
  package let lastMilliseconds: Int64
  package let plan: Plan
  package let history: RunModel
  /// What the run is about: `--only` leaves out the rest.
  package let included: TaskSet
  private let isHeld: Bool
  /// How far downloads are, as the process that drives the run tells it.
  package var told: [TaskID: RunningDownloads.Entry] = [:]
  /// The runs that its tasks have begun and that are live.
  package var inner: [TaskID: InnerRun] = [:]
  /// What the process that drives the run waits for so that machines come, in words.
  package var awaited: String?
  /// The sizes of the parts that downloads left, by those of `mayHavePart`.
  package var keptBytes: [TaskID: Int64] = [:]

  /// - Parameters:
  ///   - included: the tasks of the run.
  ///   - isHeld: whether a process drives the run now.
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
      counts.add(
        Self.state(task, plan, history, isHeld: isHeld), asks: plan.kind(task) == .approve)
    }
    self.counts = counts
  }

  /// How long the run was driven: up to now while it is, else up to its end. What passed between two drives of it
  /// does not count.
  func drivenMilliseconds(at now: Int64) -> Int64 {
    history.drivenMilliseconds(until: state == .running ? now : lastMilliseconds)
  }

  /// ` in 3 drives`; nothing of a run that was never resumed.
  var driveWords: String { history.drives > 1 ? " in \(history.drives) drives" : "" }

  /// A try of it has failed, and the next one is still to come, or never came.
  func awaitsNextTry(_ task: TaskID) -> Bool {
    state(task) == .waiting && history.tries.next[task] != nil
  }

  /// It began and has no end, and nobody gives it one: it was cut short while it ran, or while it waited for its
  /// next try.
  func isCut(_ task: TaskID) -> Bool {
    !isHeld && state(task) == .waiting && (history[task].isInterrupted || awaitsNextTry(task))
  }

  package var name: String { plan.string(plan.manifest.name) }

  func state(_ task: TaskID) -> TaskState { Self.state(task, plan, history, isHeld: isHeld) }

  /// How far a running download is; nil where that is not known.
  func progress(_ task: TaskID) -> DownloadProgress? {
    guard let entry = told[task], entry.attempt == history[task].attempts else { return nil }
    switch state(task) {
    case .running, .suspended: return entry.progress
    case .waiting, .ready, .checking, .handed, .succeeded, .upToDate, .failedAllowed, .failed,
      .skipped,
      .cancelled:
      return nil
    }
  }

  /// Whether it is a download that began and did not come to its end, so that what came may be kept.
  package func mayHavePart(_ task: TaskID) -> Bool {
    guard plan.kind(task) == .download, history[task].attempts > 0 else { return false }
    switch state(task) {
    case .waiting, .ready, .checking, .handed, .failed, .failedAllowed, .cancelled: return true
    case .running, .suspended, .succeeded, .upToDate, .skipped: return false
    }
  }

  /// What a download that has succeeded found.
  func report(_ task: TaskID) -> FetchReport? {
    state(task) == .succeeded ? history.details.downloads[task]?.report : nil
  }

  /// Nothing runs in a run that nobody drives: what its journal leaves running waits for a resume.
  ///
  /// - Parameters:
  ///   - history: what the journal tells.
  ///   - isHeld: whether a process drives the run.
  @inline(__always)
  package static func state(
    _ task: TaskID, _ plan: Plan, _ history: RunModel, isHeld: Bool
  ) -> TaskState {
    let recorded = history.state(task)
    return switch recorded {
    case .handed, .running, .suspended: isHeld ? recorded : .waiting
    case .succeeded where plan.hasEmptyMatrix(task): .skipped
    case .waiting, .ready, .checking, .succeeded, .upToDate, .failedAllowed, .failed, .skipped,
      .cancelled:
      recorded
    }
  }

  /// It has made the legs of its family, of which there are none.
  func hasEmptyMatrix(_ task: TaskID) -> Bool {
    history.state(task) == .succeeded && plan.hasEmptyMatrix(task)
  }

  /// Why the task is in its state; what was cut short waits for that.
  func why(_ task: TaskID) -> Why? {
    if hasEmptyMatrix(task) { return .skipped(.emptyMatrix) }
    let record = history[task]
    return state(task) == .waiting && record.isInterrupted ? .rerun(.interrupted) : record.why
  }

  /// A service that is ready, and was not told to end.
  func isReady(_ service: TaskID) -> Bool { history[service].isReady && !isStopping(service) }

  /// A service that was told to end and has not ended.
  func isStopping(_ service: TaskID) -> Bool {
    isHeld && state(service).isRunning && history.details.stopping.contains(service)
  }

  /// Needs of a task that has not started which have no end yet, or one that a resume takes back.
  func waitsFor(_ task: TaskID) -> [TaskID] {
    guard state(task) == .waiting else { return [] }
    return plan.needs(task).lazy.map { TaskID(plan.needTargets[$0]) }.filter {
      included.contains($0) && (!state($0).isTerminal || state($0) == .cancelled)
        && !isReady($0)
    }
  }

  /// When the next try of a task is due, in milliseconds since the epoch; nil where none is, and where
  /// nobody drives the run.
  func nextTry(_ task: TaskID) -> Int64? {
    isHeld && state(task) == .waiting ? history.tries.next[task] : nil
  }

  /// Tasks that stay failed until somebody asks for them.
  func waitsForRerun(_ task: TaskID) -> Bool {
    let record = history[task]
    return record.state == .failed && plan.flags(task).contains(.failWhenInterrupted)
      && (record.why == .ended(.interrupted) || record.why == .ended(.workerLost))
  }

  /// A task that was cut short, and that a resume fails for that.
  func failsOnResume(_ task: TaskID) -> Bool {
    plan.flags(task).contains(.failWhenInterrupted) && isCut(task)
      && history[task].isInterrupted
  }

  /// How many of some tasks succeeded by a result from a cache.
  func restoredCount(of tasks: Range<Int>) -> Int {
    if !plan.hasCaches { return 0 }
    return tasks.lazy.map { TaskID($0) }.count {
      included.contains($0) && state($0) == .succeeded && history[$0].isRestored
    }
  }
}
