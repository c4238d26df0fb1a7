/// What the views of progress know: every task's state and the counts over them.
struct DriveModel {
  let plan: Plan
  let scope: DriveScope
  private var states: [TaskState]
  /// In the order of their starts.
  private(set) var running: [RunningTask] = []
  /// Tasks that were running when the drive ended them, and wait for a further one.
  private(set) var interrupted: [TaskID] = []
  private(set) var succeeded = 0
  private(set) var upToDate = 0
  private(set) var failed = 0
  private(set) var allowedFailures = 0
  private(set) var skipped = 0
  private(set) var cancelled = 0
  private(set) var beganMilliseconds: Int64 = 0
  /// Whether any task printed something.
  private(set) var hasOutput = false
  private(set) var downloads = DownloadTotals()

  struct RunningTask {
    var task: TaskID
    var startedMilliseconds: Int64
    /// Of a download that has told something.
    var download: DownloadProgress?
  }

  init(plan: Plan, scope: DriveScope) {
    self.plan = plan
    self.scope = scope
    states = [TaskState](repeating: .waiting, count: plan.taskCount)
    guard !scope.stillFailed.isEmpty else { return }
    for index in plan.tasks where scope.stillFailed.contains(TaskID(index)) {
      states[index] = .failed
      failed += 1
    }
  }

  var total: Int { scope.selected.count }
  var reused: Int { scope.reused.count }
  /// Tasks that have their end, reused ones included.
  var finished: Int {
    reused + succeeded + upToDate + failed + allowedFailures + skipped + cancelled
  }
  var notStarted: Int { max(0, total - finished - interrupted.count - running.count) }

  /// Tasks of this drive that never started, in the order of the manifest.
  func firstNotStarted(_ limit: Int) -> [TaskID] {
    var tasks: [TaskID] = []
    for index in states.indices where states[index] == .waiting && tasks.count < limit {
      let task = TaskID(index)
      guard scope.selected.contains(task), !scope.reused.contains(task) else { continue }
      if !interrupted.contains(task) { tasks.append(task) }
    }
    return tasks
  }

  func name(_ task: TaskID) -> String { plan.nameString(task) }

  mutating func begin(atMilliseconds now: Int64) { beganMilliseconds = now }

  mutating func apply(_ transition: Transition, atMilliseconds now: Int64) {
    let task = transition.task
    guard !task.isNone, task.index < states.count else { return }
    let old = states[task.index]
    let new = Self.state(after: transition)
    states[task.index] = new
    if transition.outcome.usage.outputBytes > 0 { hasOutput = true }
    count(old, by: -1)
    count(new, by: 1)
    if transition.event == .success, let report = transition.fetch?.report {
      downloads.add(report)
    }
    switch transition.event {
    case .start:
      interrupted.removeAll { $0 == task }
      if new == .handed { break }
      running.append(RunningTask(task: task, startedMilliseconds: now))
    case .interrupt where old != .handed && transition.outcome.reason != .revoked:
      interrupted.append(task)
    case .proceed:
      // While it was suspended nothing was to come.
      if let place = running.firstIndex(where: { $0.task == task }) {
        running[place].download?.toldMilliseconds = now
      }
    case .success, .failure, .retry, .skip, .cancel, .interrupt, .pause, .resume: break
    }
    if new != .running, new != .suspended, old == .running || old == .suspended {
      if let place = running.firstIndex(where: { $0.task == task }) { running.remove(at: place) }
    }
  }

  /// A worker has it, and has not begun with it.
  func isHanded(_ task: TaskID) -> Bool {
    states.indices.contains(task.index) && states[task.index] == .handed
  }

  func isSuspended(_ task: TaskID) -> Bool { states[task.index] == .suspended }

  /// Notes how far a download is; nil when it does not run.
  mutating func note(_ task: TaskID, _ progress: DownloadProgress) -> RunningTask? {
    guard let place = running.firstIndex(where: { $0.task == task }) else { return nil }
    running[place].download = progress
    return running[place]
  }

  private static func state(after transition: Transition) -> TaskState {
    switch transition.event {
    case .start: transition.isAhead ? .handed : .running
    case .proceed: .running
    case .success: .succeeded
    case .failure: transition.allowed ? .failedAllowed : .failed
    case .retry, .interrupt, .resume: .waiting
    case .skip: .skipped
    case .cancel: .cancelled
    case .pause: .suspended
    }
  }

  private mutating func count(_ state: TaskState, by step: Int) {
    switch state {
    case .waiting, .ready, .handed, .running, .suspended: break
    case .succeeded: succeeded += step
    case .upToDate: upToDate += step
    case .failed: failed += step
    case .failedAllowed: allowedFailures += step
    case .skipped: skipped += step
    case .cancelled: cancelled += step
    }
  }
}
