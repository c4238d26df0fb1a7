package import OpflowPlan
package import OpflowWire

package enum DownloadWorkerEvent {
  case message(WorkerMessage)
  /// The coordinator is gone, or a signal asks this worker to end.
  case endOfMessages
  /// The file is verified and being put in place.
  case settles(TaskID)
  /// The outcome lacks usage.
  case ended(TaskID, Outcome)
  case timer
}

package enum DownloadWorkerAction: Equatable, Sendable {
  /// No other transfer is active.
  case begin(TaskID, attempt: Int32)
  /// Keep the part; the end is reported later.
  case cut(TaskID)
  /// Keep the part.
  case abandon(TaskID)
  /// A pause is not silence.
  case proceed(TaskID)
  case tellEnd(TaskID, attempt: Int32, Outcome)
  case report(WorkerReport)
  case leave
}

/// The decisions of a download worker about its tasks, in their order: which one transfers, when
/// its reports are sent, and how each ends.
///
///     waiting ─► transferring ─► settling ─► ended
///                     └──────────────────────►┘
///
/// - One task transfers at a time. Syncing takes longer than the network, so the next transfer
///   starts during it.
/// - To the coordinator, each task starts after the one before has succeeded, and is given back if
///   that fails; so all reports of a task wait for the ends of earlier tasks.
/// - While suspended, nothing starts or continues.
package struct DownloadWorkerState {
  private enum Phase {
    case waiting, transferring, settling
    case ended(Outcome)
  }

  private struct Entry {
    let task: TaskID
    let attempt: Int32
    var phase = Phase.waiting
    var begin = Instant(nanoseconds: 0)
    /// Nil for no timeout, and while suspended.
    var timeout: Instant?
    /// Set while suspended.
    var remainingNanoseconds: Int64?
  }

  private let pid: Int32
  private let timeoutMilliseconds: (TaskID) -> UInt64
  private var entries: [Entry] = []
  private var hasToldStart = false
  /// Prefetched tasks may follow the last task.
  private var hasEndedWell = false
  private var isLeaving = false
  private var hasLeft = false
  package private(set) var isSuspended = false

  /// `timeoutMilliseconds` returns 0 for no timeout.
  package init(pid: Int32, timeoutMilliseconds: @escaping (TaskID) -> UInt64) {
    self.pid = pid
    self.timeoutMilliseconds = timeoutMilliseconds
  }

  /// Nil while suspended.
  package var active: TaskID? {
    guard !isSuspended, let place = transferring else { return nil }
    return entries[place].task
  }

  package var deadline: Instant? {
    guard !isSuspended, let place = transferring else { return nil }
    return entries[place].timeout
  }

  /// The coordinator may see the task as running.
  package func isFirst(_ task: TaskID) -> Bool { entries.first?.task == task }

  package mutating func handle(
    _ event: DownloadWorkerEvent, at now: Instant, into actions: inout [DownloadWorkerAction]
  ) {
    switch event {
    case .message(let message): apply(message, at: now, into: &actions)
    case .endOfMessages:
      isLeaving = true
      for entry in entries { abandon(entry, into: &actions) }
      entries.removeAll()
    case .settles(let task):
      guard let place = entries.firstIndex(where: { $0.task == task }) else { return }
      entries[place].phase = .settling
      entries[place].timeout = nil
    case .ended(let task, let outcome):
      guard let place = entries.firstIndex(where: { $0.task == task }) else { return }
      end(place, outcome, at: now)
    case .timer:
      guard let deadline, deadline <= now, let place = transferring else { return }
      cut(place, .timeout, at: now, into: &actions)
    }
    goOn(at: now, into: &actions)
    if isLeaving, entries.isEmpty, !hasLeft {
      hasLeft = true
      actions.append(.leave)
    }
  }

  private func place(_ task: TaskID, _ attempt: Int32) -> Int? {
    entries.firstIndex { $0.task == task && $0.attempt == attempt }
  }

  /// The tasks after the transferring one wait.
  private var transferring: Int? {
    entries.firstIndex { if case .transferring = $0.phase { true } else { false } }
  }

  // MARK: - Messages

  private mutating func apply(
    _ message: WorkerMessage, at now: Instant, into actions: inout [DownloadWorkerAction]
  ) {
    switch message {
    case .run(let task, let attempt): take(task, attempt, follows: false, into: &actions)
    case .follow(let task, let attempt): take(task, attempt, follows: true, into: &actions)
    case .revoke(let task, let attempt): revoke(task, attempt, into: &actions)
    case .stop(let task, let attempt, let reason):
      stop(task, attempt, reason, at: now, into: &actions)
    case .suspend(let task, let attempt): suspend(task, attempt, at: now)
    case .proceed(let task, let attempt): proceed(task, attempt, at: now, into: &actions)
    // Progress is reported anyway.
    case .watch, .setRunState, .check, .pulse, .values, .value, .ports, .tokens, .jobs,
      .devices:
      break
    case .bye: isLeaving = true
    }
  }

  /// - Parameter follows: True to start only after a success.
  private mutating func take(
    _ task: TaskID, _ attempt: Int32, follows: Bool, into actions: inout [DownloadWorkerAction]
  ) {
    if isLeaving || follows && entries.isEmpty && !hasEndedWell {
      actions.append(.report(.revoked(task, attempt: attempt)))
    } else {
      entries.append(Entry(task: task, attempt: attempt))
    }
  }

  /// Not while the task's file is being put in place.
  private mutating func revoke(
    _ task: TaskID, _ attempt: Int32, into actions: inout [DownloadWorkerAction]
  ) {
    guard let place = place(task, attempt), place > 0 else { return }
    switch entries[place].phase {
    case .settling, .ended: return
    case .waiting, .transferring: giveBack(place..<place + 1, into: &actions)
    }
  }

  /// Putting a file in place takes only a moment and is not stopped.
  private mutating func stop(
    _ task: TaskID, _ attempt: Int32, _ reason: StopReason, at now: Instant,
    into actions: inout [DownloadWorkerAction]
  ) {
    guard let place = place(task, attempt) else { return }
    if place > 0 {
      giveBack(place..<place + 1, into: &actions)
      return
    }
    isSuspended = false
    giveBack(1..<entries.count, into: &actions)
    if case .transferring = entries[0].phase { cut(0, .stopped(reason), at: now, into: &actions) }
  }

  private mutating func suspend(_ task: TaskID, _ attempt: Int32, at now: Instant) {
    guard place(task, attempt) == 0, !isSuspended else { return }
    isSuspended = true
    guard let place = transferring else { return }
    entries[place].remainingNanoseconds = entries[place].timeout.map {
      $0.nanoseconds - now.nanoseconds
    }
    entries[place].timeout = nil
  }

  private mutating func proceed(
    _ task: TaskID, _ attempt: Int32, at now: Instant, into actions: inout [DownloadWorkerAction]
  ) {
    guard isSuspended, place(task, attempt) == 0 else { return }
    isSuspended = false
    guard let place = transferring else { return }
    entries[place].timeout = entries[place].remainingNanoseconds.map {
      now.advanced(byNanoseconds: $0)
    }
    actions.append(.proceed(entries[place].task))
  }

  // MARK: - Ends

  private mutating func cut(
    _ place: Int, _ reason: EndReason, at now: Instant, into actions: inout [DownloadWorkerAction]
  ) {
    actions.append(.cut(entries[place].task))
    end(place, Outcome(status: .unknown, reason: reason), at: now)
  }

  private mutating func end(_ place: Int, _ outcome: Outcome, at now: Instant) {
    var outcome = outcome
    outcome.usage.wallMicroseconds = (now.nanoseconds - entries[place].begin.nanoseconds) / 1000
    entries[place].timeout = nil
    entries[place].phase = .ended(outcome)
  }

  private mutating func goOn(at now: Instant, into actions: inout [DownloadWorkerAction]) {
    while let first = entries.first {
      tellStart(into: &actions)
      guard case .ended(let outcome) = first.phase else { break }
      actions.append(.tellEnd(first.task, attempt: first.attempt, outcome))
      entries.removeFirst()
      hasToldStart = false
      hasEndedWell = outcome.isSuccess
      if !outcome.isSuccess { giveBack(0..<entries.count, into: &actions) }
    }
    beginNext(at: now, into: &actions)
  }

  /// A task is reported as started once its transfer began.
  private mutating func tellStart(into actions: inout [DownloadWorkerAction]) {
    guard !hasToldStart, let first = entries.first else { return }
    if case .waiting = first.phase { return }
    actions.append(.report(.started(first.task, attempt: first.attempt, pid: pid)))
    hasToldStart = true
  }

  private mutating func beginNext(at now: Instant, into actions: inout [DownloadWorkerAction]) {
    guard !isSuspended else { return }
    for place in entries.indices {
      switch entries[place].phase {
      case .settling: continue
      // Tasks after a failure are given back when the failure is reported.
      case .ended(let outcome): if !outcome.isSuccess { return }
      case .transferring: return
      case .waiting:
        begin(place, at: now, into: &actions)
        return
      }
    }
  }

  private mutating func begin(
    _ place: Int, at now: Instant, into actions: inout [DownloadWorkerAction]
  ) {
    entries[place].phase = .transferring
    entries[place].begin = now
    let limit = Int64(clamping: timeoutMilliseconds(entries[place].task))
    if limit > 0 { entries[place].timeout = now.advanced(byMilliseconds: limit) }
    actions.append(.begin(entries[place].task, attempt: entries[place].attempt))
    tellStart(into: &actions)
  }

  private mutating func giveBack(_ range: Range<Int>, into actions: inout [DownloadWorkerAction]) {
    for entry in entries[range] {
      abandon(entry, into: &actions)
      actions.append(.report(.revoked(entry.task, attempt: entry.attempt)))
    }
    entries.removeSubrange(range)
  }

  private func abandon(_ entry: Entry, into actions: inout [DownloadWorkerAction]) {
    switch entry.phase {
    case .waiting: break
    case .transferring, .settling, .ended: actions.append(.abandon(entry.task))
    }
  }
}

