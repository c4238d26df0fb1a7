import Foundation
import FoundationXML
import Testing

/// The pictures of the README and the manual, and what draws a terminal.
struct PictureTests {
  @Test func `what a terminal shows is drawn as text, each word at its column`() throws {
    let place = try Workplace()
    try place.write(
      "capture",
      """
      \u{1B}[1mrun\u{1B}[0m  \u{1B}[32mdone\u{1B}[39m a<b & c
      漢字 x \u{1B}]8;;file://y\u{1B}\\z\u{1B}]8;;\u{1B}\\

      """
    )
    let svg = try place.shell(
      "python3 '\(Program.package)/scripts/pages/terminal_picture.py' 'a & b' < capture"
    ).output
    let reader = Texts()
    let parser = XMLParser(data: Data(svg.utf8))
    parser.delegate = reader
    #expect(parser.parse(), "\(svg)")
    #expect(reader.texts == ["a & b", "run", "done", "a<b & c", "漢字 x z"])
    #expect(svg.contains("aria-label=\"a &amp; b\""))
    #expect(svg.contains("fill=\"#8cc265\""))
    // Five cells behind the margin; two for each of the wide characters.
    #expect(svg.contains("x=\"58.0\""))
    #expect(svg.contains("textLength=\"67.2\""))
  }

  @Test func `pictures are small enough for a repository`() throws {
    let folder = Program.package + "/Sources/opflow/opflow.docc/Resources"
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(names.sorted() == ["live.svg", "report.png", "report~dark.png"])
    for name in names {
      let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")).count
      #expect(bytes > 1000 && bytes < 150_000, "\(name): \(bytes)")
    }
  }

  private final class Texts: NSObject, XMLParserDelegate {
    var texts: [String] = []
    private var current: String?

    func parser(
      _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
      qualifiedName: String?, attributes: [String: String]
    ) {
      if name == "text" { current = "" }
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) { current? += text }

    func parser(
      _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
    ) {
      if let current { texts.append(current) }
      current = nil
    }
  }
}
