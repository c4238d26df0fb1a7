/// One try of a task that a worker began with, as the journal tells it.
///
/// Of a million tasks there are at least as many, so it holds no text: `TaskDetails.complaints` has
/// what was the matter.
package struct TaskAttempt: Sendable, Equatable {
  package let task: TaskID
  /// Over all drives, from 1.
  package let number: Int32
  /// Numbers begin anew with each drive; `none` where it is not told, and of a gate.
  package let worker: WorkerID
  package let drive: Int32
  /// Since the epoch. Of a try whose start is lost, as far as its end tells.
  package let begunMilliseconds: Int64
  /// Since the epoch; 0 while it runs. Of a try that died with its drive, when that was last heard of.
  package internal(set) var endedMilliseconds: Int64 = 0
  package internal(set) var wallMicroseconds: Int64 = 0
  /// Of processors, its children's included.
  package internal(set) var cpuMicroseconds: Int64 = 0
  /// While its processes were stopped by an order; a stop that lasts is not counted yet.
  package internal(set) var suspendedMilliseconds: Int64 = 0
  /// Of one that was to be tried again: until then.
  package internal(set) var delayMilliseconds: Int64 = 0
  /// Largest resident set of one process.
  package internal(set) var peakKibibytes: UInt32 = 0
  package internal(set) var end = End.none
  package internal(set) var reason: EndReason?
  package internal(set) var status = ExitStatus.unknown

  /// Its processes stood still for so long.
  fileprivate mutating func stood(_ milliseconds: Int64) {
    suspendedMilliseconds = suspendedMilliseconds.plus(milliseconds)
  }

  package enum End: UInt8, Sendable, CaseIterable {
    /// It runs, or nobody drives the run any more.
    case none
    case succeeded, failed, failedAllowed
    /// It failed, and was to be tried again.
    case retried
    case cancelled
    /// A stop or a lost worker cut it short, and said so.
    case interrupted
    /// Its drive died; nobody saw its end.
    case lost
  }
}

