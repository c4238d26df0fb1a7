/// Writes help for a terminal of 80 columns.
package struct HelpLines {
  package private(set) var text = ""

  package init() {}

  package mutating func line(_ line: String = "") { text += line + "\n" }

  /// Adds a left column and a wrapped text that starts at `column`. A left column that is too long
  /// gets a line of its own.
  package mutating func row(_ left: String, _ column: Int, _ right: String) {
    let fits = left.count <= column - 2
    if !fits, !left.isEmpty { line(left) }
    var line = fits ? left.padded(to: column) : String.spaces(column)
    var isEmpty = true
    for word in right.split(separator: " ") {
      if !isEmpty, line.count + 1 + word.count > 80 {
        text += line + "\n"
        line = .spaces(column)
        isEmpty = true
      }
      line += isEmpty ? word : " " + word
      isEmpty = false
    }
    text += line + "\n"
  }

  package mutating func block(_ left: String, _ column: Int, _ block: String) {
    var left = left
    for line in block.split(separator: "\n", omittingEmptySubsequences: false) {
      text += left.padded(to: column) + line + "\n"
      left = ""
    }
  }

  /// Wraps paragraphs, which empty lines separate. Indented lines stay as they are.
  package mutating func paragraphs(_ words: String) {
    var paragraph = ""
    for line in words.split(separator: "\n", omittingEmptySubsequences: false) {
      if !line.isEmpty, !line.hasPrefix("  ") {
        paragraph += paragraph.isEmpty ? line : " " + line
        continue
      }
      if !paragraph.isEmpty { row("", 0, paragraph) }
      paragraph = ""
      self.line(String(line))
    }
    if !paragraph.isEmpty { row("", 0, paragraph) }
  }
}

extension String {
  fileprivate func padded(to count: Int) -> String { self + .spaces(max(0, count - self.count)) }

  fileprivate static func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }
}
