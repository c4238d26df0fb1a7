import Fixtures
import OpflowEngine
import OpflowJournal
import OpflowPlan
import OpflowWire
import Testing

/// Ends that few runs come to: workers that never come up, a journal that fails between two
/// messages.
@Suite("Scheduler without workers or journal")
struct SchedulerLossTests {
  func plan(_ fill: (inout PlanMaker) -> Void) throws -> Plan {
    var maker = PlanMaker()
    fill(&maker)
    return try maker.make()
  }

  @Test func `tasks that become ready as others fail for want of workers fail in their turn`()
    throws
  {
    var run = EngineHarness(
      try plan {
        $0.add("a")
        $0.add("b", needs: ["a"], on: .failure)
        $0.add("c", needs: ["b"], on: .failure)
        $0.add("d", needs: ["c"], on: .failure)
      }, maxFailures: 0)
    for _ in 0..<3 {
      let last = run.launched.removeLast()
      run.tell(.workerLost(last, complaint: "no libyaml"))
    }
    #expect(["a", "b", "c", "d"].allSatisfy { run.state($0) == .failed })
    #expect(run.close?.exitCode == 1)
  }

  @Test func `a retry that max_failures withheld goes on when another failure frees it`() throws {
    var run = EngineHarness(
      try plan {
        $0.add("flaky") { $0.policy = TaskPolicy(retryMax: 1, retryJitterPermille: 0) }
        $0.add("first")
        $0.add("second")
        $0.add("rescue", needs: ["flaky"]) { $0.needs.append(("second", .failure)) }
      }, parallel: 3, maxFailures: 1)
    run.end("flaky", exit: 1)
    run.end("first", exit: 1)
    run.end("second", exit: 1)
    run.finish()
    #expect(run.state("flaky") == .succeeded)
    #expect(run.state("rescue") == .succeeded)
  }

  @Test func `messages that were not sent are taken back in reverse, and nothing starts again`()
    throws
  {
    let plan = try plan {
      for index in 0..<30 { $0.add("t\(index)") }
    }
    var run = EngineHarness(plan, parallel: 1, prefetches: true)
    while run.inbox.values.allSatisfy({ $0.count < 2 }), run.close == nil {
      if !run.launched.isEmpty {
        run.tell(.workerReady(run.launched.removeFirst()))
      } else if let worker = run.running.keys.first, run.inbox[worker]?.isEmpty ?? true {
        var outcome = Outcome(status: .success)
        outcome.usage.wallMicroseconds = 100
        run.end(worker, outcome)
      } else if let (worker, messages) = run.inbox.first(where: { !$0.value.isEmpty }) {
        run.inbox[worker] = Array(messages.dropFirst())
        run.apply(worker, messages[0])
      }
    }
    let (worker, messages) = try #require(run.inbox.first { $0.value.count == 2 })
    let starts = run.started.count
    run.tell(.stop(.ioError))
    for message in messages.reversed() {
      guard let (task, attempt) = message.start else { continue }
      run.tell(.revoked(worker, task, attempt: attempt))
    }
    #expect(run.started.count == starts)
    #expect(run.close?.exitCode == 74)
  }

  @Test func `a task given back before the prefetched one behind it is a breach`() throws {
    var run = EngineHarness(
      try plan {
        $0.add("a")
        $0.add("b")
      }, parallel: 1)
    #expect(run.runningNames == ["a"])
    let worker = try #require(run.running.keys.first)
    run.tell(.revoked(worker, TaskID(1), attempt: 1))
    #expect(run.dying == [worker])
    run.bury(worker)
    #expect(run.journal.last?.outcome.reason != .revoked)
  }

  @Test
  func `a task whose worker lies starts nowhere else before that worker and its tree are gone`()
    throws
  {
    var run = EngineHarness(
      try plan {
        $0.add("a")
        $0.add("b")
      }, parallel: 2)
    run.settle()
    let liar = try #require(run.running.first { run.plan.nameString($0.value.0) == "a" }?.key)
    let other = try #require(run.running.keys.first { $0 != liar })
    run.tell(.ended(liar, TaskID(1), attempt: 1, Outcome(status: .success)))
    #expect(run.dying == [liar])
    // A free worker, and the liar's own last words, change nothing.
    run.end(other, Outcome(status: .success))
    run.tell(.ended(liar, TaskID(0), attempt: 1, Outcome(status: .success)))
    run.tell(.workerReady(liar))
    run.tell(.timer)
    #expect(run.dying == [liar])
    #expect(run.started.count == 2)
    #expect(run.state("a") == .running)
    run.finish()
    #expect(run.started.last == EngineHarness.Try(task: "a", attempt: 2))
    let detail = "which it does not have"
    #expect(run.journal.contains { $0.event == .interrupt && $0.detail.hasSuffix(detail) })
    #expect(run.close?.exitCode == 0)
  }

  @Test func `a task that does not end after a stop stays held until its worker's tree is gone`()
    throws
  {
    var run = EngineHarness(try plan { $0.add("a") }, parallel: 1)
    run.settle()
    run.tell(.stop(.request))
    while run.dying.isEmpty, let wake = run.engine.nextWake {
      run.now = wake
      run.tell(.timer)
      for worker in run.running.keys { run.tell(.heard(worker)) }
    }
    #expect(run.dying.count == 1)
    #expect(run.own.nextWake == nil)
    run.tell(.kill)
    #expect(run.state("a") == .running)
    #expect(run.close == nil)
    run.bury(run.dying.removeFirst())
    #expect(run.journal.last?.detail == "it did not end a stopped task in time")
    #expect(run.close?.exitCode == 6)
  }

