import Fixtures
import OpflowEngine
import OpflowJournal
import OpflowPlan
import OpflowWire
import Testing

@Suite("Tries of downloads")
struct DownloadRetryTests {

  /// Runs tries that end so, and gives the journal's events and delays.
  private func session(
    _ reason: EndReason, gained: Int64, wait: Int64, retries: UInt32, tries: Int32
  ) throws -> [(TransitionEvent, Int64)] {
    var maker = PlanMaker()
    maker.add("a") {
      $0.policy = TaskPolicy(
        retryMax: retries, retryDelayMilliseconds: 100, retryMaxDelayMilliseconds: 5000,
        retryJitterPermille: 0)
    }
    var run = EngineHarness(try maker.make())
    for attempt in 1...tries {
      run.settle()
      var report = FetchReport()
      report.gainedBytes = gained
      report.waitMilliseconds = wait
      guard let worker = run.running.first?.key else { break }
      run.tell(.fetched(worker, TaskID(0), attempt: attempt, FetchRecord(report)))
      run.end(worker, Outcome(status: .unknown, reason: reason))
      if let wake = run.engine.nextWake {
        run.now = max(run.now, wake)
        run.tell(.timer)
      }
    }
    return run.journal.filter { $0.event != .start }.map { ($0.event, $0.delayMilliseconds) }
  }

  @Test func `that gain bytes are free`() throws {
    let events = try session(.fetch, gained: 1, wait: 0, retries: 2, tries: 9)
    #expect(events.map(\.0) == [TransitionEvent](repeating: .retry, count: 9))
  }

  @Test func `that gain nothing are counted`() throws {
    let events = try session(.fetch, gained: 0, wait: 0, retries: 2, tries: 3)
    #expect(events.map(\.0) == [.retry, .retry, .failure])
    #expect(events.map(\.1) == [100, 200, 0])
  }

  @Test func `are not repeated where there is one only`() throws {
    #expect(try session(.fetch, gained: 5, wait: 0, retries: 0, tries: 1).map(\.0) == [.failure])
  }

  @Test func `are not repeated when they failed for good`() throws {
    #expect(
      try session(.fetchFinal, gained: 5, wait: 0, retries: 3, tries: 1).map(\.0) == [.failure])
  }

  @Test func `wait as long as the server asks, within max_delay`() throws {
    #expect(try session(.fetch, gained: 0, wait: 700, retries: 2, tries: 1).map(\.1) == [700])
    #expect(try session(.fetch, gained: 0, wait: 99_000, retries: 2, tries: 1).map(\.1) == [5000])
  }
}
