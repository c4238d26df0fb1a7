import Drill
import Foundation
import Testing

/// A sample of `scripts/stress fresh`.
struct FreshDrillTests {
  @Test func `what is told to be up to date is, whatever was changed and killed`() throws {
    var drill = try FreshDrill(
      program: Program.path, seed: 1, sources: 12, parent: NSTemporaryDirectory())
    try drill.run(killing: 8)
  }

  /// A sample of `scripts/stress together`.
  @Test(arguments: [1, 2] as [UInt64])
  func `of live runs of one state folder none disturbs another, whatever is killed`(
    _ seed: UInt64
  ) throws {
    var drill = try TogetherDrill(
      program: Program.path, seed: seed, tasks: 12, parent: NSTemporaryDirectory())
    try drill.run(rounds: 6)
  }
}
