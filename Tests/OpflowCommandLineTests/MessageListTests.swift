import Foundation
import Testing

/// All messages in one file, so that they can be read and reviewed as one text.
struct MessageListTests {
  private static let root = #filePath.components(separatedBy: "/Tests/")[0]
  private static let golden = root + "/Tests/Golden/messages.txt"

  /// With OPFLOW_UPDATE_GOLDEN in the environment this test writes the file, as
  /// `scripts/update-golden` asks.
  @Test func `the file of messages has the messages of the sources`() throws {
    let text = try MessageList.text(ofSourcesIn: Self.root + "/Sources")
    if ProcessInfo.processInfo.environment["OPFLOW_UPDATE_GOLDEN"] != nil {
      try text.write(toFile: Self.golden, atomically: true, encoding: .utf8)
    } else {
      let known = try String(contentsOfFile: Self.golden, encoding: .utf8)
      #expect(known == text, "run scripts/update-golden and review the changed messages")
    }
  }

  @Test func `literals with words are messages, and interpolations are named`() {
    let source = #"""
      let a = "cannot read \(CleanText.string(path)): \(error)" // "not this one"
      let b = "two parts " + names.count
      let c = "first part, "
        + "second part"
      let d = "word"; let e = "\(n == 1 ? "one task" : "many tasks") left"
      let f = """
        a long \
        line
        """
      let g = #"raw "quoted" text"#
      """#
    #expect(
      MessageList(of: source).messages == [
        "cannot read {path}: {error}", "two parts", "first part, second part",
        #"{n == 1 ? "one task" : "many tasks"} left"#, "a long line", #"raw "quoted" text"#,
      ])
  }
}
