import OpflowSystem
import Synchronization
import Testing

@Suite("Threads for what waits for the disk")
struct ThreadPoolTests {
  private final class Event: Sendable {
    let descriptor: EventDescriptor
    init(_ descriptor: consuming EventDescriptor) { self.descriptor = descriptor }
  }

  /// Waits until the pool told of `count` jobs.
  private func takeDone(_ pool: ThreadPool, _ count: Int) throws -> [UInt64] {
    var done: [UInt64] = []
    var poll = PollSet(slots: 1)
    poll.set(0, pool.rawDescriptor)
    while done.count < count {
      _ = try poll.wait(nanoseconds: -1)
      try pool.takeDone { done.append($0) }
    }
    return done
  }

  @Test func `each job is done once, and told of by its ticket`() throws {
    let pool = try ThreadPool(threads: 2)
    let calls = Mutex<[Int: Int]>([:])
    let tickets = try (0..<50).map { job in
      try pool.submit { calls.withLock { $0[job, default: 0] += 1 } }
    }
    #expect(Set(tickets).count == 50)
    #expect(try takeDone(pool, 50).sorted() == tickets.sorted())
    #expect(calls.withLock { $0 } == Dictionary(uniqueKeysWithValues: (0..<50).map { ($0, 1) }))
  }

  @Test func `one thread does its jobs in their order`() throws {
    let pool = try ThreadPool(threads: 1)
    let order = Mutex<[Int]>([])
    let tickets = try (0..<20).map { job in
      try pool.submit { order.withLock { $0.append(job) } }
    }
    #expect(try takeDone(pool, 20) == tickets)
    #expect(order.withLock { $0 } == Array(0..<20))
  }

  @Test func `jobs that wait for each other have threads of their own`() throws {
    let pool = try ThreadPool(threads: 2)
    let event = Event(try EventDescriptor())
    let first = try pool.submit {
      var poll = PollSet(slots: 1)
      poll.set(0, event.descriptor.rawValue)
      _ = try? poll.wait(nanoseconds: -1)
    }
    let second = try pool.submit { try? event.descriptor.signal() }
    #expect(try takeDone(pool, 2).sorted() == [first, second])
  }

  @Test func `what was asked is finished before the pool ends`() throws {
    let count = Mutex(0)
    do {
      let pool = try ThreadPool(threads: 2)
      for _ in 0..<20 { _ = try pool.submit { count.withLock { $0 += 1 } } }
    }
    #expect(count.withLock { $0 } == 20)
  }
}
