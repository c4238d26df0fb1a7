internal import OpflowEngine
internal import OpflowPlan
internal import Synchronization

/// A task of a queue, as of the last journal line read.
public struct QueuedTask: Sendable, Identifiable {
  let board: QueueBoard
  let lease: QueueLease
  let place: Int32
  /// Identifies the task across restarts.
  public let id: String

  public var state: TaskStatus { entry.state }
  /// True if its dependencies have ended as required.
  public var isReady: Bool { board.isReady(place) }
  public var isExecuting: Bool { state == .running || state == .suspended }
  public var isFinished: Bool { state.isFinished }
  public var isCancelled: Bool { state == .cancelled }
  /// The progress of a running download; nil before its first report.
  public var progress: TaskProgress? { entry.progress }

  /// Final once ``isFinished``, unless the task is retried (`opflow retry`).
  public var outcome: TaskOutcome { entry.outcome }

  private var entry: TaskEntry { board.table.withLock { $0[place] } }

  /// Waits until the task has ended. A failed task does not throw: check the outcome.
  ///
  /// - Throws: if the run ends first, or if the waiting Swift task is cancelled.
  @discardableResult
  public func waitUntilFinished() async throws(QueueError) -> TaskOutcome {
    try await board.wait(for: .task(place))
    return outcome
  }

  /// Calls a closure once in a Swift task when the task has ended, or immediately if it has; never
  /// if the run ends first.
  public func whenFinished(_ body: @escaping @Sendable (TaskOutcome) -> Void) {
    board.whenFinished(place, body)
  }

  /// The current state, then every change in order, until the task or the run ends.
  public func changes(_ buffering: ChangeBuffering = .everyChange()) -> TaskChanges {
    TaskChanges(board, lease, place, buffering)
  }

  /// ``changes(_:)`` with every change.
  public var changes: TaskChanges { changes() }

  /// Cancels the task, by its stop rule if it runs. Dependents are skipped. Throws if it has ended.
  public func cancel() async throws(QueueError) { try await board.ask(.cancel, .task(place)) }

  /// Stops the task's processes if it runs, else keeps it from starting.
  public func suspend() async throws(QueueError) { try await board.ask(.suspend, .task(place)) }

  /// Continues the task after ``suspend()``.
  public func `continue`() async throws(QueueError) {
    try await board.ask(.proceed, .task(place))
  }

  /// Runs the task again after it failed or was cancelled.
  public func retry() async throws(QueueError) { try await board.ask(.retry, .task(place)) }

  /// Dependencies inherit the priority.
  public func setPriority(_ priority: TaskPriority) async throws(QueueError) {
    try await board.ask(
      .priority, .task(place), CarriedValue(number: Int64(priority.rawValue)))
  }
}

extension QueuedTask: Hashable {
  public static func == (left: QueuedTask, right: QueuedTask) -> Bool {
    left.place == right.place && left.board === right.board
  }
  public func hash(into hasher: inout Hasher) { hasher.combine(place) }
}

extension TaskNeed {
  public static func success(_ task: QueuedTask) -> TaskNeed { TaskNeed(task, .success) }
  public static func failure(_ task: QueuedTask) -> TaskNeed { TaskNeed(task, .failure) }
  public static func finished(_ task: QueuedTask) -> TaskNeed { TaskNeed(task, .finished) }
  public static func ran(_ task: QueuedTask) -> TaskNeed { TaskNeed(task, .ran) }

  private init(_ task: QueuedTask, _ condition: Condition) {
    self.init(task.id, condition, runID: task.board.table.withLock { $0.runID })
  }
}

/// A change of a task's state or progress.
public struct TaskChange: Sendable {
  public let task: QueuedTask
  public let state: TaskStatus
  /// 0 before the first attempt.
  public let attempt: Int
  /// The progress of a running download.
  public let progress: TaskProgress?
  /// The number of changes that a slow reader missed before this one.
  public let skipped: Int
  /// Since the epoch; 0 for the state at the start of a sequence.
  public let milliseconds: Int64
}

/// The changes that are kept for a slow reader.
public struct ChangeBuffering: Sendable {
  let limit: Int

  /// Every change, up to `limit` or the number of tasks; beyond that the newest of each task.
  public static func everyChange(limit: Int = 65_536) -> ChangeBuffering {
    ChangeBuffering(limit: max(2, limit))
  }

  /// Only the newest state of each task.
  public static var newest: ChangeBuffering { ChangeBuffering(limit: 1) }
}

/// Changes of one task or of all, from the creation of the sequence on, for one iterator. Ends
/// after the last change, or when the iterating Swift task is cancelled.
public struct TaskChanges: AsyncSequence, Sendable {
  public typealias Element = TaskChange
  public typealias Failure = Never

  private let reading: Reading

  init(_ board: QueueBoard, _ lease: QueueLease, _ place: Int32?, _ buffering: ChangeBuffering) {
    reading = Reading(board, lease, board.subscribe(place, limit: buffering.limit))
  }

  final class Reading: Sendable {
    let board: QueueBoard
    let lease: QueueLease
    let subscription: Subscription

    init(_ board: QueueBoard, _ lease: QueueLease, _ subscription: Subscription) {
      self.board = board
      self.lease = lease
      self.subscription = subscription
    }

    deinit { board.unsubscribe(subscription) }

    func next() async -> TaskChange? {
      guard let change = await subscription.next() else { return nil }
      let id = board.table.withLock { $0[change.place].id }
      return TaskChange(
        task: QueuedTask(board: board, lease: lease, place: change.place, id: id),
        state: change.state, attempt: Int(change.attempt), progress: change.progress,
        skipped: Int(change.skipped), milliseconds: change.milliseconds)
    }
  }

  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let reading: Reading

    public mutating func next() async -> TaskChange? { await reading.next() }

    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Never)
      -> TaskChange?
    {
      let reading = reading
      return await reading.next()
    }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reading: reading) }
}
