internal import Synchronization

/// A change of a task's state or progress.
public struct TaskChange: Sendable {
  public let task: QueuedTask
  public let state: TaskStatus
  /// 0 before the first.
  public let attempt: Int
  /// Of a running download.
  public let progress: TaskProgress?
  /// How many changes of the task a slow reader missed before this one.
  public let skipped: Int
  /// Since the epoch; 0 for the state at the start of a sequence.
  public let milliseconds: Int64
}

/// What is kept for a slow reader.
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
