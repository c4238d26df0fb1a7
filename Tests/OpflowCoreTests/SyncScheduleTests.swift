import OpflowCore
import Testing

@Suite("Sync schedule")
struct SyncScheduleTests {
  func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  @Test("with group a sync is due ten milliseconds after the first write that none covers")
  func group() {
    var schedule = SyncSchedule(durability: .group, written: 100)
    #expect(schedule.nextWake == nil)
    schedule.wrote(upTo: 200, at: at(5))
    schedule.wrote(upTo: 300, at: at(12))
    #expect(schedule.nextWake == at(15))
    #expect(schedule.takeRequest(at: at(14)) == nil)
    #expect(schedule.takeRequest(at: at(15)) == 300)
    #expect(schedule.barrier(mustNotRepeat: false, at: at(15)) == 0)
  }

  @Test("while a sync runs no other is asked for, and the writes meanwhile get the next one")
  func oneAtATime() {
    var schedule = SyncSchedule(durability: .group, written: 0)
    schedule.wrote(upTo: 10, at: at(0))
    #expect(schedule.takeRequest(at: at(10)) == 10)
    schedule.wrote(upTo: 20, at: at(11))
    #expect(schedule.takeRequest(at: at(50)) == nil)
    #expect(schedule.nextWake == nil)
    schedule.completed(upTo: 10)
    #expect(schedule.takeRequest(at: at(51)) == 20)
  }

  @Test("with each nothing is acted on before it is synced")
  func each() {
    var schedule = SyncSchedule(durability: .each, written: 0)
    schedule.wrote(upTo: 10, at: at(0))
    let barrier = schedule.barrier(mustNotRepeat: false, at: at(0))
    #expect(!schedule.allows(barrier))
    #expect(schedule.takeRequest(at: at(0)) == 10)
    schedule.completed(upTo: 10)
    #expect(schedule.allows(barrier))
  }

  @Test("the start of a task that must not run twice is synced at once, unless nothing is")
  func mustNotRepeat() {
    var schedule = SyncSchedule(durability: .group, written: 0)
    schedule.wrote(upTo: 10, at: at(0))
    let barrier = schedule.barrier(mustNotRepeat: true, at: at(0))
    #expect(!schedule.allows(barrier))
    #expect(schedule.takeRequest(at: at(0)) == 10)
    var lax = SyncSchedule(durability: .none, written: 0)
    lax.wrote(upTo: 10, at: at(0))
    #expect(lax.allows(lax.barrier(mustNotRepeat: true, at: at(0))))
    #expect(lax.nextWake == nil)
  }
}
