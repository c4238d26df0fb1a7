internal import OpflowJournal
internal import OpflowPlan

/// A task keeps its place as long as the queue lives, even if a resume renumbers it. One lock: the
/// reader writes once per read of the journal.
struct TaskTable {
  private(set) var entries: [TaskEntry] = []
  private var places: [String: Int32] = [:]
  private(set) var tally = TaskTally()
  /// Nil until the run ends.
  private(set) var end: QueueError?
  /// The run was closed and all tasks have ended.
  private(set) var isComplete = false
  var isPaused = false
  var runID = ""

  private var waiters: [UInt64: Waiter] = [:]
  private var waitersOfTasks: [Int32: [UInt64]] = [:]
  private var generalWaiters: Set<UInt64> = []
  private var lastWaiter: UInt64 = 0
  /// For all tasks.
  private(set) var subscriptions: [Subscription] = []
  private(set) var subscriptionsOfTasks: [Int32: [Subscription]] = [:]
  private var closures: [Int32: [@Sendable (TaskOutcome) -> Void]] = [:]

  typealias Answer = Result<Void, QueueError>

  enum Awaited: Sendable {
    case task(Int32)
    case all
    case end
  }

  struct Waiter {
    let awaited: Awaited
    let continuation: CheckedContinuation<Answer, Never>
  }

  // MARK: - Tasks

  func place(of id: String) -> Int32? { places[id] }

  subscript(place: Int32) -> TaskEntry { entries[Int(place)] }

  mutating func insert(_ id: String) -> Int32 {
    if let place = places[id] { return place }
    let place = Int32(truncatingIfNeeded: entries.count)
    entries.append(TaskEntry(id))
    places[id] = place
    tally.counts[TaskStatus.pending.place] += 1
    return place
  }

  mutating func update<Result>(_ place: Int32, _ body: (inout TaskEntry) -> Result) -> Result {
    let before = entries[Int(place)].state
    let result = body(&entries[Int(place)])
    let after = entries[Int(place)].state
    if before != after {
      tally.counts[before.place] -= 1
      tally.counts[after.place] += 1
    }
    return result
  }

  // MARK: - Waits

  /// Returns nil if answered at once.
  mutating func wait(
    for awaited: Awaited, _ continuation: CheckedContinuation<Answer, Never>
  ) -> UInt64? {
    if let answer = answer(to: awaited) {
      continuation.resume(returning: answer)
      return nil
    }
    lastWaiter += 1
    waiters[lastWaiter] = Waiter(awaited: awaited, continuation: continuation)
    if case .task(let place) = awaited {
      waitersOfTasks[place, default: []].append(lastWaiter)
    } else {
      generalWaiters.insert(lastWaiter)
    }
    return lastWaiter
  }

  mutating func giveUp(_ number: UInt64) -> CheckedContinuation<Answer, Never>? {
    guard let waiter = waiters.removeValue(forKey: number) else { return nil }
    generalWaiters.remove(number)
    if case .task(let place) = waiter.awaited {
      waitersOfTasks[place]?.removeAll { $0 == number }
      if waitersOfTasks[place]?.isEmpty == true { waitersOfTasks[place] = nil }
    }
    return waiter.continuation
  }

  private func answer(to awaited: Awaited) -> Answer? {
    switch awaited {
    case .task(let place) where self[place].state.isFinished: return .success(())
    case .all where tally.unfinished == 0: return .success(())
    case .end where isComplete: return .success(())
    case .task, .all, .end: return end.map { .failure($0) }
    }
  }

  /// - Parameter finished: Tasks that ended since the last call.
  mutating func takeAnswered(_ finished: [Int32]) -> [(CheckedContinuation<Answer, Never>, Answer)]
  {
    if waiters.isEmpty { return [] }
    let numbers =
      end == nil
      ? finished.flatMap { waitersOfTasks[$0] ?? [] } + generalWaiters : Array(waiters.keys)
    var answered: [(CheckedContinuation<Answer, Never>, Answer)] = []
    for number in numbers {
      guard let waiter = waiters[number], let answer = answer(to: waiter.awaited) else { continue }
      if let continuation = giveUp(number) { answered.append((continuation, answer)) }
    }
    return answered
  }

