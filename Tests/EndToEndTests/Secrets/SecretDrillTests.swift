import Drill
import Foundation
import Testing

/// A sample of `scripts/stress secrets`.
struct SecretDrillTests {
  @Test(arguments: [1, 2, 3] as [UInt64])
  func `no secret is in anything that is written or shown, whatever happens`(seed: UInt64) throws {
    var drill = try SecretDrill(
      program: Program.path, seed: seed, parent: NSTemporaryDirectory())
    try drill.run(killing: Int(seed) - 1)
  }
}
