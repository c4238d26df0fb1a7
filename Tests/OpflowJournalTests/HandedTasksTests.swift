import Testing

@testable import OpflowBase
@testable import OpflowJournal
@testable import OpflowPlan

/// Prefetched tasks of workers, compared with an array for each worker.
@Suite struct HandedTasksTests {
  @Test(arguments: 0..<40) func `each worker begins with what it has in the order of coming`(
    _ seed: UInt64
  ) {
    var random = SplitMix64(seed: seed)
    var prefetched = PrefetchedTasks()
    var expected: [[TaskID]] = Array(repeating: [], count: 5)
    for _ in 0..<2_000 {
      let worker = Int.random(in: 0..<5, using: &random)
      // A damaged journal may contain a task twice.
      let task = TaskID(Int.random(in: 0..<12, using: &random))
      switch Int.random(in: 0..<7, using: &random) {
      case 0..<3:
        prefetched.append(task, to: WorkerID(Int32(worker)))
        expected[worker].append(task)
      case 3..<5:
        let next = expected[worker].isEmpty ? nil : expected[worker].removeFirst()
        let begun = prefetched.popFirst(of: WorkerID(Int32(worker)))
        #expect(begun == next)
      case 5:
        prefetched.remove(task, of: WorkerID(Int32(worker)))
        if let place = expected[worker].firstIndex(of: task) { expected[worker].remove(at: place) }
      default:
        guard Int.random(in: 0..<100, using: &random) == 0 else { continue }
        prefetched.removeAll()
        expected = Array(repeating: [], count: 5)
      }
      #expect(prefetched.isEmpty == expected.allSatisfy(\.isEmpty))
    }
  }

  @Test func `nobody has what no worker was handed`() {
    var prefetched = PrefetchedTasks()
    prefetched.append(TaskID(1), to: .none)
    #expect(prefetched.isEmpty)
    let begun = [WorkerID.none, WorkerID(7)].map { prefetched.popFirst(of: $0) }
    #expect(begun == [nil, nil])
    prefetched.remove(TaskID(1), of: WorkerID(7))
    #expect(prefetched.isEmpty)
  }
}
