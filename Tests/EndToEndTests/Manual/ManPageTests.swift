import Foundation
import Testing

/// The pages for man(1), which are made from the tables of commands and keys.
struct ManPageTests {
  static let pages = [("opflow", 1), ("opflow.yaml", 5)]

  @Test(arguments: pages)
  func `a page names what its table has`(_ name: String, _ section: Int) throws {
    let page = try Workplace().opflow("__man", name, "2026-01-02").output
    #expect(page.hasPrefix(".TH \"\(name.uppercased())\" \(section) \"2026-01-02\" \"opflow "))
    let words = try Workplace().opflow("help", name == "opflow" ? "help" : "manifest").output
    #expect(!words.isEmpty)
    for line in try Workplace().opflow("help", "--all").output.split(separator: "\n")
    where name == "opflow" && line.hasPrefix("  ") && !line.contains("opflow") {
      guard let command = line.split(separator: " ").first, line.dropFirst(2).first != " " else {
        continue
      }
      #expect(page.contains("\n\\fBopflow \(command)"), "\(command)")
    }
    guard name == "opflow.yaml" else { return }
    let keys = try Workplace().opflow("help", "manifest").output.split(separator: "\n")
      .filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
      .compactMap { $0.split(separator: " ").first }
    #expect(keys.count > 50)
    for key in keys { #expect(page.contains("\n\\fB\(key)\\fR\n"), "\(key)") }
  }

  @Test(arguments: pages)
  func `a page fits a terminal of 80 columns`(_ name: String, _ section: Int) throws {
    let place = try Workplace()
    try place.write("page", try place.opflow("__man", name, "2026-01-02").output)
    if !FileManager.default.isExecutableFile(atPath: "/usr/bin/man") {
      try Test.cancel("there is no man")
    }
    let wide = try place.shell(
      "MANWIDTH=80 LC_ALL=C.UTF-8 man -l page | col -bx | awk 'length > 80'"
    ).output
    #expect(wide == "")
  }

  @Test(arguments: pages)
  func `no reader of pages has anything to complain of`(_ name: String, _ section: Int) throws {
    let place = try Workplace()
    try place.write("page", try place.opflow("__man", name, "2026-01-02").output)
    let readers = [
      ("mandoc", "mandoc -T lint -W warning page"),
      ("man", "man --warnings -E UTF-8 -l -Tutf8 -Z page 2>&1 >/dev/null"),
    ]
    let there = readers.filter { reader in
      ["/usr/bin", "/bin"].contains {
        FileManager.default.isExecutableFile(atPath: "\($0)/\(reader.0)")
      }
    }
    if there.isEmpty { try Test.cancel("there is neither man nor mandoc") }
    for (_, command) in there {
      #expect(try place.shell(command, status: nil).output == "", "\(command)")
    }
  }
}
