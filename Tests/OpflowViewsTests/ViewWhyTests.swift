import Fixtures
import Testing

@testable import OpflowJournal
@testable import OpflowPlan
@testable import OpflowViews

/// `why`: the reasons, as the journal and the plan tell them.
@Suite struct ViewWhyTests {
  private struct Told {
    let plan: Plan
    private var encoder = JournalEncoder()
    private var now: Int64 = 1000

    init(_ plan: Plan, cpu: UInt64? = 2, maxFailures: Int? = 1) {
      self.plan = plan
      var open = OpenEntry.example
      if let cpu { open.limits.capacities = [.init(name: "cpu", amount: cpu)] }
      open.limits.maxFailures = maxFailures
      encoder.append(.open(open), at: now, plan: plan)
    }

    mutating func wait(_ milliseconds: Int64) { now += milliseconds }

    mutating func tell(
      _ event: TransitionEvent, _ name: String, attempt: Int32 = 1,
      change: (inout Transition) -> Void = { _ in }
    ) {
      var transition = Transition(event, plan.task(named: name) ?? .none, attempt: attempt)
      change(&transition)
      encoder.append(transition, at: now, plan: plan)
    }

    mutating func resume(_ retracted: [(String, RerunReason)]) {
      var entry = ResumeEntry(planKey: "", opflowVersion: "0.1.0")
      entry.retracted = retracted.count
      encoder.append(.resume(entry), at: now, plan: plan)
      for (name, reason) in retracted { tell(.resume(reason), name, attempt: 0) }
    }

    mutating func request(_ verb: ControlAction, _ names: String...) throws {
      let requester = Requester(pid: 7, user: 0, name: "opflow \(verb.rawValue)")
      var entry = RequestEntry(
        id: try #require(RequestID("\(encoder.nextSequence)")), verb: verb, requester: requester)
      entry.tasks = names.compactMap { plan.task(named: $0) }
      encoder.append(.request(entry), at: now, plan: plan)
    }

    mutating func close(_ state: RunState) {
      encoder.append(.close(CloseEntry(state: state, exitCode: 1)), at: now, plan: plan)
    }

    func why(
      _ names: String..., isHeld: Bool = true, columns: Int? = nil,
      fate: @escaping (TaskID) -> ResumeFate? = { _ in nil }
    ) throws -> String {
      let history = try encoder.bytes.withUnsafeBytes {
        try RunModel.read($0, plan: plan, keepingDetails: true).history
      }
      let status = RunStatus(
        run: "r1", plan: plan, history: history, included: .all(taskCount: plan.taskCount),
        isHeld: isHeld)
      let view = WhyView(status, durations: .unknown, nowMilliseconds: now, fate: fate)
      return String(
        decoding: view.text(names.map { plan.task(named: $0)! }, color: false, columns: columns),
        as: UTF8.self)
    }
  }

  private func plan() throws -> Plan {
    try ViewFixture.plan(
      [
        ("fetch", []), ("build", ["fetch"]), ("test", ["build"]), ("lint", []), ("docs", []),
        ("spell", []), ("clean", []),
      ], finally: ["clean"])
  }

  @Test func `open dependencies, and the tasks that block them`() throws {
    var told = Told(try plan())
    told.tell(.start, "fetch")
    told.wait(3000)
    #expect(
      try told.why("build", "test") == """
        build pending
          needs fetch (running for 3.0s)

        test pending
          needs build (pending)
          blocked by fetch (running for 3.0s)

        """)
  }

