import OpflowBase
import OpflowPlan
import Testing

@testable import OpflowRuntime

/// What an agent in a step of Slurm holds back for a moment, since a signal to all of the step may
/// be the reason for it.
@Suite struct AgentDoubtTests {
  private var doubt: AgentDoubt
  private var output = FieldWriter()

  private init(isStep: Bool) { doubt = AgentDoubt(isStep: isStep) }

  init() { self.init(isStep: true) }

  private mutating func write(_ word: String, isBad: Bool, atMilliseconds now: Int64) {
    let start = output.bytes.count
    output.raw(word)
    doubt.take(
      from: start, of: &output, isBad: isBad, at: Instant(nanoseconds: now * 1_000_000))
  }

  private var said: String { String(decoding: output.bytes, as: UTF8.self) }

  @Test mutating func `what ends well is said at once`() {
    write("good ", isBad: false, atMilliseconds: 0)
    #expect(said == "good ")
    #expect(doubt.end == nil)
  }

  @Test mutating func `what ended badly waits for 250 ms, with all that follows, in its order`() {
    write("good ", isBad: false, atMilliseconds: 0)
    write("bad ", isBad: true, atMilliseconds: 10)
    write("late ", isBad: false, atMilliseconds: 200)
    // A further one makes it no longer: what came first would wait for ever.
    write("worse ", isBad: true, atMilliseconds: 259)
    #expect(said == "good ")
    #expect(doubt.end == Instant(nanoseconds: 260_000_000))
    doubt.release(into: &output)
    #expect(said == "good bad late worse ")
    #expect(doubt.end == nil)
  }

  @Test mutating func `after that the next end has its own moment`() {
    write("bad ", isBad: true, atMilliseconds: 0)
    doubt.release(into: &output)
    write("good ", isBad: false, atMilliseconds: 300)
    #expect(said == "bad good ")
    write("bad again ", isBad: true, atMilliseconds: 400)
    #expect(said == "bad good ")
    #expect(doubt.end == Instant(nanoseconds: 650_000_000))
  }

  @Test mutating func `what the agent says itself meanwhile goes before it`() {
    write("bad ", isBad: true, atMilliseconds: 0)
    output.raw("leaving ")
    doubt.release(into: &output)
    #expect(said == "leaving bad ")
  }

  @Test func `outside of Slurm nothing is held back`() {
    var other = AgentDoubtTests(isStep: false)
    other.write("bad ", isBad: true, atMilliseconds: 0)
    #expect(other.said == "bad ")
    #expect(other.doubt.end == nil)
  }
}
