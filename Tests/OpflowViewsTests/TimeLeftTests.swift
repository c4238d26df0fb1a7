import Testing

@testable import OpflowViews

@Suite struct TimeLeftTests {
  @Test func `times are told in the unit that fits, rounded outwards`() throws {
    let second: Int64 = 1000
    let minute = 60 * second
    let hour = 60 * minute
    for (low, high, text) in [
      (0, 300, "under 1 s"), (2100, 4200, "2 to 5 s"), (3000, 3000, "about 3 s"),
      (12_000, 47_000, "10 to 50 s"), (3 * minute, 5 * minute - 1, "3 to 5 min"),
      (20_000, 100_000, "under 2 min"), (hour, 2 * hour, "1 to 2 h"),
      (80 * minute, 100 * minute, "1 to 2 h"), (100 * minute, 140 * minute, "1.5 to 2.5 h"),
      (30 * hour, 40 * hour, "30 to 40 h"), (30 * hour, 60 * hour, "1 to 2.5 days"),
    ] as [(Int64, Int64, String)] {
      #expect(TimeLeft.text(milliseconds: low...high) == text + " left")
    }
  }
}
