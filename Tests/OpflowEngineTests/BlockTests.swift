import Fixtures
import Testing

@testable import OpflowEngine
@testable import OpflowJournal
@testable import OpflowPlan
@testable import OpflowWire

/// Tasks that programs do which offer them.
@Suite struct BlockTests {
  private static let one = ClientID(1)
  private static let two = ClientID(2)

  private func run(
    parallel: UInt64 = 4, maxFailures: Int = 0, _ fill: (inout PlanMaker) -> Void
  ) throws -> EngineHarness {
    var maker = PlanMaker()
    fill(&maker)
    return EngineHarness(try maker.make(), parallel: parallel, maxFailures: maxFailures)
  }

  private func block(_ task: inout PlanMaker.Task) { task.kind = .block }

  private func said(
    _ id: TaskID, _ attempt: Int32, _ status: OpflowPlan.ExitStatus, _ detail: String = ""
  ) -> ExternalTaskFact {
    .ended(id, attempt: attempt, Outcome(status: status), detail: detail)
  }

  @Test func `one that nobody offers waits, and starts when somebody does`() throws {
    var run = try run { $0.add("a", block) }
    #expect(run.started.isEmpty)
    #expect(run.close == nil)
    run.tell(.block(Self.one, .joined))
    #expect(run.started.isEmpty)
    run.tell(.block(Self.one, .offers(run.id("a"))))
    #expect(run.started == [.init(task: "a", attempt: 1)])
    #expect(run.toPrograms == [.run(run.id("a"), attempt: 1)])
    #expect(Array(run.slots.values) == [Self.one])
    run.tell(.block(Self.one, said(run.id("a"), 1, .success)))
    #expect(run.close?.state == .succeeded)
  }

  @Test func `an offer that is taken back does not count, and one of a command never does`() throws
  {
    var run = try run {
      $0.add("first")
      $0.add("a", needs: ["first"], block)
    }
    run.tell(.block(Self.one, .joined))
    run.tell(.block(Self.one, .offers(run.id("a"))))
    run.tell(.block(Self.one, .offers(run.id("first"))))
    run.tell(.block(Self.one, .retracts(run.id("a"))))
    run.settle()
    run.end("first")
    #expect(run.started.map(\.task) == ["first"])
    run.tell(.block(Self.one, .offers(run.id("a"))))
    #expect(run.started.map(\.task) == ["first", "a"])
  }

  @Test func `many are done at a time, as far as resources go, where fewest are`() throws {
    var run = try run(parallel: 3) {
      for name in ["a", "b", "c", "d"] { $0.add(name, block) }
    }
    for program in [Self.one, Self.two] {
      run.tell(.block(program, .joined))
      for name in ["a", "b", "c", "d"] { run.tell(.block(program, .offers(run.id(name)))) }
    }
    #expect(run.started.count == 3)
    #expect(run.slots.values.count { $0 == Self.one } == 3)
    run.tell(.block(Self.one, said(run.id("a"), 1, .success)))
    // The other program has none yet.
    #expect(run.started.count == 4)
    #expect(run.slots.values.count { $0 == Self.two } == 1)
  }

  @Test func `a program that goes costs its blocks no try, however often`() throws {
    var run = try run { $0.add("a", block) }
    for number in 1...6 {
      let program = ClientID(Int32(number))
      run.tell(.block(program, .joined))
      run.tell(.block(program, .offers(run.id("a"))))
      #expect(run.started.last == .init(task: "a", attempt: Int32(number)))
      run.tell(.block(program, .gone(complaint: "its client closed the connection")))
      #expect(run.journal.last?.event == .interrupt)
      #expect(run.journal.last?.outcome.reason == .workerLost)
      #expect(run.journal.last?.detail == "its client closed the connection")
    }
    #expect(run.state("a") == .ready)
    #expect(run.close == nil)
  }

  @Test func `one that is not to be run twice fails with its program`() throws {
    var run = try run {
      $0.add("a") {
        $0.kind = .block
        $0.flags = [.failWhenInterrupted]
      }
    }
    run.tell(.block(Self.one, .joined))
    run.tell(.block(Self.one, .offers(run.id("a"))))
    run.tell(.block(Self.one, .gone(complaint: "gone")))
    #expect(run.state("a") == .failed)
  }

