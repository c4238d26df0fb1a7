import OpflowManifest
import OpflowPlan
import OpflowRuntime
import Testing

@testable import OpflowWorker

/// When a worker looks whether a service is ready, without a process or a clock.
@Suite struct ServiceWatchTests {
  private let fixture: StateFixture
  private let plan: Plan

  init() throws {
    fixture = try StateFixture()
    let path = try fixture.write(
      "opflow.yaml",
      """
      tasks:
        db: { service: { ready: { exec: [ask], timeout: 70s, every: 5m } }, run: serve }
      """)
    plan = try ManifestFile(at: path).compile(runID: "r", set: [], maxParallel: nil).openPlan()
  }

  @Test func `a command that hangs has failed after a while, and another try follows`() {
    let (db, second) = (TaskID(0), Int64(1_000_000_000))
    var watch = ServiceWatch(plan, db, ServicePorts([], []))
    var asked = 0
    var killed: [Int32] = []
    func look(_ seconds: Int64) -> String {
      let look = watch.look(
        at: Instant(nanoseconds: seconds * second),
        start: { _ in
          asked += 1
          return Int32(asked)
        }, kill: { killed.append($0) })
      switch look {
      case .again: return "again"
      case .ready: return "ready"
      case .gaveUp(let detail): return detail
      }
    }
    watch.begin(at: Instant(nanoseconds: second))
    #expect(look(1) == "again" && asked == 1)
    let due = watch.deadline
    #expect(due == Instant(nanoseconds: 31 * second))
    #expect(look(30) == "again" && killed.isEmpty)
    #expect(look(31) == "again" && killed == [1])
    // Until its end is seen nobody else asks, and it is killed once.
    #expect(look(32) == "again" && asked == 1 && killed == [1])
    watch.noteProbe(.signal(9), at: Instant(nanoseconds: 33 * second))
    let last = watch.deadline
    #expect(last == Instant(nanoseconds: 71 * second))
    #expect(
      look(71)
        == "not ready after 1m10s: `ask` did not succeed; it did not end within 30.0s")
  }

  @Test func `while it stands still the time of a try does, and one that ended well counts`() {
    let second = Int64(1_000_000_000)
    var watch = ServiceWatch(plan, TaskID(0), ServicePorts([], []))
    var killed = 0
    func look(_ seconds: Int64) -> Bool {
      let look = watch.look(
        at: Instant(nanoseconds: seconds * second), start: { _ in 7 }, kill: { _ in killed += 1 })
      if case .ready = look { return true }
      return false
    }
    watch.begin(at: Instant(nanoseconds: 0))
    #expect(!look(0))
    watch.pause(at: Instant(nanoseconds: 10 * second))
    watch.proceed(at: Instant(nanoseconds: 100 * second))
    #expect(!look(100) && killed == 0)
    #expect(!look(119) && killed == 0)
    #expect(!look(120) && killed == 1)
    // It was through in the same moment.
    watch.noteProbe(.success, at: Instant(nanoseconds: 121 * second))
    #expect(look(121))
  }
}
