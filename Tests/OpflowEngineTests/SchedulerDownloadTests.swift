import Fixtures
import OpflowEngine
import OpflowJournal
import OpflowPlan
import OpflowWire
import Testing

@Suite("Scheduler of downloads")
struct SchedulerDownloadTests {
  private func plan(_ count: Int) throws -> Plan {
    var maker = PlanMaker()
    for index in 0..<count { maker.addDownload("d\(index)") }
    return try maker.make()
  }

  private func milliseconds(_ count: Int64) -> Instant {
    Instant(nanoseconds: count * 1_000_000)
  }

  @Test func `a further worker comes only when no download ends for a while`() throws {
    var run = EngineHarness(try plan(6))
    #expect(run.launched.count == 1)
    run.settle()
    #expect(run.running.count == 1)
    // The first one says how long it is waited for.
    #expect(run.own.nextWake == milliseconds(20))
    run.now = milliseconds(15)
    run.end("d0")
    #expect(run.own.nextWake == milliseconds(35))
    for (time, count) in [(35, 2), (55, 3), (75, 4)] as [(Int64, Int)] {
      run.now = milliseconds(time)
      run.tell(.timer)
      #expect(run.launched.count == 1)
      run.settle()
      #expect(run.running.count == count)
    }
    #expect(run.own.nextWake == milliseconds(95))
    run.finish()
    #expect(run.close?.exitCode == 0)
    #expect(run.started.count == 6)
  }