  @Test func `a worker that says no hello is waited for until it is gone`() throws {
    var run = EngineHarness(try plan { $0.add("a") }, parallel: 1)
    let silent = run.launched.removeFirst()
    run.now = try #require(run.own.nextWake)
    run.tell(.timer)
    run.tell(.workerReady(silent))
    #expect(run.dying == [silent])
    #expect(run.launched.isEmpty)
    #expect(run.started.isEmpty)
    run.bury(run.dying.removeFirst())
    #expect(run.launched.count == 1)
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  private static let survivor = LeftBehind(count: 1, names: "7 (sleep)", areAlive: true)

  @Test func `a task of which something may still run is not retried`() throws {
    var run = EngineHarness(try plan { $0.add("a") { $0.policy = TaskPolicy(retryMax: 3) } })
    run.settle()
    let worker = try #require(run.running.keys.first)
    run.tell(.left(worker, TaskID(0), attempt: 1, Self.survivor))
    run.end(worker, Outcome(status: .exit(1), reason: .timeout))
    run.finish()
    #expect(run.started.count == 1)
    #expect(run.state("a") == .failed)
    #expect(run.journal.last?.left == Self.survivor)
    #expect(run.journal.last?.outcome.reason == .timeout)
  }

  @Test func `what may still run is not started again by a request`() throws {
    var run = EngineHarness(
      try plan {
        $0.add("a")
        $0.add("b")
      }, parallel: 2, maxFailures: 0)
    run.settle()
    let worker = try #require(run.running.first { $0.value.0 == TaskID(0) }?.key)
    run.tell(.left(worker, TaskID(0), attempt: 1, Self.survivor))
    run.end(worker, Outcome(status: .exit(1)))
    let answer = run.ask(.retry, ["a"])
    #expect("\(String(describing: answer))".contains("could not end process 7 (sleep)"))
    run.finish()
    #expect(run.order == ["a", "b"])
  }

  @Test func `a task whose worker is lost does not start beside what is left of it`() throws {
    var run = EngineHarness(
      try plan {
        $0.add("a")
        $0.add("b")
      }, parallel: 1, maxFailures: 0)
    run.settle()
    let worker = try #require(run.running.keys.first)
    run.tell(.survived(worker, Self.survivor))
    run.bury(worker)
    run.finish()
    #expect(run.order == ["a", "b"])
    #expect(run.state("a") == .failed && run.state("b") == .succeeded)
    #expect(run.journal.first { $0.event == .failure }?.left == Self.survivor)
  }

  @Test(arguments: [false, true])
  func `where a process cannot be made, the run goes on with fewer workers, at no cost`(
    prefetches: Bool
  ) throws {
    var run = EngineHarness(
      try plan { for index in 0..<12 { $0.add("t\(index)") } }, parallel: 3,
      prefetches: prefetches, expectedWall: 400)
    run.settle()
    #expect(run.running.count == 3)
    run.lack(try #require(run.running.keys.first))
    run.settle()
    #expect(run.running.count == 2)
    run.lack(try #require(run.running.keys.first))
    run.finish()
    #expect(run.close?.exitCode == 0)
    #expect(run.started.allSatisfy { $0.attempt == 1 })
    #expect(run.journal.filter { $0.event == .success }.count == 12)
    #expect(run.journal.allSatisfy { $0.event != .interrupt || $0.outcome.reason == .revoked })
  }

  @Test func `where the last worker has no process its kind waits, and fails in the end`() throws {
    var run = EngineHarness(
      try plan {
        $0.add("a")
        $0.add("b")
      }, parallel: 1, maxFailures: 0)
    #expect(run.runningNames == ["a"])
    let worker = try #require(run.running.keys.first)
    run.lack(worker)
    #expect(run.runningNames.isEmpty)
    run.wait(milliseconds: 49)
    #expect(run.runningNames.isEmpty)
    run.wait(milliseconds: 1)
    #expect(run.runningNames == ["a"])
    // What starts has them counted from the beginning.
    run.tell(.started(worker, TaskID(0), attempt: 1))
    run.end("a")
    for _ in 0..<SchedulerOptions.maxShortages {
      #expect(run.runningNames == ["b"])
      run.lack(worker)
      run.wait(milliseconds: 2_000)
    }
    #expect(run.runningNames == ["b"])
    run.lack(worker)
    #expect(run.state("a") == .succeeded && run.state("b") == .failed)
    #expect(run.journal.last?.outcome.reason == .refused)
    #expect(run.journal.last?.detail == "no process")
    #expect(run.close?.exitCode == 1)
  }

  @Test
  func `where no first worker can be had for a shortage its kind waits, and fails in the end`()
    throws
  {
    // A run that is given the last worker it asks for, and one that is not.
    for isOver in [true, false] {
      var run = EngineHarness(
        try plan { for index in 0..<6 { $0.add("t\(index)") } }, parallel: 3, maxFailures: 0)
      // All that are launched at once find the same.
      for count in 1...SchedulerOptions.maxShortages {
        #expect(!run.launched.isEmpty, "after \(count) shortages")
        run.lackLaunches()
        #expect(run.launched.isEmpty)
        run.wait(milliseconds: count == 1 ? 49 : 0)
        #expect(run.launched.isEmpty)
        run.wait(milliseconds: count == 1 ? 1 : 2_000)
      }
      let journaled = run.journal.count
      #expect(run.state("t0") == .ready)
      if isOver {
        run.finish()
        #expect(run.close?.exitCode == 0)
        #expect(run.started.allSatisfy { $0.attempt == 1 })
        continue
      }
      while !run.launched.isEmpty { run.lackLaunches() }
      #expect(run.journal.count > journaled)
      #expect(run.journal.last?.outcome.reason == .workerLost)
      #expect(run.journal.last?.detail == "no process")
      #expect(run.close?.exitCode == 1)
    }
  }
}