  @Test func `one that comes back unstarted costs nothing, and is not sent there again`() throws {
    var run = try run { $0.add("a", block) }
    run.tell(.block(Self.one, .joined))
    run.tell(.block(Self.one, .offers(run.id("a"))))
    run.tell(.block(Self.one, .gaveBack(run.id("a"), attempt: 1)))
    #expect(run.journal.last?.outcome.reason == .revoked)
    #expect(run.started.count == 1)
    run.tell(.block(Self.two, .joined))
    run.tell(.block(Self.two, .offers(run.id("a"))))
    #expect(run.started.last == .init(task: "a", attempt: 1))
  }

  @Test func `what it throws is told, and it is tried again as any task`() throws {
    var run = try run {
      $0.add("a") {
        $0.kind = .block
        $0.policy.retryMax = 1
      }
    }
    run.tell(.block(Self.one, .joined))
    run.tell(.block(Self.one, .offers(run.id("a"))))
    run.tell(.block(Self.one, said(run.id("a"), 1, .exit(1), "no such user")))
    #expect(run.journal.last?.event == .retry)
    #expect(run.journal.last?.detail == "no such user")
    run.wait(milliseconds: 10_000)
    #expect(run.started.last == .init(task: "a", attempt: 2))
    // A word of the try before comes late.
    run.tell(.block(Self.one, said(run.id("a"), 1, .success)))
    #expect(run.state("a") == .running)
    run.tell(.block(Self.one, said(run.id("a"), 2, .success)))
    #expect(run.state("a") == .succeeded)
  }

  @Test func `its time is kept here: it is told to end, and has its end after its grace`() throws {
    var run = try run {
      $0.add("a") {
        $0.kind = .block
        $0.policy.timeoutMilliseconds = 1000
        $0.policy.stopGraceMilliseconds = 500
        $0.policy.retryMax = 1
        $0.policy.retryDelayMilliseconds = 0
      }
    }
    run.tell(.block(Self.one, .joined))
    run.tell(.block(Self.one, .offers(run.id("a"))))
    run.wait(milliseconds: 1001)
    #expect(run.toPrograms.last == .stop(run.id("a"), attempt: 1, reason: .timeOver))
    #expect(run.state("a") == .running)
    run.wait(milliseconds: 600)
    #expect(run.journal.last?.event == .retry)
    #expect(run.journal.last?.outcome.reason == .timeout)
    // The client still runs it, so no other client gets it, whatever it offers.
    run.tell(.block(Self.two, .joined))
    run.tell(.block(Self.two, .offers(run.id("a"))))
    run.wait(milliseconds: 60_000)
    #expect(run.started.count == 1)
    run.tell(.block(Self.one, said(run.id("a"), 1, .success)))
    #expect(run.started.count == 2)
  }

  @Test func `what lingers in a program is over with it`() throws {
    var run = try run {
      $0.add("a") {
        $0.kind = .block
        $0.policy.timeoutMilliseconds = 1000
        $0.policy.stopGraceMilliseconds = 0
        $0.policy.retryMax = 1
        $0.policy.retryDelayMilliseconds = 0
      }
    }
    for program in [Self.one, Self.two] {
      run.tell(.block(program, .joined))
      run.tell(.block(program, .offers(run.id("a"))))
    }
    run.wait(milliseconds: 2000)
    #expect(run.started.count == 1)
    run.tell(.block(Self.one, .gone(complaint: "gone")))
    #expect(run.started.count == 2)
    #expect(run.slots.values.contains(Self.two))
  }

  @Test(arguments: [(OpflowPlan.ExitStatus.success, TaskState.succeeded), (.exit(1), .cancelled)])
  func `one that is cancelled is told, and what ends well all the same has succeeded`(
    _ status: OpflowPlan.ExitStatus, _ state: TaskState
  ) throws {
    var run = try run { $0.add("a", block) }
    run.tell(.block(Self.one, .joined))
    run.tell(.block(Self.one, .offers(run.id("a"))))
    #expect(run.ask(.cancel, ["a"]) == .done(count: 1))
    #expect(run.toPrograms.last == .stop(run.id("a"), attempt: 1, reason: .cancel))
    run.tell(.block(Self.one, said(run.id("a"), 1, status)))
    #expect(run.state("a") == state)
  }

