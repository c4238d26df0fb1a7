import OpflowCore
import Testing

@Suite struct LostDriveTests {
  private typealias Task = TestPlan.Task

  @Test func `a drive that goes on with a lost one keeps what went wrong there`() throws {
    let plan = try TestPlan.make([
      Task(name: "a"), Task(name: "b", needs: [("a", .success)]), Task(name: "c"), Task(name: "d"),
    ])
    var journal = JournalText(plan)
    try journal.start("a")
    try journal.failure("a")
    try journal.skip("b", .upstream(plan.id("a")))
    try journal.run("c")
    try journal.start("d")
    let history = try RunModel.read(journal.bytes, plan)
    var request = ResumeRequest()
    let ordinary = ResumeDecision(plan: plan, history: history, request: request)
    #expect(ordinary.verdicts[0] == .run(.failedBefore))

    request.keepsEnds = true
    let decision = ResumeDecision(plan: plan, history: history, request: request)
    #expect(
      decision.verdicts == [
        .keep(.failed, nil), .keep(.skipped, .upstream(TaskID(0))), .keep(.succeeded, nil),
        .run(.interrupted),
      ])
    #expect(
      decision.initialStates(request) == [.stillFailed, .stillUpstream, .succeeded, .run])

    request.rerun = TaskSet(taskCount: plan.taskCount)
    request.rerun?.insert(TaskID(0))
    let asked = ResumeDecision(plan: plan, history: history, request: request)
    #expect(asked.verdicts[0] == .run(.asked))
  }
}