/// The tries of all tasks, in the order in which they began.
///
/// Any order of lines is taken, as of a damaged journal: an end without a beginning is a try that took
/// as long as it says, and a beginning without an end ends with the next try of the task, or its drive.
package struct TaskAttempts: Sendable {
  package private(set) var all: [TaskAttempt] = []
  /// By task: the place of the try that runs; -1 for none.
  private var running: [Int32] = []
  /// Those that began in the newest drive, from there on.
  private var driveStart = 0
  /// Those of earlier drives that went on in it.
  private var wentOn: [Int] = []
  /// By what stands still: since when, in milliseconds since the epoch.
  private var suspended: [TaskID: Int64] = [:]
  private var lastMilliseconds: Int64 = 0
  /// The machines of workers that are not on the coordinator's.
  private var hosts: [DriveWorker: String] = [:]

  private struct DriveWorker: Hashable, Sendable {
    let drive: Int32
    let worker: WorkerID
  }

  /// The machine that it ran on; empty for the coordinator's.
  package func host(of attempt: TaskAttempt) -> String {
    if hosts.isEmpty { return "" }
    return hosts[DriveWorker(drive: attempt.drive, worker: attempt.worker)] ?? ""
  }

  /// The plan has tasks more.
  mutating func grow(to plan: Plan) {
    let missing = plan.taskCount - running.count
    if running.isEmpty || missing <= 0 { return }
    running.append(contentsOf: repeatElement(-1, count: missing))
  }

  mutating func note(_ worker: WorkerID, host: String, drive: Int) {
    if host.isEmpty || worker == .none { return }
    hosts[DriveWorker(drive: Int32(clamping: drive), worker: worker)] = host
  }

  /// What the drive before left running has no end that anybody saw.
  mutating func beginDrive() {
    for place in wentOn + Array(driveStart..<all.count) where all[place].end == .none {
      close(place, .lost, at: lastMilliseconds)
    }
    wentOn.removeAll()
    driveStart = all.count
    suspended.removeAll()
  }

  /// - Parameter begun: the task that a worker went on with by this line, of what it was handed ahead.
  mutating func apply(
    _ event: TransitionKind, _ task: TaskID, _ line: JournalLine, _ plan: Plan,
    begun: (task: TaskID, attempt: Int32, worker: WorkerID)?
  ) {
    if running.isEmpty { running = [Int32](repeating: -1, count: plan.taskCount) }
    let now = line.milliseconds
    let fields = TransitionFields(line)
    switch event {
    case .start:
      if !fields.isAhead {
        begin(task, fields.attempt, fields.worker, Int32(clamping: fields.drive), at: now)
      }
    case .success: end(task, fields, .succeeded, at: now)
    case .failure: end(task, fields, fields.allowed ? .failedAllowed : .failed, at: now)
    case .retry: end(task, fields, .retried, at: now)
    case .cancel: end(task, fields, .cancelled, at: now)
    case .interrupt:
      if fields.end.endReason != .revoked { end(task, fields, .interrupted, at: now) }
    case .pause: if running[task.index] >= 0 { suspended[task] = now }
    case .proceed:
      if let since = suspended.removeValue(forKey: task), running[task.index] >= 0 {
        all[Int(running[task.index])].stood(max(0, now - since))
      }
    case .ready: goOn(task, fields.attempt)
    case .skip, .resume, .fresh, .stopping: break
    }
    if let begun {
      begin(begun.task, begun.attempt, begun.worker, Int32(clamping: fields.drive), at: now)
    }
    lastMilliseconds = now
  }

  private mutating func begin(
    _ task: TaskID, _ number: Int32, _ worker: WorkerID, _ drive: Int32, at now: Int64
  ) {
    let old = Int(running[task.index])
    if old >= 0 { close(old, .lost, at: now) }
    running[task.index] = Int32(clamping: all.count)
    all.append(
      TaskAttempt(
        task: task, number: number, worker: worker, drive: drive, begunMilliseconds: now))
  }

  /// A service that the drive before left up is this one's.
  private mutating func goOn(_ task: TaskID, _ number: Int32) {
    guard running[task.index] < 0, let place = all.lastIndex(where: { $0.task == task }),
      all[place].number == number, all[place].end == .lost
    else { return }
    all[place].end = .none
    all[place].endedMilliseconds = 0
    running[task.index] = Int32(clamping: place)
    wentOn.append(place)
  }

  private mutating func end(
    _ task: TaskID, _ fields: TransitionFields, _ end: TaskAttempt.End, at now: Int64
  ) {
    let usage = fields.end.usage
    if running[task.index] < 0 {
      // Nothing ran where a condition could not be decided, or where it was never begun with.
      guard fields.attempt > 0, end != .interrupted || usage.wallMicroseconds > 0 else { return }
      let wall = min(usage.wallMicroseconds / 1000, max(0, now))
      begin(task, fields.attempt, .none, Int32(clamping: fields.drive), at: now - wall)
    }
    let place = Int(running[task.index])
    close(place, end, at: now)
    all[place].reason = fields.end.endReason
    all[place].status = fields.end.status
    if end == .retried { all[place].delayMilliseconds = fields.delayMilliseconds }
    all[place].wallMicroseconds = usage.wallMicroseconds
    all[place].cpuMicroseconds = usage.userMicroseconds.plus(usage.systemMicroseconds)
    all[place].peakKibibytes = UInt32(clamping: usage.peakKibibytes)
  }

  /// A clock that was set back ends nothing before it began.
  private mutating func close(_ place: Int, _ end: TaskAttempt.End, at now: Int64) {
    let task = all[place].task
    let now = max(now, all[place].begunMilliseconds)
    if !suspended.isEmpty, let since = suspended.removeValue(forKey: task) {
      all[place].stood(max(0, now - since))
    }
    all[place].endedMilliseconds = now
    all[place].end = end
    running[task.index] = -1
  }
}
