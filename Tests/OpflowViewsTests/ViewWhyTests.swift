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

  @Test func `needs that are open, and what holds them up`() throws {
    var told = Told(try plan())
    told.tell(.start, "fetch")
    told.wait(3000)
    #expect(
      try told.why("build", "test") == """
        build pending
          needs fetch (running for 3.0s)

        test pending
          needs build (pending)
          what holds that up: fetch (running for 3.0s)

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
          wants 1 of cpu, and 0 of 2 is free; held by fetch (1), lint (1)
          place 2 of 2 that wait for their turn, behind docs

        """)
    told.tell(.success, "lint")
    #expect(
      try told.why("docs") == """
        docs pending
          has all it needs: place 1 of 2 that wait for their turn

        """)
  }

  @Test func `where nobody wrote down how much there is, that is said`() throws {
    var told = Told(try plan(), cpu: nil)
    told.tell(.start, "fetch")
    #expect(
      try told.why("docs").contains(
        "  how much cpu there is, an older opflow did not write down\n"))
  }

  @Test func `a pause and a failure hold back all`() throws {
    var told = Told(try plan())
    told.tell(.start, "lint")
    told.tell(.failure, "lint") { $0.outcome = Outcome(status: .exit(3)) }
    try told.request(.pause)
    let text = try told.why("docs")
    #expect(
      text.contains(
        """
          the run is paused, asked by opflow pause (pid 7): nothing new starts until `opflow \
        continue`

        """
      ))
    #expect(
      text.contains("  nothing new starts: 1 task has failed (lint), and --max-failures is 1\n"))
    #expect(try !told.why("clean").contains("max-failures"))
  }

  @Test func `what a request did is told with who asked`() throws {
    var told = Told(try plan())
    told.tell(.start, "lint")
    try told.request(.suspend, "lint", "docs")
    #expect(
      try told.why("lint") == """
        lint suspended
          began, and its processes stand still, asked by opflow suspend (pid 7), until `opflow continue lint`

        """)
    #expect(
      try told.why("docs").contains(
        "  it is held, asked by opflow suspend (pid 7), until `opflow continue docs`\n"))
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

  @Test func `a limit that is not there holds nothing back`() throws {
    var told = Told(try plan(), maxFailures: 0)
    told.tell(.start, "lint")
    told.tell(.failure, "lint") { $0.outcome = Outcome(status: .exit(3)) }
    #expect(try !told.why("docs").contains("nothing new starts"))
  }

  @Test func `a delay, the end of all others, and what is handed ahead`() throws {
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
          try 1 of 1 failed: exit 7; the next one is due in 10s

        docs pending
          worker 4 has it next, behind lint

        clean pending
          it is a `finally` task: 6 tasks have no end yet

        """)
  }

  @Test func `ends, with the way down from what they come from`() throws {
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
          a resume would keep that

        test skipped
          because of build, which was skipped because of fetch; fetch failed: exit 3
          a resume would keep that

        lint skipped
          `if` is false
          a resume would keep that

        docs pending
          did not start before the run ended
          nothing new starts: 1 task has failed (fetch), and --max-failures is 1
          a resume would keep that

        """)
  }

  @Test func `a resume's reason is told, and what it took over`() throws {
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
      try told.why("build").contains("  the newest resume took it back: changed: run\n"))
    #expect(
      try told.why("lint").contains(
        "  the newest resume took that over: neither its definition nor what it needs has changed\n"
      ))
    #expect(try !told.why("build").contains("took that over"))
  }

  @Test func `what a dead run cut short, and what a resume would do`() throws {
    var told = Told(try plan())
    told.tell(.start, "fetch")
    let task = told.plan.task(named: "fetch")!
    #expect(
      try told.why("fetch", isHeld: false) { _ in .runs(Transition(.resume(.interrupted), task)) }
        == """
        fetch pending
          began, and was cut short: the run died
          a resume would run it: interrupted

        """)
  }

  @Test func `a narrow terminal breaks lines between words`() throws {
    var told = Told(try plan())
    told.tell(.start, "fetch")
    told.tell(.start, "lint")
    let text = try told.why("spell", columns: 40)
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 40 }, "\(text)")
    #expect(text.hasPrefix("spell pending\n  wants 1 of cpu, and 0 of 2 is free;\n    held by "))
  }
}
