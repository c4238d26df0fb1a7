import Fixtures
import OpflowJournal
import OpflowPlan
import Testing

/// Tasks that run again because their values are lost.
@Suite struct ResumeValuesTests {
  /// `maybe` may start or be skipped, by a value of `told`; `last` reads a value of `source`, which
  /// is lost, where anything starts.
  private func decision(_ flags: TaskFlags) throws -> (ResumeDecision, Plan) {
    let plan = try TestPlan.make([
      TestPlan.Task(name: "told", flags: .leavesValues),
      TestPlan.Task(name: "maybe", needs: [("told", .success)], decidedBy: "told"),
      TestPlan.Task(name: "source", flags: .leavesValues),
      TestPlan.Task(
        name: "last", needs: [("source", .success)], flags: flags.union(.finally),
        decidedBy: "source"),
    ])
    var journal = JournalText(plan)
    for name in ["told", "source"] {
      try journal.start(name)
      var end = Transition(.success, try plan.id(name), attempt: 1)
      end.outcome = Outcome(status: .success)
      end.fingerprint = plan.fingerprint(end.task)
      end.values = [TaskValue(name: "v", hash: 1, text: nil)]
      journal.append(end)
    }
    try journal.failure("maybe", reason: .value)
    try journal.run("last")
    let source = try plan.id("source")
    var request = ResumeRequest()
    let decision = ResumeDecision.heedingValues(
      plan: plan, history: try RunModel.read(journal.bytes, plan), request: &request
    ) { $0 != source }
    return (decision, plan)
  }

  @Test func `a success runs again whose values are lost and that a finally task may read`() throws
  {
    let (decision, plan) = try decision([])
    #expect(try decision[plan.id("source")] == .run(.outputMissing))
  }

  @Test func `it is kept where that one is skipped by its if`() throws {
    let (decision, plan) = try decision(.conditionFalse)
    #expect(try decision[plan.id("source")] == .keep(.succeeded, nil))
    #expect(try decision[plan.id("last")] == .later(.succeeded, nil))
  }
}
