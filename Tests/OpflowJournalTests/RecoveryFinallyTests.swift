import Fixtures
import OpflowJournal
import OpflowPlan
import Testing

/// What a resume does with `finally` tasks.
@Suite struct RecoveryFinallyTests {
  private typealias Task = TestPlan.Task

  @Test func `finally runs in a session that runs anything and is kept else`() throws {
    let plan = try TestPlan.make([
      Task(name: "a"), Task(name: "clean", flags: .finally), Task(name: "b"),
    ])
    let whole: (inout JournalText) throws -> Void = { try $0.run("a", "b", "clean") }
    let nothing = try decide(plan, whole)
    #expect(nothing.keptCount == 3)
    #expect(!nothing.startsAnything)
    var request = ResumeRequest()
    request.rerun = try taskSet(plan, "b")
    let some = try decide(plan, request: request, whole)
    #expect(some.verdicts == [.keep(.succeeded, nil), .run(.afterRerun(TaskID(2))), .run(.asked)])
    #expect(some.transitions.last?.event == .resume(.afterRerun(TaskID(2))))
  }

  @Test func `finally waits to see whether anything starts behind an if that is decided late`()
    throws
  {
    let plan = try TestPlan.make([
      Task(name: "a", flags: .leavesValues),
      Task(name: "b", needs: [("a", .success)], decidedBy: "a"),
      Task(name: "c", needs: [("b", .success)]),
      Task(name: "clean", needs: [("c", .finished)], flags: .finally), Task(name: "d"),
    ])
    let write: (inout JournalText) throws -> Void = {
      try $0.run("a")
      try $0.failure("b", reason: .value)
      try $0.skip("c", .upstream(plan.id("b")))
      try $0.run("clean")
    }
    let behind = try decide(plan) {
      try write(&$0)
      try $0.run("d")
    }
    #expect(
      behind.verdicts == [
        .keep(.succeeded, nil), .run(.failedBefore), .run(.skippedBefore), .later(.succeeded, nil),
        .keep(.succeeded, nil),
      ])
    // What starts for certain is none of its needs.
    var request = ResumeRequest()
    request.finallyFollowsNeeds = true
    let beside = try decide(plan, request: request, write)
    #expect(try beside[plan.id("d")] == .run(.new))
    #expect(beside.initialStates(request)[3] == .laterAfterNeeds)
    let due = try decide(plan, write)
    #expect(try due[plan.id("clean")] == .run(.afterRerun(plan.id("c"))))
  }

  @Test func `finally is not taken back for what is ruled out behind a task with inputs`() throws {
    let plan = try TestPlan.make([
      Task(name: "a"), Task(name: "b", needs: [("a", .failure)]),
      Task(name: "c", needs: [("b", .success)], isChecked: true),
      Task(name: "d", needs: [("c", .success)]), Task(name: "clean", flags: .finally),
    ])
    let decision = try decide(plan) {
      try $0.run("a")
      try $0.skip("b", .skipOption)
      try $0.run("c")
      try $0.start("d")
      try $0.failure("d")
      try $0.run("clean")
    }
    #expect(
      decision.verdicts == [
        .keep(.succeeded, nil), .run(.skippedBefore), .check, .run(.failedBefore),
        .later(.succeeded, nil),
      ])
    #expect(!decision.startsAnything)
  }

  @Test func `finally waits to see whether a service that stays comes to start`() throws {
    let plan = try TestPlan.make([
      Task(name: "serve", isService: true), Task(name: "clean", flags: .finally),
    ])
    let decision = try decide(plan) { try $0.run("clean") }
    #expect(decision.verdicts == [.run(.new), .later(.succeeded, nil)])
    #expect(decision.startsAnything)
  }

  @Test func `finally that a dead session owes runs though nothing else does`() throws {
    let plan = try TestPlan.make([Task(name: "a"), Task(name: "clean", flags: .finally)])
    let owed = try decide(plan) { try $0.run("a") }
    #expect(owed.verdicts == [.keep(.succeeded, nil), .run(.new)])
    #expect(owed.owesFinally)
    #expect(owed.startsAnything)
    let cut = try decide(plan) {
      try $0.run("a")
      try $0.start("clean")
    }
    #expect(cut.verdicts == [.keep(.succeeded, nil), .run(.interrupted)])
  }
}
