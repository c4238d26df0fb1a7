import Foundation
import Testing

/// Every code block of the manual holds, unless a comment above it says why nobody can try it.
struct ManualTests {
  private static let folder = Program.package + "/Sources/opflow/opflow.docc"

  private static func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder)
      .filter { $0.hasSuffix(".md") }.sorted()
  }

  private static func page(_ name: String) throws -> DocumentBlocks {
    DocumentBlocks(name, text: try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8))
  }

  @Test func `every block is of a kind that is tried, or says why it is not`() throws {
    let pages = try Self.names().map(Self.page)
    #expect(pages.flatMap(\.oddities) == [])
    let blocks = pages.flatMap(\.blocks)
    let tried = blocks.filter { $0.reason == nil }
    #expect(tried.count > 2 * (blocks.count - tried.count))
  }

  @Test(arguments: try names())
  func `the blocks of a page do what it says`(_ name: String) throws {
    try DocumentTrial(try Self.page(name)).run()
  }

  @Test(arguments: try names())
  func `a loop of a page pauses between its questions`(_ name: String) throws {
    for block in try Self.page(name).blocks {
      #expect(
        !block.text.contains(try Regex(#"do\s*:\s*;?\s*done|while [^\n]*:\n\s+pass\b"#)),
        "line \(block.line)")
    }
  }

  @Test func `what cannot be tried is found`() {
    let page = DocumentBlocks(
      "p.md",
      text: """
        ```yaml
        # a.yaml
        x
        ```
        <!-- not run: a network is needed -->
        ```ruby
        b
        ```
        <!-- not run: no -->
        ```
        ```
        ```ruby
        ```
        ```sh
        echo
        ```
        <!-- before: true -->
        text
        ```yaml
        c
        """)
    #expect(page.blocks.map(\.line) == [2, 7, 11, 13, 15])
    #expect(page.blocks.map(\.fileName) == ["a.yaml", nil, nil, nil, nil])
    #expect(page.blocks[1].reason == "a network is needed")
    #expect(
      page.oddities == [
        "p.md:11: no reason why it is not run",
        "p.md:13: nobody knows how to try a block of kind `ruby`",
        "p.md:15: the first line of the block names no file",
        "p.md:18: a comment about a block that does not follow",
        "p.md:20: a block without an end",
      ])
  }

  @Test func `an output fits what is expected of it line by line`() {
    #expect(DocumentTrial.fits("a\nb\nc", "a\n…\nc"))
    #expect(DocumentTrial.fits("a\nc", "a\n…\nc"))
    #expect(DocumentTrial.fits("a\nb", "…"))
    #expect(!DocumentTrial.fits("a\nb", "a"))
    #expect(!DocumentTrial.fits("a\nb\nd", "a\n…\nc"))
    #expect(!DocumentTrial.fits("a", "a\nb"))
  }
}