/// The speed over the last seconds.
package struct SpeedEstimate: Sendable {
  private static let windowMilliseconds: Int64 = 5000
  private static let slotMilliseconds: Int64 = 250

  private struct Sample {
    var milliseconds: Int64
    var bytes: Int64
  }
  /// Totals, oldest first.
  private var samples: [Sample] = []

  package init() {}

  /// Times must not decrease. Fewer bytes than before restart the estimate.
  package mutating func note(bytes: Int64, atMilliseconds now: Int64) {
    if let last = samples.last, bytes < last.bytes { reset() }
    if let last = samples.last, samples.count > 1, now - last.milliseconds < Self.slotMilliseconds {
      samples[samples.count - 1].bytes = bytes
      return
    }
    samples.append(Sample(milliseconds: now, bytes: bytes))
    while samples.count > 2, now - samples[1].milliseconds >= Self.windowMilliseconds {
      samples.removeFirst()
    }
  }

  package mutating func reset() { samples.removeAll(keepingCapacity: true) }

  /// 0 while unknown.
  package func bytesPerSecond(atMilliseconds now: Int64) -> Int64 {
    guard let first = samples.first, let last = samples.last, now > first.milliseconds else {
      return 0
    }
    return max(0, (last.bytes - first.bytes) * 1000 / (now - first.milliseconds))
  }
}
