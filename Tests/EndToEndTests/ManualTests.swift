import Foundation
import Testing

/// Every manifest in the manual is one: a `yaml` block is checked as it stands, unless the line above
/// it is `<!-- fragment -->`.
struct ManualTests {
  private struct Page: CustomTestStringConvertible {
    let name: String
    /// The number of each block's first line, and the block.
    let manifests: [(line: Int, text: String)]
    /// Blocks that have no end, or are of a kind that nobody knows how to test.
    let oddities: [String]

    var testDescription: String { name }

    init(_ name: String, text: String) {
      self.name = name
      var manifests: [(line: Int, text: String)] = []
      var oddities: [String] = []
      var open: (kind: String, line: Int, isFragment: Bool, lines: [String])?
      var last = ""
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      for (index, line) in lines.enumerated() {
        defer { last = line }
        guard line.hasPrefix("```") else {
          open?.lines.append(line)
          continue
        }
        guard let block = open else {
          open = (String(line.dropFirst(3)), index + 2, last == "<!-- fragment -->", [])
          continue
        }
        open = nil
        if block.kind == "yaml", !block.isFragment {
          manifests.append((block.line, block.lines.joined(separator: "\n") + "\n"))
        } else if !["yaml", "", "console"].contains(block.kind) {
          oddities.append("\(name):\(block.line): a block of kind \(block.kind)")
        }
      }
      if let open { oddities.append("\(name):\(open.line): a block without an end") }
      self.manifests = manifests
      self.oddities = oddities
    }
  }

  private static func pages() throws -> [Page] {
    let folder = Program.package + "/Sources/opflow/opflow.docc"
    return try FileManager.default.contentsOfDirectory(atPath: folder)
      .filter { $0.hasSuffix(".md") }.sorted()
      .map { Page($0, text: try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8)) }
  }

  @Test func `every block is of a kind that is known`() throws {
    let pages = try Self.pages()
    #expect(pages.flatMap(\.oddities) == [])
    #expect(pages.contains { $0.name == "Manifest.md" && $0.manifests.count >= 7 })
  }

  @Test func `every manifest of the manual has no mistake`() throws {
    let place = try Workplace()
    for page in try Self.pages() {
      for (line, text) in page.manifests {
        try place.write("opflow.yaml", text)
        let check = try place.opflow("check", status: nil)
        #expect(check.status == 0, "\(page.name):\(line): \(check)")
        #expect(!check.errors.contains("warning:"), "\(page.name):\(line): \(check)")
      }
    }
  }

  @Test func `a manifest with a mistake, and a block of an unknown kind, are found`() {
    let page = Page(
      "p.md",
      text: "```yaml\na\n```\n<!-- fragment -->\n```yaml\nb\n```\n```swift\n```\n```yaml\nc\n")
    #expect(page.manifests.map(\.line) == [2])
    #expect(page.manifests.map(\.text) == ["a\n"])
    #expect(page.oddities == ["p.md:9: a block of kind swift", "p.md:11: a block without an end"])
  }
}
