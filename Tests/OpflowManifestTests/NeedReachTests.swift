import OpflowPlan
import Testing

@testable import OpflowManifest

/// Whether one task needs another.
struct NeedReachTests {
  /// A task for each list of the tasks that it needs.
  private func list(_ needs: [[Int]]) -> NeedList {
    var list = NeedList()
    for targets in needs {
      for target in targets { list.add(target, on: .success, offset: 0) }
      list.endTask()
    }
    return list
  }

  @Test func `a task needs what those need that it needs, and nothing else`() {
    let needs = [[], [0], [1], [], [2, 3], [0]]
    var reach = NeedReach(list(needs))
    let all = needs.indices.map { task in
      needs.indices.filter { reach.needs(task, $0) == true }
    }
    #expect(all == [[], [0], [0, 1], [], [0, 1, 2, 3], [0]])
  }

  @Test func `a dependency cycle ends`() {
    var reach = NeedReach(list([[1], [2], [0], [0]]))
    #expect(reach.needs(0, 2) == true && reach.needs(0, 0) == true && reach.needs(0, 3) == false)
  }

  @Test func `what is not found in time is not known`() {
    let chain = (0..<100).map { $0 == 0 ? [] : [$0 - 1] }
    var reach = NeedReach(list(chain), atMost: 150)
    #expect(reach.needs(99, 0) == true)
    #expect(reach.needs(98, 97) == true)
    #expect(reach.needs(98, 0) == nil)
    #expect(reach.needs(98, 97) == true)
  }
}
