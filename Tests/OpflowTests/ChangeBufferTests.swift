import Testing

@testable import Opflow

/// The buffer for a reader that is slower than the changes.
struct ChangeBufferTests {
  private func change(_ place: Int32, _ attempt: Int32) -> RawChange {
    RawChange(place: place, attempt: attempt, state: .running)
  }

  private func all(_ buffer: inout ChangeBuffer) -> [[Int32]] {
    var found: [[Int32]] = []
    while let change = buffer.next() {
      found.append([change.place, change.attempt, change.skipped])
    }
    return found
  }

  @Test func `every change comes, in order, while there is room`() {
    var buffer = ChangeBuffer(limit: 4)
    for attempt: Int32 in 1...4 { buffer.append(change(7, attempt)) }
    #expect(all(&buffer) == [[7, 1, 0], [7, 2, 0], [7, 3, 0], [7, 4, 0]])
    #expect(buffer.isEmpty)
  }

  @Test func `beyond the limit the newest of each task stays, and tells how many went`() {
    var buffer = ChangeBuffer(limit: 4)
    for attempt: Int32 in 1...3 {
      buffer.append(change(1, attempt))
      buffer.append(change(2, attempt))
    }
    #expect(all(&buffer) == [[1, 3, 2], [2, 3, 2]])
    // The reader has caught up, and misses nothing more.
    buffer.append(change(1, 4))
    buffer.append(change(1, 5))
    #expect(all(&buffer) == [[1, 4, 0], [1, 5, 0]])
  }

  @Test func `there are never more than the limit, or than tasks`() {
    var buffer = ChangeBuffer(limit: 10)
    for number: Int32 in 1...100_000 {
      buffer.append(change(number % 50, number))
      if number % 7 == 0 { _ = buffer.next() }
    }
    var last: [Int32: Int32] = [:]
    var count = 0
    while let change = buffer.next() {
      #expect((last[change.place] ?? 0) < change.attempt)
      last[change.place] = change.attempt
      count += 1
    }
    #expect(count <= 50)
    #expect(last.count == count)
  }

  @Test func `the newest alone is kept where that is wanted`() {
    var buffer = ChangeBuffer(limit: 1)
    for attempt: Int32 in 1...3 { buffer.append(change(1, attempt)) }
    buffer.append(change(2, 1))
    #expect(all(&buffer) == [[1, 3, 2], [2, 1, 0]])
    buffer.append(change(1, 4))
    buffer.append(change(1, 5))
    #expect(all(&buffer) == [[1, 5, 1]])
  }
}
