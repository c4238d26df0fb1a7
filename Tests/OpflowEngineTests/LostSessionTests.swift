import Fixtures
import OpflowEngine
import OpflowJournal
import OpflowPlan
import Testing

@Suite struct LostSessionTests {
  private typealias Task = TestPlan.Task

  @Test func `a session that goes on with a lost one keeps what went wrong there`() throws {
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

  @Test func `a service that somebody cancelled keeps that as any task does`() throws {
    var maker = PlanMaker()
    maker.addService("db")
    maker.add("test", needs: ["db"])
    let plan = try maker.make()
    var journal = JournalText(plan)
    try journal.start("db")
    journal.append(
      Transition(.cancel, try plan.id("db"), attempt: 1, reason: .stopped(.cancel)))
    let history = try RunModel.read(journal.bytes, plan)
    var request = ResumeRequest()
    let ordinary = ResumeDecision(plan: plan, history: history, request: request)
    #expect(ordinary.verdicts[0] == .run(.interrupted))
    request.keepsEnds = true
    let decision = ResumeDecision(plan: plan, history: history, request: request)
    #expect(decision.verdicts[0] == .keep(.cancelled, nil))
    #expect(decision.initialStates(request)[0] == .stillCancelled)
  }

  @Test func `a request about tasks that the plan has no more is not one about the run`() throws {
    let before = try TestPlan.make([Task(name: "a"), Task(name: "gone")])
    var journal = JournalText(before)
    let id = try #require(RequestID("x-1"))
    var request = RequestEntry(
      id: id, verb: .cancel, requester: Requester(pid: 1, user: 0, name: "somebody"))
    request.tasks = [try before.id("gone")]
    journal.append(.request(request))
    let history = try RunModel.read(journal.bytes, TestPlan.make([Task(name: "a")]))
    #expect(history.requests.stoppedBy == nil && history.requests.counts[id] != nil)
  }

  @Test func `failed attempts still count after a loss, and the rest of a delay is waited for`()
    throws
  {
    var maker = PlanMaker()
    maker.add("late") {
      $0.policy = TaskPolicy(
        retryMax: 2, retryDelayMilliseconds: 4000, retryBackoffPermille: 1000,
        retryJitterPermille: 0)
    }
    maker.add("other")
    let plan = try maker.make()
    let late = try plan.id("late")
    var journal = JournalText(plan)
    var retry = Transition(.retry, late, attempt: 1)
    retry.outcome = Outcome(status: .exit(1))
    retry.delayMilliseconds = 4000
    try journal.start("late")
    journal.append(retry)
    try journal.start("other")
    // The line before the last.
    let failedAt: Int64 = 1_700_000_000_002
    var request = ResumeRequest()
    let history = try RunModel.read(journal.bytes, plan)
    #expect(history.triesUsed(plan, for: request, at: failedAt) == [:])
    request.keepsEnds = true
    let used = history.triesUsed(plan, for: request, at: failedAt + 1000)
    #expect(used == [late: TriesUsed(count: 1, delayMilliseconds: 3000)])
    let setBack = history.triesUsed(plan, for: request, at: failedAt - 1_000_000)
    #expect(setBack[late]?.delayMilliseconds == Int64(plan.policy(late).retryMaxDelayMilliseconds))

    var run = EngineHarness(plan, maxFailures: 0, triesUsed: used)
    run.settle()
    run.wait(milliseconds: 2999)
    #expect(run.runningNames == ["other"])
    run.wait(milliseconds: 1)
    #expect(run.runningNames == ["late", "other"])
    // One of three is left behind it.
    run.end("late", exit: 1)
    run.wait(milliseconds: 4000)
    run.end("late", exit: 1)
    #expect(run.state("late") == .failed)
  }

  @Test func `a service that was to start again does so at once, also where a clock was set back`()
    throws
  {
    var maker = PlanMaker()
    maker.addService("db", restarts: 2)
    maker.add("user", needs: ["db"])
    let plan = try maker.make()
    let service = try plan.id("db")
    var journal = JournalText(plan)
    try journal.start("db")
    journal.append(Transition(.retry, service, attempt: 1, reason: .ended))
    var request = ResumeRequest()
    request.keepsEnds = true
    let used = try RunModel.read(journal.bytes, plan).triesUsed(plan, for: request, at: 0)
    #expect(used == [service: TriesUsed(count: 1)])

    for delay in [0, 3000] as [Int64] {
      let tries = TriesUsed(count: 1, delayMilliseconds: delay)
      var run = EngineHarness(plan, maxFailures: 0, triesUsed: [service: tries])
      try run.becomeReady("db")
      #expect(run.runningNames == ["db", "user"])
    }
  }

  @Test func `requests to a lost session hold in the one that goes on with it`() throws {
    let plan = try TestPlan.make(["held", "cancelled", "free", "over"].map { Task(name: $0) })
    func request(_ verb: ControlAction, _ names: [String]) throws -> JournalEntry {
      let id = try #require(RequestID("\(verb.rawValue).\(names.count)"))
      var request = RequestEntry(
        id: id, verb: verb, requester: Requester(pid: 1, user: 0, name: "somebody"))
      request.tasks = try names.map { try plan.id($0) }
      return .request(request)
    }
    var journal = JournalText(plan)
    try journal.start("held")
    try journal.start("cancelled")
    try journal.append(request(.suspend, ["held", "over"]))
    try journal.append(request(.proceed, ["over"]))
    try journal.append(request(.cancel, ["cancelled"]))
    try journal.append(request(.pause, []))
    var expected = StandingRequests()
    expected.isPaused = true
    expected.onHold = [try plan.id("held")]
    expected.cancelled = [try plan.id("cancelled")]
    #expect(try RunModel.read(journal.bytes, plan).requests.standing(plan) == expected)

    // Wherever it is lost itself, the one after it has them too; one that somebody resumes has
    // none.
    for continues in [true, false] {
      var later = journal
      var resume = ResumeEntry(planKey: "00", opflowVersion: "0")
      resume.continues = continues
      later.append(.resume(resume))
      let standing = try RunModel.read(later.bytes, plan).requests.standing(plan)
      #expect(standing == (continues ? expected : StandingRequests()))
    }

    var resumeState = ResumeState(
      initial: Array(repeating: .run, count: 4), attempts: [1, 1, 0, 0])
    resumeState.standing = expected
    resumeState.standing.isPaused = false
    var engine = Engine(
      plan: plan,
      options: SchedulerOptions(maxParallel: 8, memoryBytes: 1 << 30, maxFailures: 0, seed: 1),
      resumeState: resumeState, journal: nil)
    engine.begin(at: Instant(nanoseconds: 0), wall: 0)
    var events: [String: TransitionEvent] = [:]
    var workers: [WorkerID] = []
    func perform() {
      while let step = engine.next(at: Instant(nanoseconds: 0)) {
        if case .launch(let worker, _, _) = step { workers.append(worker) }
        if case .tell(.transition(let line)) = step {
          events[plan.nameString(line.task)] = line.event
        }
      }
    }
    perform()
    while let worker = workers.popLast() {
      engine.handle(
        .scheduler(.workerReady(worker, WorkerOffer(cores: 1, actions: .all))),
        at: Instant(nanoseconds: 0), wall: 0)
      perform()
    }
    #expect(events == ["cancelled": .cancel, "free": .start, "over": .start])
  }
}
