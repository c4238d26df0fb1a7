import Foundation
import Testing

/// The reference has all commands and all variables of the environment.
struct ReferenceTests {
  private static func page(_ name: String) throws -> String {
    try String(
      contentsOfFile: "\(Program.package)/Sources/opflow/opflow.docc/\(name)", encoding: .utf8)
  }

  /// All Swift sources that are shipped.
  private static func sources() throws -> [String] {
    let folder = Program.package + "/Sources"
    return try #require(FileManager.default.enumerator(atPath: folder))
      .compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
      .map { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }
  }

  @Test func `the help of each command is in the manual`() throws {
    let page = try Self.page("Commands.md")
    let help = try Workplace().opflow("help", "--all").output
    var count = 0
    for line in help.split(separator: "\n") {
      guard let match = line.firstMatch(of: /^  ([a-z]+)\b/), match.1 != "opflow" else { continue }
      count += 1
      #expect(page.contains("\n## opflow \(match.1)\n"), "\(match.1): run scripts/update-golden")
    }
    #expect(count > 25)
    #expect(page.components(separatedBy: "\n## opflow ").count == count + 1)
  }

  @Test func `each variable that is read or set is in the manual`() throws {
    let page = try Self.page("Environment.md")
    var names: Set<String> = []
    for text in try Self.sources() {
      for match in text.matches(of: /Environment\.value\("([A-Z_]+)"/) {
        names.insert(String(match.1))
      }
      for match in text.matches(of: /"(OPFLOW_[A-Z_]*[A-Z])[="]/) { names.insert(String(match.1)) }
    }
    #expect(names.isSuperset(of: ["OPFLOW_CACHE", "OPFLOW_RUN", "OPFLOW_ATTEMPT", "NO_COLOR"]))
    for name in names { #expect(page.contains("`\(name)`"), "\(name)") }
  }
}