  @Test func `resources that are lacking, who holds them, and the place in the queue`() throws {
    var told = Told(try plan())
    told.tell(.start, "fetch")
    told.tell(.start, "lint")
    told.wait(1000)
    #expect(
      try told.why("spell") == """
        spell pending
          needs 1 of cpu; 0 of 2 is free; held by fetch (1), lint (1)
          position 2 of 2, behind docs in the queue

        """)
    told.tell(.success, "lint")
    #expect(
      try told.why("docs") == """
        docs pending
          is ready and waits for a free slot; position 1 of 2

        """)
  }

  @Test func `a task that lacks a resource is not called ready`() throws {
    let plan = try ViewFixture.plan([("fetch", []), ("build", ["fetch"]), ("lint", [])])
    var told = Told(plan, cpu: 1)
    told.tell(.start, "fetch")
    told.tell(.success, "fetch")
    told.tell(.start, "lint")
    #expect(
      try told.why("build") == """
        build pending
          needs 1 of cpu; 0 of 1 is free; held by lint (1)
          all dependencies finished; position 1 of 1

        """)
  }

  @Test func `an unknown limit is reported`() throws {
    var told = Told(try plan(), cpu: nil)
    told.tell(.start, "fetch")
    #expect(
      try told.why("docs").contains(
        "  the limit of cpu is unknown: an older opflow did not record it\n"))
  }

  @Test func `a pause and a failure hold back all`() throws {
    var told = Told(try plan())
    told.tell(.start, "lint")
    told.tell(.failure, "lint") { $0.outcome = Outcome(status: .exit(3)) }
    try told.request(.pause)
    let text = try told.why("docs")
    #expect(
      text.contains(
        "\n  the run is paused by opflow pause (pid 7); to continue: opflow continue\n"))
    #expect(
      text.contains("  no further task starts: 1 task failed (lint), and --max-failures is 1\n"))
    #expect(try !told.why("clean").contains("max-failures"))
  }

  @Test func `the effect of a request, and who sent it`() throws {
    var told = Told(try plan())
    told.tell(.start, "lint")
    try told.request(.suspend, "lint", "docs")
    #expect(
      try told.why("lint") == """
        lint suspended
          was suspended by opflow suspend (pid 7); to continue: opflow continue lint

        """)
    #expect(
      try told.why("docs").contains(
        "  it is held by opflow suspend (pid 7); to continue: opflow continue docs\n"))
    try told.request(.cancel, "lint", "docs")
    told.wait(90)
    told.tell(.cancel, "lint") {
      $0.outcome = Outcome(status: .signal(15), reason: .stopped(.cancel))
      $0.outcome.usage.wallMicroseconds = 90_000
    }
    try told.request(.skip, "clean")
    #expect(
      try told.why("lint", "docs", "clean") == """
        lint cancelled
          was stopped after 0.09s: cancelled by opflow cancel (pid 7)

        docs cancelled
          was cancelled by opflow cancel (pid 7) before it started

        clean skipped
          was skipped by opflow skip (pid 7)

        """)
  }

  @Test func `without a limit of failures, other tasks start`() throws {
    var told = Told(try plan(), maxFailures: 0)
    told.tell(.start, "lint")
    told.tell(.failure, "lint") { $0.outcome = Outcome(status: .exit(3)) }
    #expect(try !told.why("docs").contains("no further task starts"))
  }

  @Test func `a delay, a finally task and a prefetched task`() throws {
    var told = Told(try plan())
    told.tell(.start, "lint") { $0.worker = WorkerID(4) }
    told.tell(.start, "docs") {
      $0.worker = WorkerID(4)
      $0.isPrefetched = true
    }
    told.tell(.start, "fetch")
    told.tell(.retry, "fetch") {
      $0.outcome = Outcome(status: .exit(7))
      $0.delayMilliseconds = 9_500
    }
    #expect(
      try told.why("fetch", "docs", "clean") == """
        fetch pending
          attempt 1 of 1 failed: exit 7; attempt 2 in 10s

        docs pending
          is next on worker 4, behind lint

        clean pending
          is a `finally` task; waits for 6 tasks to finish

        """)
  }

  @Test func `ends, with the failure that caused them`() throws {
    var told = Told(try plan())
    told.tell(.start, "fetch")
    told.tell(.failure, "fetch") {
      $0.outcome = Outcome(status: .exit(3))
      $0.outcome.usage.wallMicroseconds = 250_000
    }
    told.tell(.skip(.upstream(told.plan.task(named: "fetch")!)), "build", attempt: 0)
    told.tell(.skip(.upstream(told.plan.task(named: "build")!)), "test", attempt: 0)
    told.tell(.skip(.condition), "lint", attempt: 0)
    told.close(.failed)
    let text = try told.why("fetch", "test", "lint", "docs", isHeld: false) { _ in .keeps }
    #expect(
      text == """
        fetch failed
          exit 3 after 0.25s
          a resume would not re-run it

        test skipped
          build was skipped because fetch failed: exit 3
          a resume would not re-run it

        lint skipped
          its `if` is false
          a resume would not re-run it

        docs pending
          did not start before the run ended
          no further task starts: 1 task failed (fetch), and --max-failures is 1
          a resume would not re-run it

        """)
  }

  @Test func `the reason of a re-run, and results that a resume kept`() throws {
    var told = Told(try plan())
    let plan = told.plan
    for name in ["fetch", "build", "lint"] {
      told.tell(.start, name)
      told.tell(.success, name) {
        $0.outcome = Outcome(status: .success)
        $0.fingerprint = plan.fingerprint($0.task)
      }
    }
    told.resume([("build", .changed(.run))])
    told.tell(.start, "build", attempt: 2)
    #expect(
      try told.why("build").contains("  the last resume scheduled it again (its `run` changed)\n"))
    #expect(
      try told.why("lint").contains(
        "  the last resume kept this result: its definition and dependencies are unchanged\n"
      ))
    #expect(try !told.why("build").contains("kept this result"))
  }

  @Test func `an interrupted task of a dead run, and what a resume would do`() throws {
    var told = Told(try plan())
    told.tell(.start, "fetch")
    let task = told.plan.task(named: "fetch")!
    #expect(
      try told.why("fetch", isHeld: false) { _ in .runs(Transition(.resume(.interrupted), task)) }
        == """
        fetch pending
          was interrupted when the run died
          a resume would re-run it (interrupted)

        """)
  }

  @Test func `a narrow terminal breaks lines between words`() throws {
    var told = Told(try plan())
    told.tell(.start, "fetch")
    told.tell(.start, "lint")
    let text = try told.why("spell", columns: 40)
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 40 }, "\(text)")
    #expect(text.hasPrefix("spell pending\n  needs 1 of cpu; 0 of 2 is free; held\n    by "))
  }
}
