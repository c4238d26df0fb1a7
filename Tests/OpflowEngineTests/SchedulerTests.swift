import Fixtures
import OpflowEngine
import OpflowJournal
import OpflowPlan
import Testing

@Suite("Scheduler")
struct SchedulerTests {
  func plan(_ fill: (inout PlanMaker) -> Void) throws -> Plan {
    var maker = PlanMaker()
    fill(&maker)
    return try maker.make()
  }

  @Test func `a diamond runs its sides between its top and its bottom`() throws {
    var run = EngineHarness(
      try plan {
        $0.add("top")
        $0.add("left", needs: ["top"])
        $0.add("right", needs: ["top"])
        $0.add("bottom", needs: ["left", "right"])
      })
    #expect(run.runningNames == ["top"])
    run.end("top")
    #expect(run.runningNames == ["left", "right"])
    run.end("right")
    #expect(run.runningNames == ["left"])
    run.end("left")
    #expect(run.runningNames == ["bottom"])
    run.end("bottom")
    #expect(run.close == CloseEntry(state: .succeeded, exitCode: 0))
  }

  @Test func `an empty session finishes at once`() throws {
    let plan = try plan { $0.add("a") }
    let run = EngineHarness(plan, initial: [.succeeded])
    #expect(run.close == CloseEntry(state: .succeeded, exitCode: 0))
    #expect(run.journal.isEmpty)
  }

  @Test func `priority, then the longest path, then the order of the file decides who goes first`()
    throws
  {
    var run = EngineHarness(
      try plan {
        $0.add("plain")
        $0.add("head")
        $0.add("tail", needs: ["head"])
        $0.add("low") { $0.priority = -4 }
        $0.add("high") { $0.priority = 4 }
        $0.add("plain2")
      }, parallel: 1)
    run.finish()
    #expect(run.order == ["high", "head", "plain", "tail", "plain2", "low"])
  }

  @Test func `a task is as urgent as what waits for it`() throws {
    var run = EngineHarness(
      try plan {
        $0.add("a")
        $0.add("b")
        $0.add("urgent", needs: ["b"]) { $0.priority = 8 }
      }, parallel: 1)
    run.finish()
    #expect(run.order == ["b", "urgent", "a"])
  }

  @Test func `a failure skips what needs it, all the way down, and holds back the rest`() throws {
    var run = EngineHarness(
      try plan {
        $0.add("a")
        $0.add("b", needs: ["a"])
        $0.add("c", needs: ["b"])
        $0.add("other") { $0.priority = -1 }
      }, parallel: 1)
    run.end("a", exit: 2)
    #expect(run.close == CloseEntry(state: .failed, exitCode: 1))
    #expect(run.state("b") == .skipped)
    #expect(run.state("c") == .skipped)
    #expect(run.state("other") == .ready)
    let skips: [TransitionEvent] = run.journal.map(\.event).filter { $0.kind == .skip }
    let because: [TransitionEvent] = [.skip(.upstream(TaskID(0))), .skip(.upstream(TaskID(1)))]
    #expect(skips == because)
  }

  @Test func `with no limit on failures all that does not depend on one goes on`() throws {
    var run = EngineHarness(
      try plan {
        $0.add("a")
        $0.add("b", needs: ["a"])
        $0.add("other")
        $0.add("last", needs: ["other"])
      }, maxFailures: 0)
    run.finish { name, _ in Outcome(status: .exit(name == "a" ? 1 : 0)) }
    #expect(run.order == ["a", "other", "last"])
    #expect(run.close?.exitCode == 1)
  }

  @Test func `needs on failure and on any end are met by just that`() throws {
    var run = EngineHarness(
      try plan {
        $0.add("good")
        $0.add("bad")
        $0.add("afterGoodFailed", needs: ["good"], on: .failure)
        $0.add("afterBadFailed", needs: ["bad"], on: .failure)
        $0.add("afterBad", needs: ["bad"], on: .finished)
        $0.add("afterSkip", needs: ["afterGoodFailed"], on: .finished)
        $0.add("afterSkipSuccess", needs: ["afterGoodFailed"])
      }, parallel: 1)
    run.finish { name, _ in Outcome(status: .exit(name == "bad" ? 1 : 0)) }
    #expect(run.state("afterGoodFailed") == .skipped)
    #expect(run.state("afterBadFailed") == .succeeded)
    #expect(run.state("afterBad") == .succeeded)
    #expect(run.state("afterSkipSuccess") == .skipped)
  }

