import Foundation
import Testing

/// The manual's page of commands has the texts of the help.
struct CommandsPageTests {
  private static let page =
    #filePath.components(separatedBy: "/Tests/")[0] + "/Sources/opflow/opflow.docc/Commands.md"
  private static let marker = "<!-- commands -->\n\n"

  /// With OPFLOW_UPDATE_GOLDEN in the environment this test writes the page, as
  /// `scripts/update-golden` asks.
  @Test func `the page of commands says what the tables of commands and flags say`() throws {
    let text = try String(contentsOfFile: Self.page, encoding: .utf8)
    let end = try #require(text.range(of: Self.marker)).upperBound
    let made = text[..<end] + CommandsPageText().text
    if ProcessInfo.processInfo.environment["OPFLOW_UPDATE_GOLDEN"] != nil {
      try made.write(toFile: Self.page, atomically: true, encoding: .utf8)
    } else {
      #expect(made == text, "run scripts/update-golden")
    }
  }
}
