import Fixtures
import OpflowEngine
import OpflowJournal
import OpflowPlan
import OpflowWire
import Testing

/// Workers that say nothing, and the time in which nobody listened to them.
@Suite("Scheduler and its deadlines")
struct SchedulerDeadlineTests {
  private func run(
    kind: WorkerKind = .command, timeout: UInt64 = 0, grace: UInt32 = 5000
  ) throws -> (run: EngineHarness, worker: WorkerID) {
    var maker = PlanMaker()
    let policy = TaskPolicy(timeoutMilliseconds: timeout, stopGraceMilliseconds: grace)
    switch kind {
    case .command, .check, .service, .block: maker.add("a") { $0.policy = policy }
    case .terminal:
      maker.add("a") {
        $0.policy = policy
        $0.flags = .interactive
      }
    case .download:
      maker.addDownload("a")
      maker.tasks[0].policy = policy
    }
    var run = EngineHarness(try maker.make(), parallel: 1)
    run.settle()
    let worker = try #require(run.running.keys.first)
    run.tell(.started(worker, TaskID(0), attempt: 1))
    return (run, worker)
  }

  private func pulses(_ run: EngineHarness) -> Int {
    run.inbox.values.joined().count { if case .pulse = $0 { true } else { false } }
  }

  @Test func `a worker that is silent for long is asked, and given up when it does not answer`()
    throws
  {
    var (run, worker) = try run()
    run.unheard = [worker]
    run.wait(milliseconds: 19_000)
    #expect(run.dying.isEmpty)
    run.wait(milliseconds: 2_000)
    #expect(run.dying == [worker])
    run.finish()
    let detail = "it did not respond for"
    #expect(run.journal.contains { $0.event == .interrupt && $0.detail.hasPrefix(detail) })
    #expect(run.started.last == EngineHarness.Try(task: "a", attempt: 2))
    #expect(run.close?.exitCode == 0)
  }

  @Test func `a worker that answers is left alone, and asked no more than every ten seconds`()
    throws
  {
    var (run, _) = try run()
    var asked = 0
    for _ in 0..<3600 {
      let end = run.now.advanced(byMilliseconds: 1000)
      while let wake = run.engine.nextWake, wake <= end {
        run.now = max(run.now, wake)
        run.tell(.timer)
        asked += pulses(run)
        run.obeyAll()
      }
      run.now = end
    }
    #expect(run.dying.isEmpty)
    #expect((300...360).contains(asked))
  }

  @Test func `a worker that has just spoken is not asked`() throws {
    var (run, worker) = try run()
    for _ in 0..<100 {
      run.now = run.now.advanced(byMilliseconds: 900)
      run.tell(.heard(worker))
      run.tell(.timer)
      #expect(pulses(run) == 0)
    }
  }

  @Test func `an idle worker is listened to as well`() throws {
    var maker = PlanMaker()
    maker.add("a")
    maker.add("b") { $0.policy = TaskPolicy(retryMax: 1, retryDelayMilliseconds: 60_000) }
    var run = EngineHarness(try maker.make(), parallel: 2, maxFailures: 0)
    run.settle()
    let idle = try #require(run.running.first { $0.value.0 == TaskID(1) }?.key)
    run.end("b", exit: 1)
    run.unheard = [idle]
    run.wait(milliseconds: 25_000)
    #expect(run.dying == [idle])
    run.finish()
    #expect(run.close?.exitCode == 0)
    #expect(!run.journal.contains { $0.event == .interrupt })
  }

  @Test func `a worker that does not end a task whose time is up is given up, though it answers`()
    throws
  {
    var (run, worker) = try run(timeout: 60_000, grace: 3_000)
    run.wait(milliseconds: 67_900)
    #expect(run.dying.isEmpty)
    run.wait(milliseconds: 200)
    #expect(run.dying == [worker])
    run.finish()
    let detail = "it did not end a task after the timeout"
    #expect(run.journal.contains { $0.event == .interrupt && $0.detail == detail })
  }

  @Test func `a download beyond its timeout may be on its way to the disk: its worker is asked`()
    throws
  {
    var (run, worker) = try run(kind: .download, timeout: 1_000, grace: 0)
    run.wait(milliseconds: 60_000)
    #expect(run.dying.isEmpty)
    run.unheard = [worker]
    run.wait(milliseconds: 20_000)
    #expect(run.dying == [worker])
  }

  @Test func `a download whose worker is silent at its timeout is not waited for any longer`()
    throws
  {
    var (run, worker) = try run(kind: .download, timeout: 100, grace: 0)
    run.unheard = [worker]
    run.wait(milliseconds: 5_000)
    #expect(run.dying.isEmpty)
    run.wait(milliseconds: 10_200)
    #expect(run.dying == [worker])
  }

  @Test func `time in which the coordinator did not run counts against no worker`() throws {
    var (run, worker) = try run(timeout: 60_000, grace: 0)
    run.unheard = [worker]
    run.wait(milliseconds: 11_000)
    // Asked, and an hour later it is not known whether it answered.
    #expect(run.own.nextWake != nil)
    let hour: Int64 = 3_600_000_000_000
    run.now.nanoseconds += hour
    run.tell(.late(nanoseconds: hour))
    run.tell(.timer)
    #expect(run.dying.isEmpty)
    run.unheard = []
    run.wait(milliseconds: 53_000)
    #expect(run.dying.isEmpty)
    run.wait(milliseconds: 1_100)
    #expect(run.dying == [worker])
  }

  @Test func `a stop that stood still while the run was suspended has what was left of its time`()
    throws
  {
    var (run, worker) = try run(grace: 60_000)
    run.tell(.stop(.signal(2)))
    // The task does not end by itself.
    run.inbox[worker] = nil
    run.wait(milliseconds: 5_000)
    run.tell(.suspend)
    run.now = run.now.advanced(byMilliseconds: 3_600_000)
    run.tell(.proceed)
    run.wait(milliseconds: 59_900)
    #expect(run.dying.isEmpty)
    run.wait(milliseconds: 200)
    #expect(run.dying == [worker])
  }

  @Test func `a timeout stands still while the run is suspended`() throws {
    var (run, worker) = try run(timeout: 10_000, grace: 1_000)
    run.wait(milliseconds: 4_000)
    run.tell(.suspend)
    run.now = run.now.advanced(byMilliseconds: 3_600_000)
    #expect(run.own.nextWake == nil)
    run.tell(.proceed)
    run.wait(milliseconds: 11_900)
    #expect(run.dying.isEmpty)
    run.wait(milliseconds: 200)
    #expect(run.dying == [worker])
  }
}
