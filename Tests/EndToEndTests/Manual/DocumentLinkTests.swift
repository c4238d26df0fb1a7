import Foundation
import Testing

/// The targets of links in the README and in the manual exist.
struct DocumentLinkTests {
  private static let folder = Program.package + "/Sources/opflow/opflow.docc"

  private static func text(_ path: String) throws -> String {
    try String(contentsOfFile: path, encoding: .utf8)
  }

  /// The anchors of a Markdown page: its headings, with `-` for spaces.
  private static func anchors(_ text: String) -> Set<String> {
    var isCode = false
    var anchors: Set<String> = []
    for line in text.split(separator: "\n") {
      if line.hasPrefix("```") { isCode.toggle() }
      guard !isCode, line.hasPrefix("#"), let blank = line.firstIndex(of: " ") else { continue }
      anchors.insert(String(line[line.index(after: blank)...]).replacing(" ", with: "-"))
    }
    return anchors
  }

  @Test func `links of the README lead to files and headings`() throws {
    let readme = try Self.text(Program.package + "/README.md")
    var count = 0
    for match in readme.matches(of: /\]\(([^)\s]+)\)/) where !match.1.contains("://") {
      count += 1
      let parts = match.1.split(separator: "#", omittingEmptySubsequences: false)
      let path = Program.package + "/" + parts[0]
      #expect(FileManager.default.fileExists(atPath: path), "\(match.1)")
      if parts.count > 1 { #expect(try Self.anchors(Self.text(path)).contains(String(parts[1]))) }
    }
    #expect(count >= 15)
  }

  @Test func `links of the manual lead to pages and headings`() throws {
    let pages = try FileManager.default.contentsOfDirectory(atPath: Self.folder)
      .filter { $0.hasSuffix(".md") }
    var count = 0
    for page in pages {
      let text = try Self.text("\(Self.folder)/\(page)")
      let links =
        text.matches(of: /<doc:([^>]+)>/).map(\.1)
        + text.matches(of: /[^!]\[[^\]]*\]\((\w+[^):]*)\)/).map(\.1)
      for link in links {
        count += 1
        let parts = link.split(separator: "#", omittingEmptySubsequences: false)
        #expect(pages.contains("\(parts[0]).md"), "\(page): \(link)")
        guard parts.count > 1, pages.contains("\(parts[0]).md") else { continue }
        let anchors = try Self.anchors(Self.text("\(Self.folder)/\(parts[0]).md"))
        #expect(anchors.contains(String(parts[1])), "\(page): \(link)")
      }
    }
    #expect(count > 60)
    let root = try Self.text("\(Self.folder)/opflow.md")
    for page in pages where page != "opflow.md" {
      #expect(root.contains("- <doc:\(page.dropLast(3))>"), "\(page) is in no group of pages")
    }
  }

  @Test func `the site has all pages, and links of it lead somewhere`() throws {
    let place = try Workplace()
    guard try place.shell("command -v docc", status: nil).status == 0 else {
      try Test.cancel("there is no docc")
    }
    try place.shell("'\(Program.package)/scripts/docs' --base /manual site")
    #expect(try place.text("site/index.html").contains("href=\"/manual/documentation/opflow/\""))
    var anchors: [String: Set<String>] = [:]
    var links: Set<String> = []
    var images = 0
    let data = place.file("site/data")
    let names = try #require(FileManager.default.enumerator(atPath: data)).compactMap {
      $0 as? String
    }.filter { $0.hasSuffix(".json") }
    for name in names {
      let page = try JSONSerialization.jsonObject(
        with: Data(contentsOf: URL(fileURLWithPath: "\(data)/\(name)")))
      let address = "/" + name.dropLast(".json".count)
      anchors[address] = []
      try Self.walk(page) { object in
        if let anchor = object["anchor"] as? String { anchors[address]?.insert(anchor) }
        guard let type = object["type"] as? String else { return }
        if type == "image", let variants = object["variants"] as? [[String: Any]] {
          for variant in variants {
            images += 1
            let file = try #require(variant["url"] as? String)
            #expect(place.exists("site" + file), "\(name): \(file)")
          }
        } else if let url = object["url"] as? String, url.hasPrefix("/") {
          links.insert(url)
        }
      }
    }
    #expect(anchors.count > 20 && links.count > 40 && images >= 3)
    for link in links {
      let parts = link.split(separator: "#").map(String.init)
      #expect(place.exists("site\(parts[0])/index.html"), "\(link)")
      guard parts.count > 1 else { continue }
      #expect(anchors[parts[0]]?.contains(parts[1]) == true, "\(link)")
    }
    // The script does not overwrite a folder with other files.
    try place.write("mine/letter", "dear\n")
    let refused = try place.shell(
      "'\(Program.package)/scripts/docs' mine", status: 1)
    #expect(refused.errors.contains("contains files that are not a website built by this script"))
    #expect(place.exists("mine/letter"))
  }

  /// Every object of a JSON value.
  private static func walk(_ value: Any, _ body: ([String: Any]) throws -> Void) throws {
    if let object = value as? [String: Any] {
      try body(object)
      for inner in object.values { try walk(inner, body) }
    } else if let list = value as? [Any] {
      for inner in list { try walk(inner, body) }
    }
  }
}
