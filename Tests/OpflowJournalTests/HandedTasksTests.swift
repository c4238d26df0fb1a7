import Testing

@testable import OpflowBase
@testable import OpflowJournal
@testable import OpflowPlan

/// What workers were handed ahead, against an array for each.
@Suite struct HandedTasksTests {
  @Test(arguments: 0..<40) func `each worker begins with what it has in the order of coming`(
    _ seed: UInt64
  ) {
    var random = SplitMix64(seed: seed)
    var handed = HandedTasks()
    var expected: [[TaskID]] = Array(repeating: [], count: 5)
    for _ in 0..<2_000 {
      let worker = Int.random(in: 0..<5, using: &random)
      // A damaged journal may tell of a task twice.
      let task = TaskID(Int.random(in: 0..<12, using: &random))
      switch Int.random(in: 0..<7, using: &random) {
      case 0..<3:
        handed.append(task, to: WorkerID(Int32(worker)))
        expected[worker].append(task)
      case 3..<5:
        let next = expected[worker].isEmpty ? nil : expected[worker].removeFirst()
        let begun = handed.popFirst(of: WorkerID(Int32(worker)))
        #expect(begun == next)
      case 5:
        handed.remove(task, of: WorkerID(Int32(worker)))
        if let place = expected[worker].firstIndex(of: task) { expected[worker].remove(at: place) }
      default:
        guard Int.random(in: 0..<100, using: &random) == 0 else { continue }
        handed.removeAll()
        expected = Array(repeating: [], count: 5)
      }
      #expect(handed.isEmpty == expected.allSatisfy(\.isEmpty))
    }
  }

  @Test func `nobody has what no worker was handed`() {
    var handed = HandedTasks()
    handed.append(TaskID(1), to: .none)
    #expect(handed.isEmpty)
    let begun = [WorkerID.none, WorkerID(7)].map { handed.popFirst(of: $0) }
    #expect(begun == [nil, nil])
    handed.remove(TaskID(1), of: WorkerID(7))
    #expect(handed.isEmpty)
  }
}
