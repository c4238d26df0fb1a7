import Drill
import Foundation
import Testing

/// A sample of `scripts/stress kill`.
struct KillDrillTests {
  @Test(arguments: [1, 1001] as [UInt64])
  func `runs killed ten times at random moments end right`(seed: UInt64) throws {
    var kills = 0
    var seed = seed
    // A run may be over before it is struck.
    while kills < 10 {
      var drill = try KillDrill(
        program: Program.path, seed: seed, tasks: 150, parent: NSTemporaryDirectory())
      try drill.run(killing: 10 - kills)
      kills += drill.kills
      seed += 1
    }
  }
}
