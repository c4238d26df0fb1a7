import Fixtures
import OpflowPlan
import Testing

/// A plan that is made of many segments at once.
struct GrownPlanTests {
  @Test func `it is what one that grew step by step is, with a key of its own`() throws {
    var first = PlanMaker()
    first.add("first")
    var grown = GrownPlan(try first.make())
    var bytes = try first.bytes()
    for round in 0..<200 {
      var segment = PlanMaker()
      segment.add("task\(round)") {
        $0.outerNeeds = [(round < 2 ? "first" : "task\(round / 2)", .success)]
      }
      let part = try segment.make()
      bytes = try PlanGrowth(of: Plan(copying: bytes), by: part).applied(to: bytes)
      try grown.add(part)
    }
    let (step, all) = (try Plan(copying: bytes), try grown.keyed())
    try all.validate()
    #expect(all.taskCount == 201 && all.firstTaskCount == 1 && all.hasRoom)
    #expect(all.tasks.allSatisfy { all.nameString(TaskID($0)) == step.nameString(TaskID($0)) })
    #expect(all.key != step.key)
    #expect(try grown.keyed().key == all.key)
  }

  @Test func `what does not fit is refused`() throws {
    var first = PlanMaker()
    first.add("first")
    var grown = GrownPlan(try first.make())
    #expect(throws: GrownPlanError.segment(.taken("first"))) { try grown.add(first.make()) }
    #expect(try grown.keyed().key == first.make().key)
  }
}
