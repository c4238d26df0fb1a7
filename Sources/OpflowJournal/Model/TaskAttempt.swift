internal import OpflowBase
package import OpflowPlan

/// An attempt, without strings: a run may have millions of attempts.
package struct TaskAttempt: Sendable, Equatable {
  package let task: TaskID
  package let number: Int32
  /// Unique within a session; `none` if unknown, and for an approval.
  package let worker: WorkerID
  package let session: Int32
  /// Since the epoch; computed from the end if the start is lost.
  package let begunMilliseconds: Int64
  /// 0 while the attempt runs. If its session crashed, the time of the last line.
  package internal(set) var endedMilliseconds: Int64 = 0
  package internal(set) var wallMicroseconds: Int64 = 0
  /// Includes child processes.
  package internal(set) var cpuMicroseconds: Int64 = 0
  /// Excludes a suspension that still lasts.
  package internal(set) var suspendedMilliseconds: Int64 = 0
  package internal(set) var delayMilliseconds: Int64 = 0
  package internal(set) var peakKibibytes: UInt32 = 0
  package internal(set) var end = End.none
  package internal(set) var reason: EndReason?
  package internal(set) var status = ExitStatus.unknown

  package var outcome: Outcome { Outcome(status: status, reason: reason) }

  fileprivate mutating func stood(_ milliseconds: Int64) {
    suspendedMilliseconds = suspendedMilliseconds.plus(milliseconds)
  }

  package enum End: UInt8, Sendable, CaseIterable {
    /// The attempt runs, or the run is not live any more.
    case none
    case succeeded, failed, failedAllowed
    case retried
    case cancelled
    /// Stopped, or its worker was lost.
    case interrupted
    /// The session crashed; the end is unknown.
    case lost
  }
}

/// In starting order. Accepts any order of lines: an end without a start becomes an attempt of the
/// recorded length; a start without an end lasts until the task's next attempt or the end of its
/// session.
package struct TaskAttempts: Sendable {
  package private(set) var all: [TaskAttempt] = []
  /// Per task: the index of its running attempt; -1 for none.
  private var running: [Int32] = []
  private var sessionStart = 0
  /// Attempts of earlier sessions that continued in this one.
  private var wentOn: [Int] = []
  private var suspended: [TaskID: Int64] = [:]
  private var lastMilliseconds: Int64 = 0
  private var hosts: [SessionWorker: String] = [:]

  private struct SessionWorker: Hashable, Sendable {
    let session: Int32
    let worker: WorkerID
  }

  /// Empty for the coordinator's host.
  package func host(of attempt: TaskAttempt) -> String {
    if hosts.isEmpty { return "" }
    return hosts[SessionWorker(session: attempt.session, worker: attempt.worker)] ?? ""
  }

  mutating func grow(to plan: Plan) {
    let missing = plan.taskCount - running.count
    if running.isEmpty || missing <= 0 { return }
    running.append(contentsOf: repeatElement(-1, count: missing))
  }

  mutating func note(_ worker: WorkerID, host: String, session: Int) {
    if host.isEmpty || worker == .none { return }
    hosts[SessionWorker(session: Int32(clamping: session), worker: worker)] = host
  }

  mutating func beginSession() {
    for place in wentOn + Array(sessionStart..<all.count) where all[place].end == .none {
      close(place, .lost, at: lastMilliseconds)
    }
    wentOn.removeAll()
    sessionStart = all.count
    suspended.removeAll()
  }

  /// `begun` is a prefetched task.
  mutating func apply(
    _ event: TransitionKind, _ task: TaskID, _ line: JournalLine, _ fields: TransitionFields,
    _ plan: Plan, begun: (task: TaskID, attempt: Int32, worker: WorkerID)?
  ) {
    if running.isEmpty { running = [Int32](repeating: -1, count: plan.taskCount) }
    let now = line.milliseconds
    switch event {
    case .start:
      if !fields.isPrefetched {
        begin(task, fields.attempt, fields.worker, Int32(clamping: fields.session), at: now)
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
      begin(begun.task, begun.attempt, begun.worker, Int32(clamping: fields.session), at: now)
    }
    lastMilliseconds = now
  }

  private mutating func begin(
    _ task: TaskID, _ number: Int32, _ worker: WorkerID, _ session: Int32, at now: Int64
  ) {
    let old = Int(running[task.index])
    if old >= 0 { close(old, .lost, at: now) }
    running[task.index] = Int32(clamping: all.count)
    all.append(
      TaskAttempt(
        task: task, number: number, worker: worker, session: session, begunMilliseconds: now))
  }

  /// Continues a service of an earlier session.
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
      // Not an attempt: an undecided condition, or a task that did not start.
      guard fields.attempt > 0, end != .interrupted || usage.wallMicroseconds > 0 else { return }
      let wall = min(usage.wallMicroseconds / 1000, max(0, now))
      begin(task, fields.attempt, .none, Int32(clamping: fields.session), at: now - wall)
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

  /// If the clock was set back, an attempt ends when it started.
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