  @Test func `one that waits can be cancelled and skipped, and one that runs not be suspended`()
    throws
  {
    var run = try run { for name in ["a", "b", "c"] { $0.add(name, block) } }
    run.tell(.block(Self.one, .joined))
    run.tell(.block(Self.one, .offers(run.id("c"))))
    #expect(run.ask(.cancel, ["a"]) == .done(count: 1))
    #expect(run.ask(.skip, ["b"]) == .done(count: 1))
    #expect(
      run.ask(.suspend, ["c"])
        == .refused(
          detail: "c runs in the client that offered it; opflow cannot suspend it there"))
    run.tell(.block(Self.one, said(run.id("c"), 1, .success)))
    #expect(run.state("a") == .cancelled)
    #expect(run.state("b") == .skipped)
    #expect(run.close != nil)
  }

  @Test func `one that is held starts when it goes on, if it is offered then`() throws {
    var run = try run { $0.add("a", block) }
    #expect(run.ask(.suspend, ["a"]) == .done(count: 1))
    run.tell(.block(Self.one, .joined))
    run.tell(.block(Self.one, .offers(run.id("a"))))
    #expect(run.started.isEmpty)
    #expect(run.ask(.proceed, ["a"]) == .done(count: 1))
    #expect(run.started.count == 1)
  }

  @Test func `a stop ends a run that waits for programs alone`() throws {
    var run = try run { $0.add("a", block) }
    run.tell(.stop(.signal(15)))
    #expect(run.close?.state == .interrupted)
  }

  @Test func `a stop of a run that serves and waits for programs is an interrupt`() throws {
    var run = try run {
      $0.addService("stays")
      $0.add("a", block)
    }
    try run.becomeReady("stays")
    run.tell(.stop(.signal(15)))
    run.settle()
    #expect(run.close?.state == .interrupted)
  }

  @Test func `a stop ends what runs, at the latest after its grace`() throws {
    var run = try run {
      $0.add("a") {
        $0.kind = .block
        $0.policy.stopGraceMilliseconds = 300
      }
    }
    run.tell(.block(Self.one, .joined))
    run.tell(.block(Self.one, .offers(run.id("a"))))
    run.tell(.clientsGone)
    #expect(run.stops.map(\.detail) == [StopEntry.clientsGone])
    #expect(run.close == nil)
    run.wait(milliseconds: 301)
    #expect(run.state("a") == .cancelled)
    #expect(run.close?.state == .interrupted)
    run.tell(.clientsGone)
    #expect(run.stops.count == 1)
  }

  @Test func `what is added can be offered as well`() throws {
    var maker = PlanMaker()
    maker.add("a")
    var run = EngineHarness(try maker.make(), openness: .open)
    run.tell(.block(Self.one, .joined))
    run.tell(.block(Self.one, .offers(TaskID(1 as Int))))
    #expect(try run.add("more") { $0.add("b", block) } == .done(count: 1))
    #expect(!run.started.contains { $0.task == "b" })
    run.tell(.block(Self.one, .offers(run.id("b"))))
    #expect(run.started.contains { $0.task == "b" })
  }

  @Test func `a forecast takes them to be offered`() throws {
    var maker = PlanMaker()
    maker.add("a", block)
    maker.add("b", needs: ["a"], block)
    let plan = try maker.make()
    let forecast = RunForecast(
      plan: plan,
      options: SchedulerOptions(maxParallel: 1, memoryBytes: 0, maxFailures: 1, seed: 1),
      resumeState: ResumeState(
        initial: [.run, .run], attempts: [0, 0]))
    #expect(forecast.starts.map { plan.nameString($0) } == ["a", "b"])
  }
}

extension EngineHarness {
  fileprivate func id(_ name: String) -> TaskID { plan.task(named: name) ?? .none }
}
