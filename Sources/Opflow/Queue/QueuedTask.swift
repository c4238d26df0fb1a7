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
  /// Whether its dependencies have ended as required.
  public var isReady: Bool { board.isReady(place) }
  public var isExecuting: Bool { state == .running || state == .suspended }
  public var isFinished: Bool { state.isFinished }
  public var isCancelled: Bool { state == .cancelled }
  /// Nil unless it is a running download that has reported.
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

  /// Stops its processes if it runs, else keeps it from starting.
  public func suspend() async throws(QueueError) { try await board.ask(.suspend, .task(place)) }

  /// Continues the task after ``suspend()``.
  public func `continue`() async throws(QueueError) {
    try await board.ask(.proceed, .task(place))
  }

  /// After it failed or was cancelled.
  public func retry() async throws(QueueError) { try await board.ask(.retry, .task(place)) }

  /// Dependencies inherit it.
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
