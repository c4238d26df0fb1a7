import Drill
import Foundation
import Testing

/// A sample of `scripts/stress services`.
struct ServiceDrillTests {
  @Test(.enabled(if: ServiceDrill.isPossible, "PostgreSQL is not there"))
  func `runs with a database killed six times at random moments end right`() throws {
    var (kills, seed) = (0, UInt64(1))
    // A run may be over before it is struck.
    while kills < 6 {
      var drill = try ServiceDrill(
        program: Program.path, seed: seed, jobs: Program.package + "/jobs",
        parent: NSTemporaryDirectory())
      try drill.run(killing: 6 - kills)
      kills += drill.kills
      seed += 1
    }
  }
}
