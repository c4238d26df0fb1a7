import Fixtures
import OpflowJournal
import OpflowPlan
import OpflowWire
import Testing

/// Every try of every task, as a journal tells it.
@Suite struct TaskAttemptTests {
  private func run(_ names: [String]) throws -> ReportFixture {
    ReportFixture(try ViewFixture.plan(names.map { ($0, []) }))
  }

  /// `NAME.NUMBER wWORKER BEGIN-END how`, in seconds from the first line on.
  private func told(_ run: ReportFixture) throws -> [String] {
    let history = try run.status().history
    let zero = history.openedMilliseconds
    return history.attempts.all.map {
      let begin = ($0.begunMilliseconds - zero) / 1000
      let end = ($0.endedMilliseconds - zero) / 1000
      let ended = $0.endedMilliseconds == 0 ? "" : "\(end)"
      let host = history.attempts.host(of: $0)
      return "\(run.plan.nameString($0.task)).\($0.number) w\($0.worker.rawValue)\(host)"
        + " \(begin)-\(ended) \($0.end)"
    }
  }

  private static func on(_ worker: Int32, isPrefetched: Bool = false) -> (inout Transition) -> Void
  {
    { ($0.worker, $0.isPrefetched) = (WorkerID(worker), isPrefetched) }
  }

  @Test func `each try is kept, not only the last`() throws {
    var run = try run(["a", "soft"])
    run.tell(.start, "a", change: Self.on(3))
    run.tell(.retry, "a", .exit(2), wall: 900_000)
    run.tell(.start, "a", attempt: 2, change: Self.on(4))
    run.tell(.success, "a", attempt: 2, .success, wall: 800_000) {
      $0.outcome.usage.userMicroseconds = 5
      $0.outcome.usage.systemMicroseconds = 6
      $0.outcome.usage.peakKibibytes = 7
    }
    run.tell(.start, "soft")
    run.tell(.failure, "soft", .exit(4), .timeout) { $0.allowed = true }
    #expect(
      try told(run) == [
        "a.1 w3 1-2 retried", "a.2 w4 3-4 succeeded", "soft.1 w-1 5-6 failedAllowed",
      ])
    let all = try run.status().history.attempts.all
    #expect(all[0].status == .exit(2) && all[0].wallMicroseconds == 900_000)
    #expect(all[1].cpuMicroseconds == 11 && all[1].peakKibibytes == 7)
    #expect(all[2].reason == .timeout)
  }

  @Test func `a prefetched task begins when the one before it ends`() throws {
    var run = try run(["a", "b", "c"])
    run.tell(.start, "a", change: Self.on(0))
    run.tell(.start, "b", change: Self.on(0, isPrefetched: true))
    run.tell(.start, "c", change: Self.on(0, isPrefetched: true))
    run.tell(.success, "a", .success)
    run.tell(.interrupt, "c", .unknown, .revoked)
    run.tell(.success, "b", .success)
    run.tell(.start, "c", change: Self.on(1))
    run.tell(.success, "c", .success)
    #expect(
      try told(run) == [
        "a.1 w0 1-4 succeeded", "b.1 w0 4-6 succeeded", "c.1 w1 7-8 succeeded",
      ])
  }

  @Test func `sessions that died, were stopped and resumed leave their attempts`() throws {
    var run = try run(["a", "b", "c"])
    run.tell(.start, "a", change: Self.on(0))
    run.tell(.start, "b", change: Self.on(1))
    run.tell(.interrupt, "b", .signal(15), .stopped(.signal))
    run.resume(("a", .interrupted), ("b", .interrupted))
    run.tell(
      .worker(
        WorkerEntry(
          worker: WorkerID(0), pid: 7, startTime: 1, bootID: "", autogroup: 0, host: "far")))
    run.tell(.start, "a", attempt: 2) {
      $0.worker = WorkerID(0)
    }
    run.tell(.start, "c", change: Self.on(1))
    let attempts = try run.status().history.attempts
    #expect(attempts.all.map(\.session) == [1, 1, 2, 2])
    #expect(
      try told(run) == [
        "a.1 w0 1-3 lost", "b.1 w1 2-3 interrupted", "a.2 w0far 8- none", "c.1 w1 9- none",
      ])
  }

  @Test func `a stop by a request is counted`() throws {
    var run = try run(["a"])
    run.tell(.start, "a")
    run.tell(.pause, "a")
    run.tell(.proceed, "a")
    run.tell(.pause, "a")
    run.tell(.cancel, "a", .signal(9), .stopped(.cancel))
    let all = try run.status().history.attempts.all
    #expect(all.map(\.suspendedMilliseconds) == [2000])
    #expect(all.map(\.end) == [.cancelled])
  }

  @Test func `an end whose beginning is lost is a try, and one that never ran is none`() throws {
    var run = try run(["a", "b"])
    run.tell(.success, "a", .success, wall: 500_000)
    run.tell(.failure, "b", attempt: 0, .unknown, .value)
    let all = try run.status().history.attempts.all
    #expect(all.map(\.endedMilliseconds).map { $0 - all[0].begunMilliseconds } == [500])
  }

  @Test func `nobody who does not ask pays for them`() throws {
    let plan = try ViewFixture.plan([("a", [])])
    var text = JournalText(plan)
    try text.run("a")
    let history = try text.bytes.withUnsafeBytes {
      try RunModel.read($0, plan: plan, keepingDetails: true).history
    }
    #expect(history.attempts.all.isEmpty)
  }
}
