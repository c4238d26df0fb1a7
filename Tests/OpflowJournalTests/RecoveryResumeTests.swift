import Fixtures
import OpflowJournal
import OpflowPlan
import Testing

@Suite struct RecoveryResumeTests {
  private typealias Task = TestPlan.Task
  private typealias Verdict = ResumeDecision.Verdict

  private func chain(fingerprints: [UInt64] = [1, 1, 1]) throws -> Plan {
    try TestPlan.make([
      Task(name: "a", fingerprint: fingerprints[0]),
      Task(name: "b", needs: [("a", .success)], fingerprint: fingerprints[1]),
      Task(name: "c", needs: [("b", .success)], fingerprint: fingerprints[2]),
    ])
  }

  @Test func `a new run runs everything and journals nothing of it`() throws {
    let decision = ResumeDecision(plan: try chain(), history: RunModel())
    #expect(decision.verdicts == [.run(.new), .run(.new), .run(.new)])
    #expect(decision.transitions.isEmpty)
    #expect(decision.runCount == 3)
    #expect(decision.startsAnything)
    #expect(!decision.owesFinally)
    #expect(decision.initialStates(ResumeRequest()) == [.run, .run, .run])
  }

  @Test func `what succeeded is kept`() throws {
    let decision = try decide(chain()) { try $0.run("a", "b") }
    #expect(
      decision.verdicts == [.keep(.succeeded, nil), .keep(.succeeded, nil), .run(.new)])
    #expect(decision.keptCount == 2)
    #expect(decision.transitions.isEmpty)
    #expect(decision.initialStates(ResumeRequest()) == [.succeeded, .succeeded, .run])
  }

  @Test func `a finished run starts nothing again`() throws {
    let decision = try decide(chain()) { try $0.run("a", "b", "c") }
    #expect(decision.keptCount == 3)
    #expect(!decision.startsAnything)
  }

  @Test func `what is asked for runs, and what needs it after it`() throws {
    let plan = try chain()
    var request = ResumeRequest()
    request.rerun = try taskSet(plan, "b")
    let decision = try decide(plan, request: request) { try $0.run("a", "b", "c") }
    #expect(
      decision.verdicts == [.keep(.succeeded, nil), .run(.asked), .run(.afterRerun(TaskID(1)))])
    #expect(
      decision.transitions == [
        Transition(.resume(.asked), try plan.id("b")),
        Transition(.resume(.afterRerun(try plan.id("b"))), try plan.id("c")),
      ])
    var entry = ResumeEntry(planKey: "", opflowVersion: "")
    decision.complete(&entry)
    #expect(entry.reused == 1)
    #expect(entry.retracted == 2)
  }

  @Test func `a changed definition runs again, and tells which part changed`() throws {
    let decision = try decide(chain(), readWith: chain(fingerprints: [1, 2, 1])) {
      try $0.run("a", "b", "c")
    }
    #expect(
      decision.verdicts == [
        .keep(.succeeded, nil), .run(.changed(.run)), .run(.afterRerun(TaskID(1))),
      ])
    #expect(decision.transitions.first?.event == .resume(.changed(.run)))
  }

  @Test func `an output that is gone is made again`() throws {
    let plan = try chain()
    var request = ResumeRequest()
    request.outputMissing = try taskSet(plan, "a")
    let decision = try decide(plan, request: request) { try $0.run("a") }
    #expect(decision.verdicts == [.run(.outputMissing), .run(.new), .run(.new)])
  }

  @Test func `what was cut short runs again`() throws {
    let running = try decide(chain()) { try $0.start("a") }
    #expect(running.verdicts[0] == .run(.interrupted))
    #expect(running.transitions == [Transition(.resume(.interrupted), TaskID(0))])
    let cancelled = try decide(chain()) {
      try $0.start("a")
      $0.append(Transition(.cancel, TaskID(0), reason: .stopped(.signal)))
    }
    #expect(cancelled.verdicts[0] == .run(.interrupted))
    let lost = try decide(chain()) {
      try $0.start("a")
      $0.append(Transition(.interrupt, TaskID(0), reason: .workerLost))
    }
    #expect(lost.verdicts[0] == .run(.interrupted))
    #expect(lost.transitions.isEmpty)
  }

  @Test func `what failed runs again, and what it held back`() throws {
    let plan = try chain()
    let decision = try decide(plan) {
      try $0.start("a")
      try $0.failure("a")
      try $0.skip("b", .upstream(plan.id("a")))
      try $0.skip("c", .upstream(plan.id("b")))
    }
    #expect(
      decision.verdicts == [.run(.failedBefore), .run(.skippedBefore), .run(.skippedBefore)])
    #expect(decision.transitions.count == 3)
    #expect(decision.startsAnything)
  }

  @Test func `the first reason that applies is told`() throws {
    let plan = try chain(fingerprints: [2, 2, 2])
    var request = ResumeRequest()
    request.outputMissing = TaskSet.all(taskCount: 3)
    // Failed and changed; changed and missing; missing and after a rerun.
    let decision = try decide(
      chain(), readWith: chain(fingerprints: [2, 2, 1]), request: request
    ) {
      try $0.start("a")
      try $0.failure("a")
      try $0.run("b", "c")
    }
    #expect(decision.verdicts == [.run(.failedBefore), .run(.changed(.run)), .run(.outputMissing)])
    request.rerun = TaskSet.all(taskCount: 3)
    let asked = try decide(chain(), readWith: plan, request: request) {
      try $0.start("a")
      try $0.run("b", "c")
    }
    #expect(asked.verdicts == [.run(.asked), .run(.asked), .run(.asked)])
  }

  @Test func `a retry that was waited for counts as a failure before`() throws {
    let decision = try decide(chain()) {
      try $0.start("a")
      $0.append(Transition(.retry, TaskID(0), attempt: 1))
    }
    #expect(decision.verdicts[0] == .run(.failedBefore))
    #expect(decision.transitions.isEmpty)
  }

  @Test func `an allowed failure is kept as long as it is allowed`() throws {
    let write: (inout JournalText) throws -> Void = {
      try $0.start("a")
      try $0.failure("a", exit: 2, allowed: true)
    }
    let allowing = try TestPlan.make([Task(name: "a", flags: .allowAnyFailure)])
    #expect(try decide(allowing, write).verdicts == [.keep(.failedAllowed, nil)])
    let strict = try TestPlan.make([Task(name: "a")])
    #expect(try decide(allowing, readWith: strict, write).verdicts == [.run(.failedBefore)])
  }

  @Test func `a task that started before its need settled runs again`() throws {
    // As after a crash: a ran again, and b's older success has not been taken back.
    let plan = try chain()
    let decision = try decide(plan) {
      try $0.run("a", "b", "c")
      try $0.resume(("a", .asked))
      try $0.run("a")
    }
    #expect(
      decision.verdicts == [
        .keep(.succeeded, nil), .run(.afterRerun(TaskID(0))), .run(.afterRerun(TaskID(1))),
      ])
    #expect(decision.transitions.first?.event == .resume(.afterRerun(TaskID(0))))
  }

  @Test func `a skip is kept while its verdict holds`() throws {
    let skipping = try TestPlan.make([
      Task(name: "a", flags: .conditionFalse), Task(name: "b", needs: [("a", .success)]),
    ])
    let write: (inout JournalText) throws -> Void = {
      try $0.skip("a", .condition)
      try $0.run("b")
    }
    let kept = try decide(skipping, write)
    #expect(kept.verdicts == [.keep(.skipped, .condition), .keep(.succeeded, nil)])
    #expect(kept.initialStates(ResumeRequest()) == [.skipped, .succeeded])
    let running = try TestPlan.make([Task(name: "a"), Task(name: "b", needs: [("a", .success)])])
    #expect(
      try decide(skipping, readWith: running, write).verdicts
        == [.run(.skippedBefore), .run(.afterRerun(TaskID(0)))])
  }

  @Test func `a task that --skip names is kept skipped, and runs once it does not`() throws {
    let plan = try chain()
    let write: (inout JournalText) throws -> Void = { try $0.skip("a", .skipOption) }
    var request = ResumeRequest()
    request.skip = try taskSet(plan, "a", "b")
    let decision = try decide(plan, request: request, write)
    #expect(decision.verdicts[0] == .keep(.skipped, .skipOption))
    #expect(decision.initialStates(request) == [.skipped, .skipOption, .run])
    #expect(try decide(plan, write).verdicts[0] == .run(.skippedBefore))
  }

  @Test func `a skip does not undo that a task must not run twice`() throws {
    let plan = try TestPlan.make([Task(name: "a", flags: .failWhenInterrupted), Task(name: "b")])
    let once = try plan.id("a")
    func verdict(
      _ request: ResumeRequest = ResumeRequest(), _ write: (inout JournalText) throws -> Void
    ) throws -> Verdict { try decide(plan, request: request, write)[once] }

    // Cut short, then left out by `--skip` of one resume.
    let isFailed = try verdict {
      try $0.start("a")
      try $0.resume(("a", .interrupted))
      try $0.skip("a", .skipOption)
    }
    #expect(isFailed == .fail)
    // It failed before that, or the session died between the two lines.
    let isFailedAgain = try verdict {
      try $0.start("a")
      try $0.resume(("a", .interrupted))
      try $0.failure("a", reason: .interrupted)
      try $0.resume(("a", .failedBefore))
    }
    #expect(isFailedAgain == .fail)
    var skipping = ResumeRequest()
    skipping.skip = try taskSet(plan, "a")
    let isSkipped = try verdict(skipping) {
      try $0.start("a")
      try $0.resume(("a", .interrupted))
      try $0.skip("a", .skipOption)
    }
    #expect(isSkipped == .keep(.skipped, .skipOption))
    // A requested re-run stays requested, as a started attempt does.
    let isAsked = try verdict {
      try $0.start("a")
      try $0.resume(("a", .interrupted))
      try $0.skip("a", .skipOption)
      try $0.resume(("a", .asked))
    }
    #expect(isAsked == .run(.asked))
  }

  @Test func `a task for failures alone stays skipped while what it needs keeps its success`()
    throws
  {
    let plan = try TestPlan.make([
      Task(name: "a"), Task(name: "onfail", needs: [("a", .failure)]),
      Task(name: "after", needs: [("onfail", .success)]),
    ])
    let decision = try decide(plan) {
      try $0.run("a")
      try $0.skip("onfail", .upstream(plan.id("a")))
      try $0.skip("after", .upstream(plan.id("onfail")))
    }
    #expect(
      decision.verdicts == [
        .keep(.succeeded, nil), .keep(.skipped, .upstream(TaskID(0))),
        .keep(.skipped, .upstream(TaskID(1))),
      ])
    #expect(!decision.startsAnything)
    #expect(
      decision.initialStates(ResumeRequest()) == [.succeeded, .skippedUpstream, .skippedUpstream])
  }

  @Test func `on_interrupted fail fails, and stays failed until it is asked for`() throws {
    let plan = try TestPlan.make([
      Task(name: "a", flags: .failWhenInterrupted), Task(name: "b", needs: [("a", .success)]),
    ])
    let died = try decide(plan) { try $0.start("a") }
    #expect(died.verdicts == [.fail, .run(.new)])
    #expect(died.transitions == [Transition(.resume(.interrupted), TaskID(0))])
    #expect(died.failCount == 1)
    #expect(!died.startsAnything)
    #expect(died.initialStates(ResumeRequest()) == [.interrupted, .run])

    let diedAgain = try decide(plan) {
      try $0.start("a")
      try $0.resume(("a", .interrupted))
    }
    #expect(diedAgain.verdicts[0] == .fail)

    let failed: (inout JournalText) throws -> Void = {
      try $0.start("a")
      try $0.resume(("a", .interrupted))
      try $0.failure("a", reason: .interrupted)
      try $0.skip("b", .upstream(plan.id("a")))
    }
    let later = try decide(plan, failed)
    #expect(later.verdicts == [.keep(.failed, nil), .keep(.skipped, .upstream(TaskID(0)))])
    #expect(later.initialStates(ResumeRequest()) == [.failed, .skippedUpstream])
    #expect(!later.startsAnything)

    var request = ResumeRequest()
    request.rerun = try taskSet(plan, "a")
    let asked = try decide(plan, request: request, failed)
    #expect(asked.verdicts == [.run(.asked), .run(.skippedBefore)])
  }

  @Test func `only what is selected is decided`() throws {
    let plan = try chain()
    var request = ResumeRequest()
    request.selected = try taskSet(plan, "a", "b")
    let decision = try decide(plan, request: request) { try $0.run("a") }
    #expect(
      decision.verdicts == [.keep(.succeeded, nil), .run(.new), .leave(.waiting, nil)])
    #expect(decision.initialStates(request) == [.succeeded, .run, .leftOpen])
    request.scope = request.selected
    let small = try decide(plan, request: request) { try $0.run("a") }
    #expect(small.verdicts == [.keep(.succeeded, nil), .run(.new), .outside])
    #expect(small.initialStates(request) == [.succeeded, .run, .excluded])
  }

  @Test func `what a session leaves out stays what it is`() throws {
    let plan = try TestPlan.make([
      Task(name: "good"), Task(name: "bad"), Task(name: "behind", needs: [("bad", .success)]),
      Task(name: "far", needs: [("behind", .success)]), Task(name: "asked"),
    ])
    let write: (inout JournalText) throws -> Void = {
      try $0.run("good")
      try $0.start("bad")
      try $0.failure("bad")
      try $0.skip("behind", .upstream(plan.id("bad")))
      try $0.skip("far", .upstream(.none))
    }
    var request = ResumeRequest()
    request.selected = try taskSet(plan, "asked")
    let decision = try decide(plan, request: request, write)
    #expect(
      decision.verdicts == [
        .leave(.succeeded, nil), .leave(.failed, nil), .leave(.skipped, .upstream(TaskID(1))),
        .leave(.skipped, .upstream(.none)), .run(.new),
      ])
    #expect(
      decision.initialStates(request) == [
        .leftDone, .leftFailed, .leftUpstream, .leftUpstream, .run,
      ])
    #expect(decision.transitions.isEmpty)
    // Once what they lacked may come to a good end, they are still to come.
    request.selected = try taskSet(plan, "bad")
    #expect(
      try decide(plan, request: request, write).initialStates(request) == [
        .leftDone, .run, .leftOpen, .leftOpen, .leftOpen,
      ])
  }

  @Test func `a finally task of named tasks runs when one of its needs does`() throws {
    let plan = try TestPlan.make([
      Task(name: "a"), Task(name: "b"),
      Task(name: "clean-a", needs: [("a", .finished)], flags: .finally),
      Task(name: "clean-b", needs: [("b", .finished)], flags: .finally),
    ])
    var request = ResumeRequest()
    request.finallyFollowsNeeds = true
    let fresh = try decide(plan, request: request) { _ in }
    #expect(fresh.initialStates(request) == [.run, .run, .afterNeeds, .afterNeeds])
    #expect(!fresh.owesFinally)
    // It is due if its dependency ran in a session that did not reach it.
    let cut = try decide(plan, request: request) { try $0.run("a") }
    #expect(cut.initialStates(request) == [.succeeded, .run, .run, .afterNeeds])
    #expect(cut.owesFinally)
    let done = try decide(plan, request: request) { try $0.run("a", "clean-a") }
    #expect(done.initialStates(request) == [.succeeded, .run, .succeeded, .afterNeeds])
  }

  @Test func `an unproven result runs again and says why`() throws {
    let plan = try chain()
    var journal = JournalText(plan)
    try journal.run("a", "b")
    try journal.resume(("a", .asked), ("b", .afterRerun(plan.id("a"))))
    try journal.start("a", attempt: 2)
    try journal.success("a", attempt: 2)
    var bytes = journal.bytes
    bytes[journal.offsets[7]] ^= 1
    let decision = ResumeDecision(plan: plan, history: try RunModel.read(bytes, plan))
    #expect(decision.verdicts == [.keep(.succeeded, nil), .run(.unproven), .run(.new)])
    #expect(decision.transitions == [Transition(.resume(.unproven), TaskID(1))])
  }

  @Test func `what was cut short and is to fail for it is not run again since that is unproven`()
    throws
  {
    let plan = try TestPlan.make([
      Task(name: "a", flags: .failWhenInterrupted), Task(name: "b"), Task(name: "c"),
    ])
    var journal = JournalText(plan)
    try journal.start("a")
    try journal.failure("a", reason: .workerLost)
    try journal.run("b", "c")
    try journal.resume(("b", .asked), ("c", .asked))
    try journal.start("c", attempt: 2)
    try journal.success("c", attempt: 2)
    var bytes = journal.bytes
    bytes[journal.offsets[8]] ^= 1
    let decision = ResumeDecision(plan: plan, history: try RunModel.read(bytes, plan))
    #expect(decision.verdicts == [.fail, .run(.unproven), .keep(.succeeded, nil)])
  }

  @Test func `a chain of a hundred thousand is decided without a deep stack`() throws {
    let plan = try TestPlan.make(
      (0..<100_000).map { index in
        Task(name: "t\(index)", needs: index == 0 ? [] : [("t\(index - 1)", .success)])
      })
    var request = ResumeRequest()
    request.rerun = try taskSet(plan, "t0")
    let decision = try decide(plan, request: request) { journal in
      for index in 0..<100_000 { try journal.run("t\(index)") }
    }
    #expect(decision.transitions.count == 100_000)
  }
}
