import Drill
import Foundation
import Testing

/// A sample of `scripts/soak fresh`.
struct FreshDrillTests {
  @Test func `what is told to be up to date is, whatever was changed and killed`() throws {
    var drill = try FreshDrill(
      program: Program.path, seed: 1, sources: 12, parent: NSTemporaryDirectory())
    try drill.run(killing: 8)
  }
}