  mutating func finish(_ error: QueueError, isComplete: Bool) {
    if end != nil { return }
    end = error
    self.isComplete = isComplete
  }

  // MARK: - Subscriptions

  mutating func subscribe(_ subscription: Subscription) {
    if let place = subscription.place {
      subscriptionsOfTasks[place, default: []].append(subscription)
    } else {
      subscriptions.append(subscription)
    }
  }

  mutating func unsubscribe(_ subscription: Subscription) {
    guard let place = subscription.place else {
      subscriptions.removeAll { $0 === subscription }
      return
    }
    subscriptionsOfTasks[place]?.removeAll { $0 === subscription }
    if subscriptionsOfTasks[place]?.isEmpty == true { subscriptionsOfTasks[place] = nil }
  }

  /// Returns false if the task has ended and the caller has to call `body`.
  mutating func whenFinished(
    _ place: Int32, _ body: @escaping @Sendable (TaskOutcome) -> Void
  ) -> Bool {
    if self[place].state.isFinished { return false }
    closures[place, default: []].append(body)
    return true
  }

  mutating func takeClosures(of place: Int32) -> [@Sendable (TaskOutcome) -> Void] {
    closures.isEmpty ? [] : closures.removeValue(forKey: place) ?? []
  }
}

struct EntryNeed {
  let place: Int32
  let condition: NeedCondition
}

/// A task as of the last journal line read.
struct TaskEntry {
  let id: String
  var state = TaskStatus.pending
  var isAllowedFailure = false
  var attempts: Int32 = 0
  var status = ExitStatus.unknown
  var why: StaticString?
  var message: String?
  var wallMicroseconds: Int64 = 0
  var progress: TaskProgress?
  private(set) var exactState = TaskState.waiting
  private(set) var isSkippedUpstream = false
  var needs: [EntryNeed] = []

  init(_ id: String) { self.id = id }

  /// Returns true if a reported property changed.
  mutating func take(_ record: TaskRecord, in model: RunModel, _ task: TaskID) -> Bool {
    let before = (state, attempts)
    exactState = record.state
    isSkippedUpstream = record.why?.skipReason?.isUpstream == true
    state = Self.state(record, model, task)
    isAllowedFailure = record.state == .failedAllowed
    attempts = record.attempts
    status = record.status
    why = record.why?.word
    wallMicroseconds = record.wallMicroseconds
    message = model.details.complaints[task]
    if state != .running, state != .suspended { progress = nil }
    return before != (state, attempts)
  }

  /// Returns true if the task had not ended.
  mutating func retract() -> Bool {
    if state.isFinished { return false }
    state = .skipped
    exactState = .skipped
    why = Why.skipped(.retracted).word
    progress = nil
    return true
  }

  private static func state(_ record: TaskRecord, _ model: RunModel, _ task: TaskID) -> TaskStatus {
    switch record.state {
    case .waiting, .ready, .checking, .prefetched: .pending
    case .running: .running
    case .suspended: .suspended
    case .succeeded: isEarlier(record, model) ? .reused : .succeeded
    case .upToDate: .upToDate
    case .failedAllowed, .failed: .failed
    case .skipped: .skipped
    case .cancelled: .cancelled
    }
  }

  private static func isEarlier(_ record: TaskRecord, _ model: RunModel) -> Bool {
    record.settleSequence < model.sessionSequence
  }

  var outcome: TaskOutcome {
    var outcome = TaskOutcome(
      state: state, attempts: Int(attempts), reason: why.map(\.description), message: message,
      isAllowedFailure: isAllowedFailure, duration: .microseconds(wallMicroseconds))
    switch status {
    case .unknown: break
    case .exit(let code): outcome.exitCode = Int(code)
    case .signal(let number): outcome.signal = Int(number)
    }
    return outcome
  }
}