  @Test func `what a failure's handler needs is not held back by max_failures`() throws {
    var run = EngineHarness(
      try plan {
        $0.add("bad") { $0.priority = 9 }
        $0.add("tool") { $0.priority = -5 }
        $0.add("unrelated")
        $0.add("handler") {
          $0.needs = [("bad", .failure), ("tool", .success)]
          $0.priority = -5
        }
      }, parallel: 1)
    run.finish { name, _ in Outcome(status: .exit(name == "bad" ? 1 : 0)) }
    #expect(run.order == ["bad", "tool", "handler"])
    #expect(run.state("unrelated") == .ready)
  }

  @Test func `a failed try comes back after its delay, as often as the policy says`() throws {
    var run = EngineHarness(
      try plan {
        $0.add("flaky") {
          $0.policy = TaskPolicy(retryMax: 2, retryDelayMilliseconds: 100, retryJitterPermille: 0)
        }
      })
    run.end("flaky", exit: 1)
    #expect(run.runningNames == [])
    #expect(run.own.nextWake == Instant(nanoseconds: 100_000_000))
    run.finish { _, attempt in Outcome(status: .exit(attempt < 3 ? 1 : 0)) }
    #expect(run.started.map(\.attempt) == [1, 2, 3])
    #expect(run.journal.filter { $0.event == .retry }.map(\.delayMilliseconds) == [100, 200])
    #expect(run.close?.exitCode == 0)
  }

  @Test func `only the exit codes named are retried; timeouts and signals are then final`() throws {
    for (outcome, tries) in [
      (Outcome(status: .exit(75)), 3), (Outcome(status: .exit(1)), 1),
      (Outcome(status: .signal(9)), 1), (Outcome(status: .signal(15), reason: .timeout), 1),
    ] {
      var run = EngineHarness(
        try plan {
          $0.add("a") {
            $0.policy = TaskPolicy(retryMax: 2)
            $0.retryCodes = [75]
          }
        })
      run.finish { _, _ in outcome }
      #expect(run.started.count == tries, "\(outcome)")
    }
  }

  @Test func `an allowed failure neither fails the run nor counts, and its dependents run`() throws
  {
    var run = EngineHarness(
      try plan {
        $0.add("any") { $0.flags = .allowAnyFailure }
        $0.add("two") { $0.allowed = [2] }
        $0.add("next", needs: ["any", "two"])
      })
    run.finish { name, _ in Outcome(status: .exit(name == "next" ? 0 : 2)) }
    #expect(run.order.last == "next")
    #expect(run.close?.exitCode == 0)
    #expect(run.state("any") == .failedAllowed)
  }

  @Test func `resources are never exceeded and small tasks do not starve a large one`() throws {
    var run = EngineHarness(
      try plan {
        $0.add("small1")
        $0.add("small2")
        $0.add("large") { $0.demand = [(0, 2)] }
        for index in 3..<10 { $0.add("small\(index)") }
      })
    #expect(run.runningNames == ["small1", "small2"])
    run.end("small1")
    #expect(run.runningNames == ["small2"])
    run.end("small2")
    #expect(run.runningNames == ["large"])
  }

  @Test func `what a large task does not want is free for others while it waits`() throws {
    var run = EngineHarness(
      try plan {
        $0.resources = [("db", 1)]
        $0.add("user") { $0.demand = [(0, 1), (3, 1)] }
        $0.add("waits") { $0.demand = [(3, 1)] }
        $0.add("free")
      })
    #expect(run.runningNames == ["free", "user"])
  }

  @Test func `finally tasks run after all others, also after a failure, and see how it went`()
    throws
  {
    var run = EngineHarness(
      try plan {
        $0.add("cleanup") { $0.flags = .finally }
        $0.add("work")
        $0.add("never", needs: ["work"])
      })
    #expect(run.runningNames == ["work"])
    run.end("work", exit: 1)
    #expect(run.runningNames == ["cleanup"])
    run.end("cleanup")
    #expect(run.close?.exitCode == 1)
  }

