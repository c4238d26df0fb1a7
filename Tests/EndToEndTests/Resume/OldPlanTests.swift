import Foundation
import Testing

/// Runs whose compiled plan another opflow made, or that somebody changed.
struct OldPlanTests {
  private func stopped() throws -> Workplace {
    let place = try Workplace(
      """
      tasks:
        a: { run: echo a >> trace }
        b: { needs: [a], run: test -e go && echo b >> trace }
      """)
    try place.opflow("run", status: 1)
    try place.write("go", "")
    return place
  }

  private func change(_ place: Workplace, _ change: (inout [UInt8]) -> Void) throws {
    let name = try place.runFolder() + "/plan"
    var bytes = try place.bytes(name)
    change(&bytes)
    try place.remove(name)
    try Data(bytes).write(to: URL(fileURLWithPath: place.file(name)))
  }

  @Test(arguments: [("resume", "-q"), ("run", "--resume")])
  func `a run whose plan has another format is resumed with a new one`(
    _ command: String, _ flag: String
  ) throws {
    let place = try stopped()
    // The version, behind the eight bytes that say what it is.
    var own: UInt8 = 0
    try change(place) {
      own = $0[8]
      $0[8] = 3
    }
    for view in ["status", "logs"] {
      let refused = try place.opflow(view, status: 4)
      #expect(
        refused.errors.contains(
          "opflow cannot use this plan: it has format 3, and opflow reads \(own);"
            + " `opflow resume` rebuilds it from the manifest\n"))
    }
    try place.opflow(command, flag)
    #expect(place.lines() == ["a", "b"])
    #expect(try place.status().state == "succeeded")
  }

  @Test func `a run that succeeded under a plan of another format is begun anew by --resume`()
    throws
  {
    let place = try stopped()
    try place.opflow("resume")
    try change(place) { $0[8] = 1 }
    try place.opflow("run", "--resume")
    #expect(place.lines() == ["a", "b", "a", "b"])
    #expect(place.runs.count == 2)
  }

  @Test func `a plan with any byte changed is refused by views and made anew by a resume`() throws {
    let place = try stopped()
    let size = try place.bytes(place.runFolder() + "/plan").count
    try change(place) { $0[size - 9] ^= 1 }
    #expect(
      try place.opflow("status", status: 4).errors
        .contains("it is damaged: the checksum does not match"))
    #expect(try place.opflow("journal", "verify").output.contains("intact"))
    try place.opflow("resume")
    #expect(place.lines() == ["a", "b"])
  }
}