  @Test func `a worker that never says hello is replaced`() throws {
    var run = EngineHarness(try plan(2))
    run.tell(.workerLost(run.launched.removeFirst(), complaint: "gone"))
    #expect(run.launched.count == 1)
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  /// A run with one worker that does a download and has sixty-four more.
  private func handedAhead(maxFailures: Int = 0) throws -> EngineHarness {
    var run = EngineHarness(try plan(108), maxFailures: maxFailures, prefetches: true)
    for index in 0..<20 { run.end("d\(index)") }
    #expect(run.running.count == 1)
    #expect(run.ahead.values.map(\.count) == [64])
    return run
  }

  @Test func `many short ones are prefetched, in order, and given back after a failure`() throws {
    var run = try handedAhead()
    run.end("d20", exit: 1)
    #expect(run.journal.filter { $0.outcome.reason == .revoked }.count == 64)
    run.finish()
    #expect(run.started.allSatisfy { $0.attempt == 1 })
    #expect(run.journal.filter { $0.event == .success }.count == 107)
    var ends = run.journal.filter { $0.event == .success }.map(\.task.rawValue)
    ends.removeAll { $0 == 20 }
    #expect(ends == ends.sorted())
  }

  @Test func `one short one is enough to hand others ahead`() throws {
    var run = EngineHarness(try plan(100), prefetches: true)
    run.settle()
    #expect(run.ahead.values.flatMap(\.self).isEmpty)
    run.end("d0")
    run.settle()
    #expect(run.running.count == 1)
    #expect(run.ahead.values.map(\.count) == [64])
  }

  @Test func `what a server was handed that turns slow comes back, and starts in its order`() throws
  {
    var maker = PlanMaker()
    for index in 0..<100 { maker.addDownload("d\(index)") }
    maker.tasks[70].priority = 4
    var run = EngineHarness(try maker.make(), prefetches: true)
    // The most urgent one comes first.
    #expect(run.runningNames == ["d70"])
    run.now = milliseconds(1)
    run.end("d70")
    run.settle()
    #expect(run.ahead.values.map(\.count) == [64])
    var expected = ["d0", "d1", "d2", "d3"]
    for (time, count) in [(21, 2), (41, 3), (61, 4)] as [(Int64, Int)] {
      run.now = milliseconds(time)
      run.tell(.timer)
      // A worker that is there gives back before a new one says hello.
      run.obeyAll()
      #expect(run.runningNames == expected.prefix(count).sorted())
      #expect(run.ahead.values.flatMap(\.self).isEmpty)
    }
    #expect(run.journal.filter { $0.outcome.reason == .revoked }.count == 64)
    run.now = milliseconds(90)
    var outcome = Outcome(status: .success)
    outcome.usage.wallMicroseconds = 80_000
    let worker = try #require(run.running.first { $0.value.0 == TaskID(1) }?.key)
    run.end(worker, outcome)
    expected[1] = "d4"
    #expect(run.runningNames == expected.sorted())
    #expect(run.ahead.values.flatMap(\.self).isEmpty)
    run.finish()
    #expect(run.close?.exitCode == 0)
    #expect(run.journal.filter { $0.event == .success }.count == 100)
    #expect(run.started.allSatisfy { $0.attempt == 1 })
  }

  @Test func `a server that was slow and is quick again is given several at once again`() throws {
    var run = EngineHarness(try plan(100), prefetches: true)
    run.settle()
    run.now = milliseconds(20)
    run.tell(.timer)
    run.settle()
    var ends = 0
    while run.ahead.values.allSatisfy(\.isEmpty), ends < 50 {
      run.now = milliseconds(21 + Int64(ends))
      let worker = try #require(run.running.keys.min { $0.rawValue < $1.rawValue })
      var outcome = Outcome(status: .success)
      outcome.usage.wallMicroseconds = ends == 0 ? 21_000 : 500
      run.end(worker, outcome)
      run.settle()
      ends += 1
    }
    #expect((2..<20).contains(ends))
    run.finish()
    #expect(run.close?.exitCode == 0)
  }

  @Test func `those that come one after the other are short, however long each was made to last`()
    throws
  {
    var run = try handedAhead()
    let worker = try #require(run.running.keys.first)
    for _ in 0..<40 {
      run.now = milliseconds(run.now.nanoseconds / 1_000_000 + 2)
      var outcome = Outcome(status: .success)
      outcome.usage.wallMicroseconds = 90_000
      run.end(worker, outcome)
      run.settle()
    }
    #expect(run.running.count == 1)
    #expect(run.ahead[worker]?.count == 47)
  }

  @Test func `what waits behind a long one goes to further workers`() throws {
    var run = try handedAhead()
    let stuck = try #require(run.running.keys.first)
    // The last ones come back first, one for each worker that can be had.
    run.now = milliseconds(1000)
    run.tell(.timer)
    run.settle()
    while let worker = run.running.keys.first(where: { $0 != stuck }) {
      run.end(worker, Outcome(status: .success))
      run.settle()
    }
    #expect(run.ahead[stuck]?.isEmpty == true)
    #expect(run.journal.filter { $0.event == .success }.count == 107)
    run.end(stuck, Outcome(status: .success))
    #expect(run.close?.exitCode == 0)
  }

  @Test func `a failure that ends the run takes back all that was handed ahead`() throws {
    var run = try handedAhead(maxFailures: 1)
    run.end("d20", exit: 1)
    #expect(run.close?.exitCode == 1)
    #expect(run.journal.filter { $0.event == .success }.count == 20)
  }

  @Test func `a worker that gave back what it was handed is not given up later`() throws {
    var run = try handedAhead()
    run.end("d20", exit: 1)
    let worker = try #require(run.running.keys.first)
    run.now = milliseconds(60_000)
    run.tell(.timer)
    #expect(run.running[worker] != nil)
    run.finish()
    #expect(run.launched.isEmpty)
    #expect(run.journal.filter { $0.event == .success }.count == 107)
    #expect(!run.journal.contains { $0.outcome.reason == .workerLost })
  }

  @Test func `a lost worker costs none of the downloads that it was handed ahead`() throws {
    var run = try handedAhead()
    let worker = try #require(run.running.keys.first)
    run.running[worker] = nil
    run.ahead[worker] = nil
    run.tell(.workerLost(worker, complaint: "killed"))
    run.finish()
    #expect(run.close?.exitCode == 0)
    #expect(run.journal.filter { $0.event == .success }.count == 108)
  }

  @Test(arguments: [(0, 100), (50, 100), (7_000, 7_000), (86_400_000, 20_000)] as [(Int64, Int64)])
  func `a try waits for as long as the server asks, up to max_delay`(asked: Int64, waits: Int64)
    throws
  {
    var maker = PlanMaker()
    maker.addDownload("d")
    maker.tasks[0].policy = TaskPolicy(
      retryMax: 1, retryDelayMilliseconds: 100, retryMaxDelayMilliseconds: 20_000,
      retryJitterPermille: 0)
    var run = EngineHarness(try maker.make())
    run.settle()
    let worker = try #require(run.running.keys.first)
    var report = FetchReport()
    report.waitMilliseconds = asked
    run.tell(.fetched(worker, TaskID(0), attempt: 1, FetchRecord(report)))
    run.end(worker, Outcome(status: .unknown, reason: .fetch))
    #expect(run.journal.last?.delayMilliseconds == waits)
    run.wait(milliseconds: waits - 1)
    #expect(run.started.count == 1)
    run.wait(milliseconds: 1)
    #expect(run.started.count == 2)
  }

  @Test func `one that came back twice is not prefetched again`() throws {
    var run = EngineHarness(try plan(300), prefetches: true)
    run.settle()
    var steps = 0
    // Several at once that end close to each other count as short ones, and then none ends for a
    // while.
    while run.close == nil, steps < 2_000 {
      steps += 1
      run.now = run.now.advanced(byMilliseconds: steps % 10 == 0 ? 25 : 1)
      if steps % 10 == 0 {
        run.tell(.timer)
      } else if let worker = run.running.keys.min(by: { $0.rawValue < $1.rawValue }) {
        var outcome = Outcome(status: .success)
        outcome.usage.wallMicroseconds = 400
        run.end(worker, outcome)
      }
      run.settle()
    }
    #expect(run.close?.exitCode == 0)
    var returns: [TaskID: Int] = [:]
    for entry in run.journal where entry.outcome.reason == .revoked {
      returns[entry.task, default: 0] += 1
    }
    #expect(returns.values.max() == Int(SchedulerOptions.mostReturns))
  }
}
