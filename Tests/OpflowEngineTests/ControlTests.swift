import Fixtures
import OpflowEngine
import OpflowJournal
import OpflowPlan
import Testing

/// The effects of requests on a run, and the answers to requests that do not apply.
@Suite struct ControlTests {
  /// `a` needs nothing, `b` needs `a`, and so on; `x` and `y` need nothing.
  private static func run(
    parallel: UInt64 = 1, maxFailures: Int = 0, prefetches: Bool = false,
    _ change: (inout PlanMaker) -> Void = { _ in }
  ) throws -> EngineHarness {
    var maker = PlanMaker()
    maker.resources = [("db", 1)]
    maker.add("a")
    maker.add("b", needs: ["a"])
    maker.add("c", needs: ["b"])
    maker.add("x")
    maker.add("y")
    change(&maker)
    return EngineHarness(
      try maker.make(), parallel: parallel, maxFailures: maxFailures, prefetches: prefetches,
      expectedWall: prefetches ? 100 : nil)
  }

  // MARK: The run

  @Test func `a paused run starts no tasks until it is continued`() throws {
    var run = try Self.run()
    #expect(run.runningNames == ["a"])
    #expect(run.ask(.pause) == .done(count: 0))
    run.end("a")
    #expect(run.runningNames.isEmpty)
    #expect(run.close == nil)
    #expect(run.ask(.pause) == .refused(detail: "the run is already paused"))
    #expect(run.ask(.proceed) == .done(count: 0))
    #expect(run.runningNames == ["b"])
    #expect(run.ask(.proceed) == .refused(detail: "the run is not paused"))
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  @Test func `prefetched tasks come back when the run is paused`() throws {
    var run = try Self.run(prefetches: true)
    run.settle()
    run.end("a")
    #expect(run.ask(.pause) == .done(count: 0))
    run.settle()
    let name = try #require(run.runningNames.first)
    run.end(name)
    #expect(run.runningNames.isEmpty)
    #expect(run.close == nil)
  }

  @Test func `finally tasks of a paused run wait, and a run in which nothing waits ends`() throws {
    var run = try Self.run { $0.add("last") { $0.flags = .finally } }
    run.settle()
    #expect(run.ask(.pause) == .done(count: 0))
    #expect(run.ask(.cancel, ["b", "x", "y"]) == .done(count: 3))
    run.end("a")
    #expect(run.close == nil)
    #expect(run.runningNames.isEmpty)
    #expect(run.ask(.proceed) == .done(count: 0))
    #expect(run.runningNames == ["last"])

    var other = try Self.run()
    other.settle()
    #expect(other.ask(.pause) == .done(count: 0))
    #expect(other.ask(.cancel, ["b", "x", "y"]) == .done(count: 3))
    other.end("a")
    #expect(other.close?.exitCode == 6)
  }

  @Test func `a run that is cancelled stops as by a signal, with its own exit code`() throws {
    var run = try Self.run(parallel: 2)
    #expect(run.runningNames == ["a", "x"])
    #expect(run.ask(.cancel) == .done(count: 0))
    #expect(run.ask(.cancel) == .refused(detail: "the run is already stopping"))
    run.settle()
    #expect(run.close == CloseEntry(state: .cancelled, exitCode: 6))
    #expect(run.ask(.pause) == .refused(detail: "the run has ended"))
  }

  // MARK: Cancel

  @Test func `a task that runs ends by its stop rule, and what needs it is skipped`() throws {
    var run = try Self.run { $0.tasks[0].policy.retryMax = 3 }
    #expect(run.runningNames == ["a"])
    #expect(run.ask(.cancel, ["a"]) == .done(count: 1))
    #expect(run.ask(.cancel, ["a"]) == .refused(detail: "a is already being cancelled"))
    run.settle()
    #expect(run.state("a") == .cancelled)
    #expect(run.state("b") == .skipped)
    #expect(run.state("c") == .skipped)
    run.finish()
    #expect(run.close == CloseEntry(state: .cancelled, exitCode: 6))
  }

  @Test func `a cancelled task that fails by itself in that moment is not tried again`() throws {
    var run = try Self.run { $0.tasks[0].policy.retryMax = 3 }
    run.settle()
    let worker = try #require(run.running.first?.key)
    run.tell(.request(run.request(.cancel, ["a"]), from: ConnectionID(1)))
    run.end(worker, Outcome(status: .exit(1)))
    #expect(run.state("a") == .cancelled)
    #expect(run.journal.last { $0.task.rawValue == 0 }?.event == .cancel)
  }

  @Test func `one that succeeds in that moment has succeeded`() throws {
    var run = try Self.run()
    run.settle()
    let worker = try #require(run.running.first?.key)
    run.tell(.request(run.request(.cancel, ["a"]), from: ConnectionID(1)))
    run.end(worker, Outcome(status: .success))
    #expect(run.state("a") == .succeeded)
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  @Test func `a cancelled task whose worker is lost does not run again`() throws {
    var run = try Self.run()
    run.settle()
    let worker = try #require(run.running.first?.key)
    run.tell(.request(run.request(.cancel, ["a"]), from: ConnectionID(1)))
    run.bury(worker)
    #expect(run.state("a") == .cancelled)
    run.finish()
    #expect(!run.started.contains(.init(task: "a", attempt: 2)))
  }

  @Test func `pending tasks never start, and a retry's delay is not waited for`() throws {
    var run = try Self.run {
      $0.tasks[0].policy.retryMax = 1
      $0.tasks[0].policy.retryDelayMilliseconds = 1_000_000
    }
    run.end("a", exit: 1)
    #expect(run.ask(.cancel, ["a", "y"]) == .done(count: 2))
    #expect(run.obeyed.last?.tasks.count == 2)
    run.finish()
    #expect(run.close?.exitCode == 6)
    #expect(run.started == [.init(task: "a", attempt: 1), .init(task: "x", attempt: 1)])
  }

  // MARK: Which tasks

  @Test func `a task that is named must fit, one of many may be passed over`() throws {
    var run = try Self.run()
    run.end("a")
    #expect(run.ask(.cancel, ["a", "x"]) == .refused(detail: "a has already succeeded"))
    #expect(run.state("x") != .cancelled)
    #expect(run.ask(.cancel, among: ["a", "x"]) == .done(count: 1))
    #expect(run.state("x") == .cancelled)
    #expect(
      run.ask(.cancel, among: ["a", "x"])
        == .refused(detail: "a has already succeeded; 1 other task is refused as well"))
  }

  @Test func `a request for another attempt than the current one is refused`() throws {
    var run = try Self.run {
      $0.tasks[0].policy.retryMax = 1
      $0.tasks[0].policy.retryDelayMilliseconds = 10
      $0.tasks[0].priority = 1
    }
    run.end("a", exit: 1)
    run.wait(milliseconds: 1000)
    run.end("x")
    run.settle()
    var request = run.request(.cancel, ["a"])
    request.expects = 1
    run.tell(.request(request, from: ConnectionID(1)))
    #expect(run.answers.last == .refused(detail: "a is now at attempt 2, not 1"))
  }

  @Test func `a request that comes twice is done once and answered twice`() throws {
    var run = try Self.run()
    run.settle()
    let request = run.request(.skip, ["x"])
    run.tell(.request(request, from: ConnectionID(1)))
    run.tell(.request(request, from: ConnectionID(2)))
    #expect(run.answers == [.done(count: 1), .done(count: 1)])
    #expect(run.obeyed.count == 1)
  }

  @Test func `a request waits for prefetched tasks, and no other request overtakes it`() throws {
    var run = try Self.run(prefetches: true) {
      for index in 0..<4 { $0.add("z\(index)") }
    }
    run.settle()
    run.end("a")
    let prefetched = try #require(run.ahead.values.lazy.flatMap { $0 }.first)
    let name = run.plan.nameString(prefetched.0)
    run.tell(.request(run.request(.skip, [name]), from: ConnectionID(1)))
    run.tell(.request(run.request(.pause, []), from: ConnectionID(2)))
    #expect(run.answers.isEmpty)
    run.obeyAll()
    #expect(run.answers == [.done(count: 1), .done(count: 0)])
    #expect(run.state(name) == .skipped)
  }

  // MARK: Suspend

  @Test func `a suspended task stops until it is continued, and its worker gets no other task`()
    throws
  {
    var run = try Self.run(prefetches: true)
    #expect(run.runningNames == ["a"])
    #expect(run.ask(.suspend, ["a"]) == .done(count: 1))
    #expect(run.state("a") == .suspended)
    #expect(run.ask(.suspend, ["a"]) == .refused(detail: "a is already suspended"))
    #expect(run.ask(.skip, ["a"]) == .refused(detail: "a is running (attempt 1)"))
    // A signal to the whole run is another thing.
    run.tell(.suspend)
    run.tell(.proceed)
    #expect(run.state("a") == .suspended)
    #expect(run.ask(.proceed, ["a"]) == .done(count: 1))
    #expect(run.state("a") == .running)
    #expect(run.ask(.proceed, ["a"]) == .refused(detail: "a is not suspended"))
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  @Test func `a pending task is held, and the run with it`() throws {
    var run = try Self.run()
    run.settle()
    #expect(run.ask(.suspend, ["y"]) == .done(count: 1))
    for name in ["a", "b", "c", "x"] { run.end(name) }
    #expect(run.runningNames.isEmpty)
    #expect(run.close == nil)
    #expect(run.ask(.proceed, ["y"]) == .done(count: 1))
    #expect(run.runningNames == ["y"])
  }

  @Test func `the timeout of a suspended task stops, too`() throws {
    var run = try Self.run { $0.tasks[0].policy.timeoutMilliseconds = 1000 }
    run.settle()
    let worker = try #require(run.running.first?.key)
    run.tell(.started(worker, TaskID(0), attempt: 1))
    #expect(run.ask(.suspend, ["a"]) == .done(count: 1))
    run.wait(milliseconds: 1_000_000)
    #expect(run.dying.isEmpty)
    #expect(run.ask(.proceed, ["a"]) == .done(count: 1))
    run.wait(milliseconds: 60_000)
    #expect(!run.dying.isEmpty)
  }

  // MARK: Priority and capacity

  @Test func `a priority changes what starts next`() throws {
    var run = try Self.run()
    run.settle()
    #expect(run.ask(.priority, ["y"], value: .number(3)) == .done(count: 1))
    run.end("a")
    #expect(run.runningNames == ["y"])
  }

  @Test func `capacities change, and cpu cannot be none`() throws {
    var run = try Self.run { $0.tasks[3].demand = [(0, 1), (3, 1)] }
    run.settle()
    #expect(run.ask(.parallel, value: .capacity(resource: 3, 0)) == .done(count: 0))
    #expect(run.obeyed.last?.carried.resource == "db")
    #expect(
      run.ask(.parallel, value: .capacity(resource: 0, 0))
        == .refused(
          detail: "the limit of cpu cannot be 0; to start no more tasks, use `opflow pause`"))
    #expect(
      run.ask(.parallel, value: .capacity(resource: 9, 1))
        == .refused(detail: "the run has no such resource"))
    for name in ["a", "b", "c", "y"] { run.end(name) }
    #expect(run.runningNames.isEmpty)
    #expect(run.ask(.parallel, value: .capacity(resource: 3, 1)) == .done(count: 0))
    #expect(run.runningNames == ["x"])
  }

