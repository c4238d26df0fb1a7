import Fixtures
import OpflowJournal
import OpflowPlan
import OpflowViews
import Testing

@Suite struct ViewStatusTests {
  /// A journal as a run writes it, told by names.
  private struct Journal {
    let plan: Plan
    private var encoder = JournalEncoder()
    private var now: Int64 = 1000

    init(_ plan: Plan) {
      self.plan = plan
      encoder.append(
        .open(
          OpenEntry(
            run: "r1", planKey: "00", opflowVersion: "0.1.0", manifestPath: "/demo/opflow.yaml",
            folder: "/demo")), at: now, plan: plan)
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

    mutating func resume() {
      encoder.append(
        .resume(ResumeEntry(planKey: "00", opflowVersion: "0.1.0")), at: now, plan: plan)
    }

    mutating func close(_ close: CloseEntry) {
      encoder.append(.close(close), at: now, plan: plan)
    }

    func status(isHeld: Bool) throws -> RunStatus {
      let history = try encoder.bytes.withUnsafeBytes {
        try RunModel.read($0, plan: plan, keepingDetails: true).history
      }
      return RunStatus(
        run: "r1", plan: plan, history: history, included: .all(taskCount: plan.taskCount),
        isHeld: isHeld)
    }
  }

  private func journal() throws -> Journal {
    var journal = Journal(
      try ViewFixture.plan([
        ("fetch", []), ("build", ["fetch"]), ("test", ["build"]), ("flaky", []), ("lint", []),
      ]))
    journal.tell(.start, "fetch")
    journal.wait(1500)
    journal.tell(.success, "fetch") {
      $0.outcome = Outcome(status: .success)
      $0.outcome.usage.wallMicroseconds = 1_500_000
    }
    journal.tell(.skip(.condition), "lint")
    journal.tell(.start, "flaky")
    journal.tell(.retry, "flaky") { $0.outcome = Outcome(status: .exit(75)) }
    journal.tell(.start, "flaky", attempt: 2)
    journal.tell(.failure, "flaky", attempt: 2) {
      $0.outcome = Outcome(status: .signal(9))
      $0.outcome.usage.wallMicroseconds = 20_000
    }
    journal.tell(.start, "build")
    return journal
  }

  private func text(_ status: RunStatus, showsAll: Bool = false) -> String {
    let view = StatusView(
      status, resumeCommand: "opflow resume r1", nowMilliseconds: 4500, showsAll: showsAll,
      color: false)
    return String(decoding: view.text(), as: UTF8.self)
  }

  @Test func `the table of a live run`() throws {
    #expect(
      try text(journal().status(isHeld: true)) == """
        run r1 (demo): running for 3.5s
        5 tasks: 1 succeeded, 1 running, 1 failed, 1 skipped, 1 pending

        TASK   STATE       TIME  ATTEMPTS  WHY
        fetch  succeeded   1.5s
        build  running     2.0s
        test   pending                     after build
        flaky  failed     0.02s         2  signal 9 (KILL)
        lint   skipped                     its `if` is false

        """)
  }

