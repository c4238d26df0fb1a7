import Drill
import Foundation
import Testing

/// A sample of `scripts/stress download`.
struct DownloadDrillTests {
  @Test(.timeLimit(.minutes(30)), arguments: [1, 2, 3] as [UInt64])
  func `a download that is killed at random ends right and fetches almost nothing twice`(
    seed: UInt64
  ) throws {
    var drill = try DownloadDrill(
      program: Program.path, seed: seed, megabytes: 20, megabytesPerSecond: 10,
      parent: NSTemporaryDirectory())
    try drill.run(striking: 4)
    #expect(drill.strikes > 0)
  }
}