  @Test func `a lowered capacity drains despite prefetched short tasks`() throws {
    var run = try Self.run(parallel: 2, prefetches: true) {
      for index in 0..<40 { $0.add("z\(index)") }
    }
    for _ in 0..<6 { run.end(try #require(run.runningNames.first)) }
    #expect(run.ask(.parallel, value: .capacity(resource: 0, 1)) == .done(count: 0))
    run.settle()
    run.end(try #require(run.runningNames.first))
    #expect(run.runningNames.count == 1)
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  // MARK: Skip

  @Test func `what is skipped counts as done for what needs it`() throws {
    var run = try Self.run()
    run.settle()
    #expect(run.ask(.skip, ["b"]) == .done(count: 1))
    run.end("a")
    #expect(run.state("c") == .ready || run.state("c") == .running)
    run.finish()
    #expect(run.close?.exitCode == 0)
    #expect(!run.started.contains(.init(task: "b", attempt: 1)))
  }

  // MARK: Retry

  @Test func `a failed task runs again, and its skipped dependents wait again`() throws {
    var run = try Self.run(maxFailures: 2)
    run.end("a", exit: 1)
    #expect(run.state("c") == .skipped)
    #expect(
      run.ask(.retry, ["b"])
        == .refused(detail: "b was skipped because of a; retry that instead"))
    #expect(run.ask(.retry, ["a"]) == .done(count: 1))
    let back = run.obeyed.last?.back.map { run.plan.nameString($0) }
    #expect(back == ["b", "c"])
    run.finish()
    #expect(run.close?.exitCode == 0)
    #expect(run.started.contains(.init(task: "a", attempt: 2)))
    #expect(run.started.contains(.init(task: "c", attempt: 1)))
  }

  @Test func `what the limit of failures held back goes on`() throws {
    var run = try Self.run(parallel: 2, maxFailures: 1) { $0.add("z") }
    #expect(run.runningNames == ["a", "x"])
    run.end("a", exit: 1)
    #expect(run.runningNames == ["x"])
    #expect(run.ask(.retry, ["a"]) == .done(count: 1))
    #expect(run.runningNames == ["a", "x"])
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  @Test func `tasks that ran after the failure stay, and tasks that wait for it wait again`() throws
  {
    var run = try Self.run(parallel: 4) {
      $0.add("mend", needs: ["a"], on: .failure)
      $0.add("report", needs: ["a", "x"], on: .finished)
    }
    run.end("a", exit: 1)
    run.end("mend")
    #expect(run.state("report") == .waiting)
    #expect(run.ask(.retry, ["a"]) == .done(count: 1))
    for name in ["a", "b", "c"] { run.end(name) }
    #expect(run.started.filter { $0.task == "mend" }.count == 1)
    run.finish()
    #expect(run.state("report") == .succeeded)
    #expect(run.close?.exitCode == 0)
  }

  @Test func `a cancelled task is tried again, with attempts of its own`() throws {
    var run = try Self.run { $0.tasks[0].policy.retryMax = 1 }
    run.settle()
    #expect(run.ask(.cancel, ["a"]) == .done(count: 1))
    run.settle()
    #expect(run.ask(.retry, ["a"]) == .done(count: 1))
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  @Test func `a retry of a task that waits for its next attempt is refused`() throws {
    var run = try Self.run()
    run.end("a", exit: 1)
    #expect(run.ask(.retry, ["a"]) == .done(count: 1))
    #expect(run.ask(.retry, ["a"]) == .refused(detail: "a already waits for its next attempt"))
  }

  @Test(arguments: [nil, ["last"], ["a", "b", "c", "x", "y", "last"]])
  func `a stop leads to the finally tasks of a run that is held`(suspended: [String]?) throws {
    var run = try Self.run { $0.add("last") { $0.flags = .finally } }
    run.settle()
    if let suspended {
      #expect(run.ask(.suspend, suspended) == .done(count: suspended.count))
    } else {
      #expect(run.ask(.pause) == .done(count: 0))
    }
    #expect(run.ask(.cancel) == .done(count: 0))
    run.finish()
    #expect(run.close?.exitCode == 6)
    #expect(run.state("last") == .succeeded)
  }

  @Test func `the refusal for a skipped task names the task to retry`() throws {
    var run = try Self.run()
    run.end("a", exit: 1)
    #expect(
      run.ask(.retry, ["c"]) == .refused(detail: "c was skipped because of a; retry that instead"))
    #expect(run.ask(.retry, ["c", "a", "b"]) == .done(count: 1))
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  @Test func `an allowed failure that others built on stays`() throws {
    var run = try Self.run { $0.tasks[0].flags = .allowAnyFailure }
    run.end("a", exit: 1)
    #expect(run.runningNames == ["b"])
    #expect(
      run.ask(.retry, ["a"])
        == .refused(
          detail: "a has failed (allowed), and its dependent b has started;"
            + " to re-run both after this run: opflow resume --rerun a"))
  }

  @Test func `nothing is tried again once the finally tasks have begun`() throws {
    var run = try Self.run(parallel: 4) { $0.add("last") { $0.flags = .finally } }
    run.end("a", exit: 1)
    for name in ["x", "y"] { run.end(name) }
    #expect(run.runningNames == ["last"])
    #expect(
      run.ask(.retry, ["a"])
        == .refused(
          detail: "the `finally` tasks have started; after them, `opflow resume` re-runs failed"
            + " tasks"))
  }

  // MARK: The journal

  @Test func `the request's line comes before what follows from it, and the answer after`() throws {
    var maker = PlanMaker()
    maker.add("a")
    maker.add("b", needs: ["a"])
    let plan = try maker.make()
    var engine = Engine(
      plan: plan,
      options: SchedulerOptions(maxParallel: 1, memoryBytes: 1 << 30, maxFailures: 1, seed: 1),
      resumeState: ResumeState(initial: [.run, .run], attempts: [0, 0]), journal: JournalEncoder())
    let now = Instant(nanoseconds: 0)
    engine.begin(at: now, wall: 1)
    var request = ControlRequest(
      id: try #require(RequestID("o1")),
      requester: Requester(pid: 7, user: 3, name: "opflow cancel"),
      verb: .cancel)
    request.tasks = [TaskID(0)]
    engine.handle(.scheduler(.request(request, from: ConnectionID(5))), at: now, wall: 2)
    var words: [String] = []
    while let step = engine.next(at: now) {
      switch step {
      case .tell(.request): words.append("request")
      case .tell(.transition(let line)): words.append(line.event.kind.word.description)
      case .write:
        words.append("write")
        engine.handle(.wrote, at: now, wall: 2)
      case .answer(let connection, _, let answer): words.append("\(connection.rawValue) \(answer)")
      default: break
      }
    }
    #expect(words.prefix(4) == ["request", "skip", "write", "5 done(count: 1)"])
  }

  @Test func `a request's line is read as it was written, and holds in the fold`() throws {
    var maker = PlanMaker()
    for name in ["a", "b\tc", "d"] { maker.add(name) }
    let plan = try maker.make()
    var entry = RequestEntry(
      id: try #require(RequestID("x-1")), verb: .skip,
      requester: Requester(pid: 12, user: 1000, name: "task a\nb"))
    entry.tasks = [TaskID(1), TaskID(2)]
    var held = RequestEntry(
      id: try #require(RequestID("x-2")), verb: .suspend, requester: entry.requester)
    held.tasks = [TaskID(0)]
    var urgent = RequestEntry(
      id: try #require(RequestID("x-3")), verb: .priority, requester: entry.requester)
    urgent.tasks = [TaskID(0)]
    urgent.carried.number = -7
    urgent.expects = 2
    var encoder = JournalEncoder()
    encoder.append(
      .open(
        OpenEntry(run: "r", planKey: "0", opflowVersion: "0", manifestPath: "/m", folder: "/")),
      at: 1, plan: plan)
    for request in [entry, held, urgent] { encoder.append(.request(request), at: 2, plan: plan) }
    try encoder.bytes.withUnsafeBytes { bytes in
      var reader = try JournalReader(bytes)
      var read: [JournalEntry] = []
      while let line = reader.next() {
        if let entry = line.entry(plan: plan) { read.append(entry) }
      }
      #expect(read.dropFirst() == [.request(entry), .request(held), .request(urgent)])
      let model = try RunModel.read(bytes, plan: plan).history
      #expect(model[TaskID(1)].state == .skipped)
      #expect(model[TaskID(1)].why == .skipped(.request))
      #expect(model.requests.of(TaskID(0), .suspend) != nil)
      #expect(model.requests.priorities == [TaskID(0): -7])
      #expect(model.requests.counts.count == 3)
      let decision = ResumeDecision(plan: plan, history: model)
      #expect(decision[TaskID(1)] == .keep(.skipped, .request))
      #expect(decision[TaskID(0)] == .run(.new))
    }
  }
}
