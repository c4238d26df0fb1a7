import OpflowPlan
import OpflowWire
import Testing

@Suite struct AgentLeaseTests {
  private func at(_ milliseconds: Int64) -> Instant {
    Instant(nanoseconds: milliseconds * 1_000_000)
  }

  @Test func `a pulse is sent at once and then every two seconds`() {
    var lease = AgentLease(milliseconds: 5_000, from: at(0))
    #expect(lease.pulse(at: at(0)) == 1)
    #expect(lease.pulse(at: at(1_999)) == nil)
    #expect(lease.nextPulse == at(2_000))
    #expect(lease.pulse(at: at(2_000)) == 2)
    // After a standstill one, not all that were missed.
    #expect(lease.pulse(at: at(9_000)) == 3)
    #expect(lease.pulse(at: at(9_001)) == nil)
  }

  @Test func `it runs from when the newest pulse that came back was sent`() {
    var lease = AgentLease(milliseconds: 5_000, from: at(0))
    #expect(lease.end == at(5_000))
    #expect(lease.pulse(at: at(1_000)) == 1)
    #expect(lease.pulse(at: at(3_000)) == 2)
    lease.answered(1)
    #expect(lease.end == at(6_000))
    lease.answered(2)
    #expect(lease.end == at(8_000))
  }

  @Test func `an answer that comes late, twice or to nothing prolongs nothing`() {
    var lease = AgentLease(milliseconds: 5_000, from: at(0))
    for time in stride(from: Int64(0), to: 8_000, by: 2_000) { _ = lease.pulse(at: at(time)) }
    lease.answered(3)
    #expect(lease.end == at(9_000))
    lease.answered(2)
    lease.answered(3)
    lease.answered(99)
    lease.answered(-1)
    #expect(lease.end == at(9_000))
    lease.answered(4)
    #expect(lease.end == at(11_000))
  }

  @Test func `a short lease has a pulse in each half of it`() {
    var lease = AgentLease(milliseconds: 600, from: at(0))
    #expect(lease.pulse(at: at(0)) == 1)
    #expect(lease.nextPulse == at(300))
  }

  @Test func `answers that never come are not kept for ever`() {
    var lease = AgentLease(milliseconds: 5_000, from: at(0))
    var last: Int32?
    for time in stride(from: Int64(0), to: 2_000_000, by: 2_000) {
      last = lease.pulse(at: at(time))
    }
    #expect(last == 1_000)
    lease.answered(1)
    #expect(lease.end == at(5_000))
    lease.answered(1_000)
    #expect(lease.end == at(1_998_000 + 5_000))
  }
}
