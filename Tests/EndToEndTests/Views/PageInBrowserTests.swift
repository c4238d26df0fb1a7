import Foundation
import Testing

/// The page of a run in a browser, gone through as a reader would: what `scripts/smoke-page` does
/// with more tasks and within limits of time.
@Suite struct PageInBrowserTests {
  private static let browser = Program.browser

  @Test(
    .enabled(if: browser != nil, "there is no Chromium here (Debian: apt-get install chromium)"),
    .timeLimit(.minutes(30)))
  func `a page works as it should in a browser`() throws {
    let place = try Workplace()
    let tried = try place.shell(
      "exec python3 \"$PAGES/smoke.py\"",
      environment: [
        "PAGES": "\(Program.package)/scripts/pages", "BROWSER": Self.browser ?? "",
        "OPFLOW": Program.path, "COUNTS": "40", "FOLDER": "", "WORK": place.path, "LIMITS": "",
        "PYTHONDONTWRITEBYTECODE": "1",
      ])
    #expect(tried.output.hasSuffix("smoke-page: passed\n"), "\(tried)")
  }
}
