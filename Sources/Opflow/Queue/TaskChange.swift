internal import Synchronization

/// A change of a task: what it is now.
public struct TaskChange: Sendable {
  public let task: QueuedTask
  public let state: TaskStatus
  /// The number of the try that it is about; 0 before the first.
  public let attempt: Int
  /// How far it is, of a download that runs.
  public let progress: TaskProgress?
  /// How many changes of this task before this one were left out, since the reader was too slow.
  public let skipped: Int
  /// When it happened, in milliseconds since the epoch; 0 for the state at the beginning of a sequence.
  public let milliseconds: Int64
}

/// What is kept for a reader of changes that is slower than they come.
public struct ChangeBuffering: Sendable {
  let limit: Int

  /// Every change, up to `limit` of them, or as many as there are tasks where those are more. Beyond that the newest of
  /// each task.
  public static func everyChange(limit: Int = 65_536) -> ChangeBuffering {
    ChangeBuffering(limit: max(2, limit))
  }

  /// Only the newest state of each task: for who shows where things stand.
  public static var newest: ChangeBuffering { ChangeBuffering(limit: 1) }
}

/// Changes of one task, or of all. One iterates over it; a second one begins with the next change.
///
/// Changes are kept from the moment on at which the sequence was made. Iteration ends, without an error, when no change
/// comes any more, and when the Swift task that iterates is cancelled.
public struct TaskChanges: AsyncSequence, Sendable {
  public typealias Element = TaskChange
  public typealias Failure = Never

  private let reading: Reading

  init(_ board: QueueBoard, _ lease: QueueLease, _ place: Int32?, _ buffering: ChangeBuffering) {
    reading = Reading(board, lease, board.subscribe(place, limit: buffering.limit))
  }

  /// Ends the subscription when nobody reads any more.
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
