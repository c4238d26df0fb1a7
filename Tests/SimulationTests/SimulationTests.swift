import Simulation
import Testing

/// Whole runs with the real scheduler, codec, recovery and worker's decisions, over imagined
/// processes, disks and clocks. `scripts/soak simulate` goes through a million of them.
@Suite("Simulation")
struct SimulationTests {
  static let slices = 0..<16

  @Test(arguments: slices)
  func `every promise holds in runs that are disturbed, killed, torn and resumed`(_ slice: Int) {
    for seed in stride(from: slice, to: 6000, by: Self.slices.count) {
      var life = Life(seed: UInt64(seed), checkingOneIn: 4)
      do {
        try life.run()
      } catch {
        Issue.record("\(error)\nreplay: scripts/soak simulate --seed \(seed)")
        return
      }
    }
  }
}
