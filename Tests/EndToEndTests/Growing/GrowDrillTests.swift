import Drill
import Foundation
import Testing

/// A sample of `scripts/stress grow`.
struct GrowDrillTests {
  @Test func `runs that grow killed twelve times at random moments end right`() throws {
    var (kills, seed) = (0, UInt64(1))
    // A run may be over before it is struck.
    while kills < 12 {
      var drill = try GrowDrill(
        program: Program.path, seed: seed, tasks: 30, parent: NSTemporaryDirectory())
      try drill.run(killing: min(12 - kills, 6))
      kills += drill.kills
      seed += 1
    }
  }
}
