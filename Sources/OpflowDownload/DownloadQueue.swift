package import OpflowCore

/// What a download worker does with a task that it holds.
package enum DownloadQueueAction: Equatable, Sendable {
  /// Work on it from now on: it is the only one to be transferred.
  case begin(TaskID, attempt: Int32)
  /// Leave it where it is; its part is kept.
  case abandon(TaskID)
  /// Tell its end, which `ended` brought.
  case tellEnd(TaskID)
  case report(WorkerReport)
}

/// The tasks of a download worker, in the order in which they were given: which one is worked on, and
/// what the coordinator is told of which.
///
/// One task is transferred at a time. While what it fetched is made durable, which takes the disk longer
/// than the network, the next one is transferred already; but to the coordinator each starts when the
/// one before it has ended well, and is given back when that ended otherwise. So all that is said of a
/// task waits until those before it have ended.
package struct DownloadQueue: Sendable {
  private enum Phase {
    case waiting, transferring, settling
    case ended(isSuccess: Bool)
  }

  private struct Entry {
    let task: TaskID
    let attempt: Int32
    var phase = Phase.waiting
  }

  private let pid: Int32
  private var entries: [Entry] = []
  private var hasToldStart = false
  /// Whether the last task ended so that those handed ahead may follow.
  private var hasEndedWell = false
  private var isLeaving = false
  package private(set) var isSuspended = false

  package init(pid: Int32) { self.pid = pid }

  package var isEmpty: Bool { entries.isEmpty }
  package var isDone: Bool { isLeaving && entries.isEmpty }

  /// Whether the coordinator was told that the task runs.
  package func isFirst(_ task: TaskID) -> Bool { entries.first?.task == task }

  private func place(_ task: TaskID, _ attempt: Int32) -> Int? {
    entries.firstIndex { $0.task == task && $0.attempt == attempt }
  }

  // MARK: - Orders

  /// Takes a task. `follows`: it is for after a success only.
  package mutating func take(
    _ task: TaskID, _ attempt: Int32, follows: Bool, into actions: inout [DownloadQueueAction]
  ) {
    if isLeaving || follows && entries.isEmpty && !hasEndedWell {
      actions.append(.report(.revoked(task, attempt: attempt)))
      return
    }
    entries.append(Entry(task: task, attempt: attempt))
    goOn(into: &actions)
  }

  /// Gives back a task that was handed ahead, if what it fetched is not being put in place already.
  package mutating func revoke(
    _ task: TaskID, _ attempt: Int32, into actions: inout [DownloadQueueAction]
  ) {
    guard let place = place(task, attempt), place > 0 else { return }
    switch entries[place].phase {
    case .settling, .ended: return
    case .waiting, .transferring: giveBack(from: place, through: place, into: &actions)
    }
    goOn(into: &actions)
  }

  /// Stops a task.
  ///
  /// - Returns: whether the caller is to end its transfer, and to tell `ended` of it. What is being made
  ///   durable is not stopped: it has a moment to go.
  package mutating func stop(
    _ task: TaskID, _ attempt: Int32, into actions: inout [DownloadQueueAction]
  ) -> Bool {
    guard let place = place(task, attempt) else { return false }
    if place > 0 {
      giveBack(from: place, through: place, into: &actions)
      goOn(into: &actions)
      return false
    }
    isSuspended = false
    giveBack(from: 1, through: entries.count - 1, into: &actions)
    if case .transferring = entries[0].phase { return true }
    return false
  }

  /// While it is suspended nothing begins.
  package mutating func suspend(_ task: TaskID, _ attempt: Int32) -> Bool {
    guard place(task, attempt) == 0, !isSuspended else { return false }
    isSuspended = true
    return true
  }

  package mutating func proceed(
    _ task: TaskID, _ attempt: Int32, into actions: inout [DownloadQueueAction]
  ) -> Bool {
    guard isSuspended, place(task, attempt) == 0 else { return false }
    isSuspended = false
    goOn(into: &actions)
    return true
  }

  package mutating func leave() { isLeaving = true }

  // MARK: - Events

  /// The task's bytes are all there and right; they are being made durable.
  package mutating func settles(_ task: TaskID, into actions: inout [DownloadQueueAction]) {
    set(task, .settling)
    goOn(into: &actions)
  }

  package mutating func ended(
    _ task: TaskID, isSuccess: Bool, into actions: inout [DownloadQueueAction]
  ) {
    set(task, .ended(isSuccess: isSuccess))
    goOn(into: &actions)
  }

  private mutating func set(_ task: TaskID, _ phase: Phase) {
    guard let place = entries.firstIndex(where: { $0.task == task }) else { return }
    entries[place].phase = phase
  }

  /// Tells what may be told, then begins what may begin.
  private mutating func goOn(into actions: inout [DownloadQueueAction]) {
    while let first = entries.first {
      tellStart(into: &actions)
      guard case .ended(let isSuccess) = first.phase else { break }
      actions.append(.tellEnd(first.task))
      entries.removeFirst()
      hasToldStart = false
      hasEndedWell = isSuccess
      if !isSuccess { giveBack(from: 0, through: entries.count - 1, into: &actions) }
    }
    beginNext(into: &actions)
  }

  /// The first task has started, as far as the coordinator is concerned, once it was begun.
  private mutating func tellStart(into actions: inout [DownloadQueueAction]) {
    guard !hasToldStart, let first = entries.first else { return }
    if case .waiting = first.phase { return }
    actions.append(.report(.started(first.task, attempt: first.attempt, pid: pid)))
    hasToldStart = true
  }

  private mutating func beginNext(into actions: inout [DownloadQueueAction]) {
    guard !isSuspended else { return }
    for place in entries.indices {
      switch entries[place].phase {
      case .settling, .ended(isSuccess: true): continue
      // What follows a failure is given back as soon as that may be told.
      case .transferring, .ended(isSuccess: false): return
      case .waiting:
        entries[place].phase = .transferring
        actions.append(.begin(entries[place].task, attempt: entries[place].attempt))
        tellStart(into: &actions)
        return
      }
    }
  }

  private mutating func giveBack(
    from first: Int, through last: Int, into actions: inout [DownloadQueueAction]
  ) {
    guard first <= last else { return }
    for entry in entries[first...last] {
      switch entry.phase {
      case .waiting: break
      case .transferring, .settling, .ended: actions.append(.abandon(entry.task))
      }
      actions.append(.report(.revoked(entry.task, attempt: entry.attempt)))
    }
    entries.removeSubrange(first...last)
  }
}
