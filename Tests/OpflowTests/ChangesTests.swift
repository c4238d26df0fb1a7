import Synchronization
import Testing

@testable import Opflow

/// Changes on their way from the reader of the journal to who iterates.
struct ChangesTests {
  private static let taskCount = 1_000

  private func board() throws -> QueueBoard {
    let board = try QueueBoard()
    board.table.withLock { table in
      for number in 0..<Self.taskCount { _ = table.insert("t\(number)") }
    }
    return board
  }

  /// As the reader tells them, so many at a time.
  private func tell(_ board: QueueBoard, _ count: Int32) {
    var batch: [RawChange] = []
    for number in 1...count {
      batch.append(
        RawChange(
          place: number % Int32(Self.taskCount), attempt: number,
          state: number % 2 == 0 ? .running : .pending))
      if batch.count == 250 {
        board.tell(batch, [], isPaused: false)
        batch = []
      }
    }
    board.tell(batch, [], isPaused: false)
    board.finish(QueueError(.ended, "it is over"))
  }

  @Test func `every change comes once and in order, and the sequence ends with the run`()
    async throws
  {
    let board = try board()
    let count: Int32 = 50_000
    let changes = TaskChanges(
      board, QueueLease(board), nil, .everyChange(limit: Int(count)))
    let began = ContinuousClock.now
    let teller = Task.detached { self.tell(board, count) }
    var last = 0
    for await change in changes {
      #expect(change.attempt == last + 1)
      #expect(change.skipped == 0)
      last = change.attempt
    }
    await teller.value
    #expect(last == Int(count))
    // For who wonders; a machine under load decides nothing.
    print("\(count) changes in \(ContinuousClock.now - began)")
  }

  @Test func `a reader that is too slow gets the newest of each task, and how many it missed`()
    async throws
  {
    let board = try board()
    let changes = TaskChanges(board, QueueLease(board), nil, .everyChange(limit: 5_000))
    tell(board, 100_000)
    var newest: [String: Int] = [:]
    var (taken, missed) = (0, 0)
    for await change in changes {
      #expect(newest[change.task.id, default: 0] < change.attempt)
      newest[change.task.id] = change.attempt
      taken += 1
      missed += change.skipped
    }
    #expect(taken + missed == 100_000)
    #expect(taken <= 5_000)
    #expect(newest.values.min() == 100_000 - Self.taskCount + 1)
  }

  @Test func `a task's sequence begins with its state, and ends with its end`() async throws {
    let board = try board()
    let changes = TaskChanges(board, QueueLease(board), 7, .everyChange())
    board.tell(
      [
        RawChange(place: 7, attempt: 1, state: .running),
        RawChange(place: 8, attempt: 1, state: .running),
        RawChange(place: 7, attempt: 1, state: .succeeded),
      ], [7, 8], isPaused: false)
    var states: [TaskStatus] = []
    for await change in changes { states.append(change.state) }
    #expect(states == [.pending, .running, .succeeded])
  }

  @Test func `who waits is let go when the Swift task is cancelled`() async throws {
    let board = try board()
    let lease = QueueLease(board)
    let waiting = Task { () -> QueueError? in
      do throws(QueueError) {
        try await board.wait(for: .all)
        return nil
      } catch {
        return error
      }
    }
    let iterating = Task {
      var count = 0
      for await _ in TaskChanges(board, lease, nil, .newest) { count += 1 }
      return count
    }
    waiting.cancel()
    iterating.cancel()
    #expect(await waiting.value?.kind == .waitCancelled)
    #expect(await iterating.value == 0)
    withExtendedLifetime(lease) {}
  }
}
