import Drill
import Foundation
import Testing

/// A sample of `scripts/soak kill`.
struct KillDrillTests {
  @Test(arguments: [1, 2] as [UInt64])
  func `a run killed ten times at random moments ends right`(seed: UInt64) throws {
    var drill = try KillDrill(
      program: Program.path, seed: seed, tasks: 150, parent: NSTemporaryDirectory())
    try drill.run(killing: 10)
    #expect(drill.kills > 0)
  }
}