  @Test func `a stop ends what runs, starts nothing new, and lets finally tasks run`() throws {
    var run = EngineHarness(
      try plan {
        $0.add("a")
        $0.add("b", needs: ["a"])
        $0.add("cleanup") { $0.flags = .finally }
      })
    run.settle()
    run.tell(.stop(.signal(2)))
    run.finish()
    #expect(run.order == ["a", "cleanup"])
    #expect(run.state("a") == .cancelled)
    #expect(run.state("b") == .waiting)
    #expect(run.close == CloseEntry(state: .interrupted, exitCode: 130, signal: 2))
  }

  @Test(arguments: [OpflowPlan.ExitStatus.signal(15), .exit(143)])
  func `who stops a run by a signal to all its processes has its tasks cancelled`(
    _ status: OpflowPlan.ExitStatus
  ) throws {
    var run = EngineHarness(
      try plan {
        $0.add("a") { $0.policy.retryMax = 3 }
        $0.add("cleanup") { $0.flags = .finally }
      })
    run.settle()
    let worker = try #require(run.running.keys.first)
    run.tell(.stop(.signal(15)))
    run.end(worker, Outcome(status: status))
    run.settle()
    #expect(run.state("a") == .cancelled)
    // That one is there because of the stop: what ends it is another matter.
    run.end(try #require(run.running.keys.first), Outcome(status: status))
    run.settle()
    #expect(run.state("cleanup") == .failed)
    #expect(run.close == CloseEntry(state: .interrupted, exitCode: 143, signal: 15))
  }

  @Test(arguments: [OpflowPlan.ExitStatus.signal(2), .signal(9), .exit(1)])
  func `what ends otherwise as the run is stopped by a signal has failed`(
    _ status: OpflowPlan.ExitStatus
  ) throws {
    var run = EngineHarness(try plan { $0.add("a") })
    run.settle()
    let worker = try #require(run.running.keys.first)
    run.tell(.stop(.signal(15)))
    run.end(worker, Outcome(status: status))
    #expect(run.state("a") == .failed)
  }

  @Test(arguments: [ControlAction.cancel, .skip])
  func `a finally task waits for another one whatever a request does with what never ran`(
    _ verb: ControlAction
  ) throws {
    var run = EngineHarness(
      try plan {
        $0.add("work")
        $0.add("never", needs: ["work"])
        $0.add("first") { $0.flags = .finally }
        $0.add("last") {
          $0.needs = [("never", .finished), ("first", .success)]
          $0.flags = .finally
        }
      })
    run.settle()
    run.tell(.stop(.signal(2)))
    #expect(run.runningNames == ["first"])
    let requester = Requester(pid: 1, user: 0, name: "opflow")
    var request = ControlRequest(id: try #require(RequestID("1")), requester: requester, verb: verb)
    request.tasks = [try #require(run.plan.task(named: "never"))]
    run.tell(.request(request, from: ConnectionID(1)))
    #expect(run.runningNames == ["first"])
    run.end("first")
    #expect(run.runningNames == ["last"])
  }

  @Test func `a kill ends everything and nothing more runs`() throws {
    var run = EngineHarness(
      try plan {
        $0.add("a")
        $0.add("cleanup") { $0.flags = .finally }
      })
    run.settle()
    run.tell(.stop(.signal(15)))
    run.tell(.kill)
    run.settle()
    run.finish()
    #expect(run.order == ["a"])
    #expect(run.close?.exitCode == 143)
  }

  @Test func `a lost worker is replaced and its task runs again, three times at most`() throws {
    var run = EngineHarness(try plan { $0.add("a") })
    for loss in 1...4 {
      run.settle()
      guard let worker = run.running.keys.first else {
        Issue.record("loss \(loss): no task is running")
        return
      }
      run.running[worker] = nil
      run.tell(.workerLost(worker, complaint: "killed"))
    }
    #expect(run.started.map(\.attempt) == [1, 2, 3, 4])
    #expect(run.close?.exitCode == 1)
    #expect(run.journal.last?.outcome.reason == .workerLost)
  }

  @Test func `a task that must not run twice fails when its worker is lost`() throws {
    var run = EngineHarness(try plan { $0.add("a") { $0.flags = .failWhenInterrupted } })
    run.settle()
    if let worker = run.running.keys.first { run.tell(.workerLost(worker, complaint: "killed")) }
    #expect(run.started.count == 1)
    #expect(run.state("a") == .failed)
  }

  @Test func `three workers that say no hello fail their tasks with the complaint`() throws {
    var run = EngineHarness(try plan { $0.add("a") })
    for _ in 1...3 {
      guard let worker = run.launched.popLast() else { break }
      run.tell(.workerLost(worker, complaint: "no such program"))
    }
    #expect(run.close?.exitCode == 1)
    #expect(run.journal.last?.detail == "no such program")
    #expect(run.started.isEmpty)
  }

  @Test func `where no further worker can be had the run goes on with those that live`() throws {
    var run = EngineHarness(try plan { for index in 0..<6 { $0.add("t\(index)") } }, parallel: 3)
    let last = run.launched.removeLast()
    run.tell(.launchFailed(last, complaint: "EAGAIN"))
    run.finish()
    #expect(run.started.count == 6)
    #expect(run.close?.exitCode == 0)
  }

  @Test func `a worker that speaks of a task it does not hold is discarded`() throws {
    var run = EngineHarness(
      try plan {
        $0.add("a")
        $0.add("b")
      }, parallel: 1)
    run.settle()
    guard let worker = run.running.keys.first else { return }
    run.tell(.ended(worker, TaskID(1), attempt: 1, Outcome(status: .success)))
    #expect(run.state("b") == .ready || run.state("b") == .waiting)
    run.finish()
    #expect(run.state("a") == .succeeded)
    #expect(run.state("b") == .succeeded)
  }

  @Test func `suspended tasks go on, and nothing starts meanwhile`() throws {
    var run = EngineHarness(
      try plan {
        $0.add("a")
        $0.add("b", needs: ["a"])
      })
    run.settle()
    run.tell(.suspend)
    #expect(run.state("a") == .suspended)
    run.end("a")
    #expect(run.runningNames == [])
    run.tell(.proceed)
    #expect(run.runningNames == ["b"])
  }

  @Test
  func `settled results of an earlier session meet needs; excluded tasks are no part of the run`()
    throws
  {
    let plan = try plan {
      $0.add("done")
      $0.add("next", needs: ["done"])
      $0.add("skipped")
      $0.add("afterSkipped", needs: ["skipped"])
      $0.add("excluded")
      $0.add("broken")
      $0.add("afterBroken", needs: ["broken"])
    }
    var run = EngineHarness(
      plan, maxFailures: 0,
      initial: [.succeeded, .run, .skipOption, .run, .excluded, .interrupted, .run])
    run.finish()
    #expect(Set(run.order) == ["next", "afterSkipped"])
    #expect(run.state("broken") == .failed)
    #expect(run.state("afterBroken") == .skipped)
  }

  @Test func `a chain of a hundred thousand needs no deep stack`() throws {
    let plan = try plan {
      $0.add("t0")
      for index in 1..<100_000 { $0.add("t\(index)", needs: ["t\(index - 1)"]) }
    }
    var options = SchedulerOptions(maxParallel: 1, memoryBytes: 1, maxFailures: 0, seed: 1)
    options.prefetches = false
    var engine = Engine(
      plan: plan, options: options,
      resumeState: ResumeState(
        initial: .init(repeating: .run, count: plan.taskCount),
        attempts: .init(repeating: 0, count: plan.taskCount)),
      journal: nil)
    let now = Instant(nanoseconds: 0)
    engine.begin(at: now, wall: 0)
    engine.handle(.scheduler(.workerReady(WorkerID(0))), at: now, wall: 0)
    engine.handle(
      .scheduler(.ended(WorkerID(0), TaskID(0), attempt: 1, Outcome(status: .exit(1)))), at: now,
      wall: 0)
    var last: EngineStep?
    while let step = engine.next(at: now) { last = step }
    #expect(last == .finish(CloseEntry(state: .failed, exitCode: 1)))
    let end = engine.state(TaskID(99_999))
    #expect(end == .skipped)
  }
}
