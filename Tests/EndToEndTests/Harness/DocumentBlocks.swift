import Foundation

/// The fenced blocks of a Markdown page, with the instructions in its comments.
///
/// - `<!-- before: COMMAND -->` above a block runs COMMAND before it, in the folder of the page.
/// - `<!-- not run: REASON -->` directly above a block excludes it, for that reason.
struct DocumentBlocks {
  struct Block {
    /// The word after the fence, or an empty string.
    var kind: String
    /// The number of its first line in the page.
    var line: Int
    var lines: [String] = []
    /// The reason why the test does not run it; nil if it does.
    var reason: String?
    /// The commands to run before it.
    var before: [String] = []

    /// NAME if the first line is `# NAME`.
    var fileName: String? {
      guard let first = lines.first, first.hasPrefix("# ") else { return nil }
      let name = first.dropFirst(2)
      guard !name.contains(" "), name.contains(/^[\w.\/-]*[A-Za-z][\w.\/-]*$/) else { return nil }
      return String(name)
    }

    var text: String { lines.joined(separator: "\n") + "\n" }
  }

  let name: String
  private(set) var blocks: [Block] = []
  /// The errors of the page itself, each with its line.
  private(set) var oddities: [String] = []

  /// The kinds that the test can run.
  private static let kinds: Set<String> = ["yaml", "console", "sh", "json", "file", "swift"]

  init(_ name: String, text: String) {
    self.name = name
    var open: Block?
    var reason: String?
    var before: [String] = []
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    for (index, line) in lines.enumerated() {
      if line.hasPrefix("```") {
        if let block = open {
          finish(block)
          open = nil
        } else {
          open = Block(
            kind: String(line.dropFirst(3)), line: index + 2, reason: reason, before: before)
          (reason, before) = (nil, [])
        }
        continue
      }
      if open != nil {
        open?.lines.append(line)
      } else if let command = Self.comment("before", line) {
        before.append(command)
      } else if let words = Self.comment("not run", line) {
        reason = words
      } else if !line.isEmpty, reason != nil || !before.isEmpty {
        oddities.append("\(name):\(index + 1): a comment about a block that does not follow")
        (reason, before) = (nil, [])
      }
    }
    if let open { oddities.append("\(name):\(open.line): a block without an end") }
  }

  private mutating func finish(_ block: Block) {
    if let reason = block.reason {
      if reason.count < 10 { oddities.append("\(name):\(block.line): no reason why it is not run") }
    } else if !Self.kinds.contains(block.kind) {
      oddities.append(
        "\(name):\(block.line): nobody knows how to try a block of kind `\(block.kind)`")
    } else if block.kind != "yaml", block.kind != "console", block.kind != "swift",
      block.fileName == nil
    {
      oddities.append("\(name):\(block.line): the first line of the block names no file")
    }
    blocks.append(block)
  }

  private static func comment(_ word: String, _ line: String) -> String? {
    guard line.hasPrefix("<!-- \(word): "), line.hasSuffix(" -->") else { return nil }
    return String(line.dropFirst("<!-- \(word): ".count).dropLast(" -->".count))
  }
}
