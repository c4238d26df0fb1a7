import Foundation
import Testing

/// What opflow writes for other programs, read by those: a trace by Perfetto, a graph by Mermaid,
/// in a browser that runs them. `scripts/setup --tests` installs them where it can.
@Suite struct ForeignReaderTests {
  private static let readers = Program.package + "/.build/readers"
  private static let browser = Program.browser

  @Test(
    .enabled(if: browser != nil, "there is no Chromium here (Debian: apt-get install chromium)"),
    .enabled(
      if: FileManager.default.fileExists(atPath: readers),
      "Perfetto and Mermaid are not here (scripts/setup --tests)"),
    .timeLimit(.minutes(30)))
  func `Perfetto reads a trace whole, and Mermaid draws what names hold as text`() throws {
    let place = try Workplace()
    let tried = try place.shell(
      "exec python3 \"$PAGES/readers.py\"",
      environment: [
        "PAGES": "\(Program.package)/scripts/pages", "BROWSER": Self.browser ?? "",
        "OPFLOW": Program.path, "WORK": place.path, "READERS": Self.readers,
        "PYTHONDONTWRITEBYTECODE": "1",
      ])
    #expect(tried.output.hasSuffix("readers: passed\n"), "\(tried)")
  }
}
