import Foundation
import Testing

/// Every code block of the README holds.
struct ReadmeTests {
  private static func readme() throws -> DocumentBlocks {
    DocumentBlocks(
      "README.md",
      text: try String(contentsOfFile: Program.package + "/README.md", encoding: .utf8))
  }

  @Test func `every block is of a kind that is tried`() throws {
    let page = try Self.readme()
    #expect(page.oddities == [])
    #expect(Set(page.blocks.map(\.kind)) == ["yaml", "console"])
    #expect(page.blocks.allSatisfy { $0.reason == nil })
  }

  @Test func `the README's commands print what it says`() throws {
    try DocumentTrial(try Self.readme()).run()
  }
}