  @Test func `a task that ran when the run died is pending and interrupted`() throws {
    #expect(
      try text(journal().status(isHeld: false)) == """
        run r1 (demo): interrupted after 1.5s
        5 tasks: 1 succeeded, 1 failed, 1 skipped, 2 pending

        TASK   STATE       TIME  ATTEMPTS  WHY
        fetch  succeeded   1.5s
        build  pending                     interrupted
        test   pending                     after build
        flaky  failed     0.02s         2  signal 9 (KILL)
        lint   skipped                     its `if` is false

        to continue: opflow resume r1

        """)
  }

  @Test func `a retry is shown with its reason, its attempt and its delay`() throws {
    var journal = Journal(try ViewFixture.plan([("flaky", []), ("next", ["flaky"])]))
    journal.tell(.start, "flaky")
    journal.tell(.retry, "flaky") {
      $0.outcome = Outcome(status: .exit(75))
      $0.delayMilliseconds = 15_500
    }
    #expect(
      try text(journal.status(isHeld: true)) == """
        run r1 (demo): running for 3.5s
        2 tasks: 2 pending

        TASK   STATE    ATTEMPTS  WHY
        flaky  pending         1  exit 75; attempt 2 in 12s
        next   pending            after flaky

        """)
    let json = StatusJSON.text(try journal.status(isHeld: true), nowMilliseconds: 4500) { _ in nil }
    #expect(String(decoding: json, as: UTF8.self).contains(#""next_try_ms":16500,"#))
    // Without an opflow process there is no next attempt.
    let dead = try text(journal.status(isHeld: false))
    #expect(dead.contains("flaky  pending         1  exit 75\n"), "\(dead)")
  }

  @Test func `a task waits for a need that was cancelled`() throws {
    var journal = Journal(try ViewFixture.plan([("first", []), ("next", ["first"])]))
    journal.tell(.start, "first")
    journal.tell(.cancel, "first") {
      $0.outcome = Outcome(status: .signal(15), reason: .stopped(.signal))
    }
    journal.close(CloseEntry(state: .interrupted, exitCode: 130, signal: 2))
    let status = try journal.status(isHeld: false)
    #expect(
      text(status).contains("next   pending           after first\n"), "\(text(status))")
    let row = RunsView.text(
      [.run(status, manifest: "m")], nowMilliseconds: 1000, color: false)
    #expect(String(decoding: row, as: UTF8.self).contains(" 0/2 "))
  }

  @Test func `a finished run needs no resume`() throws {
    var journal = Journal(try ViewFixture.plan([("only", [])]))
    journal.tell(.start, "only")
    journal.tell(.success, "only") { $0.outcome = Outcome(status: .success) }
    journal.close(CloseEntry(state: .succeeded, exitCode: 0))
    #expect(
      try text(journal.status(isHeld: false)) == """
        run r1 (demo): succeeded after 0.00s
        1 task: 1 succeeded

        TASK  STATE       TIME
        only  succeeded  0.00s

        """)
  }

  @Test func `of many tasks those that need a look come first`() throws {
    let names = (1...200).map { "t\($0)" }
    var journal = Journal(try ViewFixture.plan(names.map { ($0, []) }))
    for name in names[..<100] {
      journal.tell(.start, name)
      journal.tell(.success, name) { $0.outcome = Outcome(status: .success) }
    }
    journal.tell(.start, "t150")
    journal.tell(.start, "t151")
    journal.tell(.failure, "t151") { $0.outcome = Outcome(status: .exit(1)) }
    let status = try journal.status(isHeld: true)
    let lines = text(status).split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines[4].hasPrefix("t150  running"))
    #expect(lines[5].hasPrefix("t151  failed"))
    #expect(lines[6].hasPrefix("t101  pending"))
    #expect(lines[54] == "… and 150 more (-v shows all)")
    #expect(text(status, showsAll: true).split(separator: "\n").count == 203)
  }

  @Test func `of many tasks that went well the first are shown, behind the few that did not`()
    throws
  {
    let names = (1...200).map { "t\($0)" }
    var journal = Journal(try ViewFixture.plan(names.map { ($0, []) }))
    for name in names {
      journal.tell(.start, name)
      let isOdd = name == "t120" || name == "t200"
      journal.tell(isOdd ? .failure : .success, name) {
        $0.outcome = Outcome(status: isOdd ? .exit(1) : .success)
      }
    }
    let status = try journal.status(isHeld: false)
    let lines = text(status).split(separator: "\n", omittingEmptySubsequences: false)
    let shown = lines[4..<54].map { $0.prefix { $0 != " " } }
    #expect(shown.elementsEqual((["t120", "t200"] + names[..<48]).map { $0[...] }))
    #expect(lines[54] == "… and 150 more (-v shows all)")
  }

  @Test func `json holds exactly the documented members`() throws {
    let status = try journal().status(isHeld: true)
    let json = StatusJSON.text(status, nowMilliseconds: 2500) { task in
      task.index == 0 ? "/demo/.opflow/runs/r1/logs/fetch.log" : nil
    }
    #expect(
      String(decoding: json, as: UTF8.self) == """
        {"run":"r1","name":"demo","state":"running","counts":{"pending":1,"running":1,\
        "suspended":0,"asking":0,"succeeded":1,"failed":1,"failed_allowed":0,"skipped":1,"cancelled":0,"up_to_date":0},\
        "stopped_by":null,"stop_signal":null,"paused_by":null,"capacities":[],"tasks":[\
        {"id":"fetch","state":"succeeded","attempts":1,"exit":0,"signal":null,\
        "started_ms":1000,"ended_ms":2500,"reason":null,"waits_for":[],\
        "log":"/demo/.opflow/runs/r1/logs/fetch.log"},\
        {"id":"build","state":"running","attempts":1,"exit":null,"signal":null,\
        "started_ms":2500,"ended_ms":null,"reason":null,"waits_for":[],"log":null},\
        {"id":"test","state":"pending","attempts":0,"exit":null,"signal":null,\
        "started_ms":null,"ended_ms":null,"reason":null,"waits_for":["build"],"log":null},\
        {"id":"flaky","state":"failed","attempts":2,"exit":null,"signal":9,\
        "started_ms":2500,"ended_ms":2500,"reason":null,"waits_for":[],"log":null},\
        {"id":"lint","state":"skipped","attempts":0,"exit":null,"signal":null,\
        "started_ms":null,"ended_ms":null,"reason":"if","waits_for":[],"log":null}]}

        """)
  }

  @Test func `a suspended task does not count as running`() throws {
    var journal = try journal()
    journal.tell(.pause, "build")
    let status = try journal.status(isHeld: true)
    #expect(text(status).contains("5 tasks: 1 succeeded, 1 suspended, 1 failed"))
    let json = StatusJSON.text(status, nowMilliseconds: 2500) { _ in nil }
    #expect(String(decoding: json, as: UTF8.self).contains(#""running":0,"suspended":1,"#))
  }

  @Test func `a suspended task and one that waits for approval are counted by themselves`() throws {
    var maker = PlanMaker()
    for name in ["build", "lint"] { maker.add(name) }
    maker.add("ask") {
      $0.kind = .approve
      $0.demand = []
    }
    var journal = Journal(try maker.make())
    for name in ["build", "lint", "ask"] { journal.tell(.start, name) }
    journal.tell(.pause, "lint")
    let text = try text(journal.status(isHeld: true))
    #expect(
      text.contains("\n3 tasks: 1 running, 1 suspended, 1 waiting for approval\n"), "\(text)")
  }

  @Test func `a dead run has a command without --rerun only if that would run a task`() throws {
    for needs in [["build"], []] {
      var journal = Journal(
        try ViewFixture.plan(
          [("build", []), ("test", needs)], flags: ["build": .failWhenInterrupted]))
      journal.tell(.start, "build")
      let text = try text(journal.status(isHeld: false))
      let plain = needs.isEmpty ? "to continue: opflow resume r1\n" : ""
      let rerun = "to continue and run build again (on_interrupted: fail): opflow resume r1"
      #expect(text.hasSuffix("\n\n\(plain)\(rerun) --rerun build\n"), "\(text)")
    }
  }

  @Test func `json tells failures that are allowed from others`() throws {
    var journal = Journal(try ViewFixture.plan([("soft", []), ("hard", [])]))
    for task in ["soft", "hard"] {
      journal.tell(.start, task)
      journal.tell(.failure, task) {
        $0.outcome = Outcome(status: .exit(1))
        $0.allowed = task == "soft"
      }
    }
    let text = String(
      decoding: StatusJSON.text(try journal.status(isHeld: true), nowMilliseconds: 1) { _ in nil },
      as: UTF8.self)
    #expect(text.contains(#""failed":1,"failed_allowed":1,"#))
    #expect(text.contains(#"{"id":"soft","state":"failed","allowed":true,"attempts":1,"#))
    #expect(text.contains(#"{"id":"hard","state":"failed","attempts":1,"#))
  }

  @Test func `the time between two sessions does not count`() throws {
    var journal = try journal()
    journal.close(CloseEntry(state: .failed, exitCode: 1))
    journal.wait(86_400_000)
    journal.resume()
    journal.tell(.start, "test")
    journal.wait(2000)
    journal.tell(.success, "test")
    let status = try journal.status(isHeld: false)
    #expect(text(status).hasPrefix("run r1 (demo): interrupted after 3.5s in 2 sessions\n"))
    let runs = String(
      decoding: RunsView.text(
        [.run(status, manifest: "m")], nowMilliseconds: status.lastMilliseconds,
        color: false), as: UTF8.self)
    #expect(runs.contains(" 3.5s  1 day ago"), "\(runs)")
  }

  @Test func `a narrow terminal loses columns of the table of runs, and no cell is wrapped`() throws
  {
    let status = try journal().status(isHeld: false)
    for (columns, titles) in [
      (200, ["RUN", "NAME", "STATE", "DONE", "FAILED", "TIME", "STARTED", "MANIFEST"]),
      (40, ["RUN", "NAME", "STATE", "DONE", "FAILED"]), (20, ["RUN", "STATE"]),
    ] {
      let lines = String(
        decoding: RunsView.text(
          [.run(status, manifest: "a/long/way/to/opflow.yaml")], nowMilliseconds: 4500,
          color: false, columns: columns), as: UTF8.self
      ).split(separator: "\n")
      #expect(lines.allSatisfy { $0.count <= columns }, "\(lines)")
      #expect(lines[0].split(separator: " ").map(String.init) == titles, "\(columns)")
    }
  }

  @Test func `json escapes what names hold`() throws {
    var journal = Journal(try ViewFixture.plan([("a\"b\\c\u{1}é\n", [])]))
    journal.tell(.start, "a\"b\\c\u{1}é\n")
    let json = StatusJSON.text(try journal.status(isHeld: true), nowMilliseconds: 2500) { _ in nil }
    #expect(String(decoding: json, as: UTF8.self).contains(#""id":"a\"b\\c\u0001é\n","#))
  }

  @Test func `tasks that only leaves out are not counted`() throws {
    let plan = try journal().plan
    var included = TaskSet(taskCount: plan.taskCount)
    included.insert(TaskID(0))
    let all = try journal().status(isHeld: true)
    let status = RunStatus(
      run: "r1", plan: plan, history: all.history, included: included, isHeld: true)
    #expect(status.counts.total == 1)
    #expect(status.counts.succeeded == 1)
  }

  @Test func `runs are listed with what matters of each`() throws {
    let status = try journal().status(isHeld: false)
    let text = RunsView.text(
      [
        .run(status, manifest: "build.yaml"),
        .unreadable(run: "r0", complaint: "no first line"),
      ], nowMilliseconds: 7_201_000, color: false)
    #expect(
      String(decoding: text, as: UTF8.self) == """
        RUN  NAME  STATE        DONE  FAILED  TIME  STARTED      MANIFEST
        r1   demo  interrupted   3/5       1  1.5s  2 hours ago  build.yaml
        r0         damaged                                       no first line

        """)
  }
}
