import OpflowSystem
import Testing

@Suite("Syncing many files")
struct SyncPoolTests {
  /// What the pool says of each ticket, once it said something of `count`.
  private func results(_ pool: SyncPool, _ count: Int) throws -> [UInt64: Errno?] {
    var results: [UInt64: Errno?] = [:]
    var poll = PollSet(slots: 1)
    poll.set(0, pool.rawDescriptor)
    while results.count < count {
      _ = try poll.wait(nanoseconds: -1)
      try pool.takeResults { ticket, error in results[ticket] = .some(error) }
    }
    return results
  }

  @Test("each file of a group has a ticket and a result of its own")
  func group() throws {
    let pool = try SyncPool(threads: 2)
    let folder = try TemporaryFolder()
    let files = try ["a", "b"].map { name -> Int32 in
      let file = try File.open(folder(name), [.writeOnly, .create])
      try file.writeAll(Array(name.utf8))
      return file.release()
    }
    defer { for file in files { try? Descriptor(owning: file).close() } }
    // A pipe is nothing that can be synced.
    let pipe = try Pipe()
    let tickets = try pool.sync([files[0], pipe.write.rawValue, files[1]])
    #expect(tickets.count == 3)
    let found = try results(pool, 3)
    #expect(
      found == [
        tickets.lowerBound: nil, tickets.lowerBound + 1: .invalid,
        tickets.lowerBound + 2: nil,
      ])
    let next = try pool.sync([files[1]])
    #expect(next.lowerBound == tickets.upperBound)
    #expect(try results(pool, 1) == [next.lowerBound: nil])
  }
}
