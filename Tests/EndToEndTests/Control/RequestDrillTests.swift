import Drill
import Foundation
import Testing

/// A sample of `scripts/stress requests`.
struct RequestDrillTests {
  @Test func `a run that is asked for anything while it is killed ends as it has to`() throws {
    var drill = try RequestDrill(
      program: Program.path, seed: 1, tasks: 400, requests: 150, parent: NSTemporaryDirectory())
    try drill.run()
    #expect(drill.obeyed > 0)
  }
}
