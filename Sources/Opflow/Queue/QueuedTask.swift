internal import OpflowCore
internal import Synchronization

/// A task of a queue. What it tells is what the run's journal has said so far.
public struct QueuedTask: Sendable, Identifiable {
  let board: QueueBoard
  let lease: QueueLease
  let place: Int32
  /// What it is known by, over restarts too.
  public let id: String

  /// Where it stands now.
  public var state: TaskStatus { entry.state }
  /// It could start: everything that it needs has ended well, and it waits for its turn.
  public var isReady: Bool { board.isReady(place) }
  public var isExecuting: Bool { state == .running || state == .suspended }
  public var isFinished: Bool { state.isFinished }
  public var isCancelled: Bool { state == .cancelled }
  /// How far a running download is; nil for others, and before anything is known.
  public var progress: TaskProgress? { entry.progress }

  /// What became of it so far. Final once ``isFinished``, unless somebody has it tried again (`opflow retry`).
  public var outcome: TaskOutcome { entry.outcome }

  private var entry: TaskEntry { board.table.withLock { $0[place] } }

  /// Waits until it has ended, whatever became of it. A task that failed is no error here: look at the outcome.
  ///
  /// - Throws: where the run ends before, or the Swift task that waits is cancelled; this one goes on then.
  @discardableResult
  public func waitUntilFinished() async throws(QueueError) -> TaskOutcome {
    try await board.wait(for: .task(place))
    return outcome
  }

  /// Has a closure called when it has ended: at once where it has. The closure is called once, in a Swift task of its
  /// own; not at all where the run ends before.
  public func whenFinished(_ body: @escaping @Sendable (TaskOutcome) -> Void) {
    board.whenFinished(place, body)
  }

  /// Its state now, then every change in order. It ends when the task has, or the run.
  public func changes(_ buffering: ChangeBuffering = .everyChange()) -> TaskChanges {
    TaskChanges(board, lease, place, buffering)
  }

  /// ``changes(_:)`` with every change.
  public var changes: TaskChanges { changes() }

  /// Ends it: by its stop rule where it runs; else it never starts. What needs it is skipped.
  ///
  /// - Throws: where it has an end already.
  public func cancel() async throws(QueueError) { try await board.ask(.cancel, .task(place)) }

  /// Stops its processes by a signal where it runs; else holds it back.
  public func suspend() async throws(QueueError) { try await board.ask(.suspend, .task(place)) }

  /// Goes on after ``suspend()``.
  public func `continue`() async throws(QueueError) {
    try await board.ask(.proceed, .task(place))
  }

  /// Has it tried again after it failed or was cancelled.
  public func retry() async throws(QueueError) { try await board.ask(.retry, .task(place)) }

  /// Has it start before others, or after them. What it needs inherits that.
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
