/// Text of at most 80 columns.
struct HelpLines {
  private(set) var text = ""

  mutating func line(_ line: String = "") { text += line + "\n" }

  /// Adds a word, and its wrapped description from `column` on.
  mutating func row(_ left: String, _ column: Int, _ right: String) {
    var line = left.padded(to: column - 1) + " "
    var isEmpty = true
    for word in right.split(separator: " ") {
      if !isEmpty, line.count + 1 + word.count > 80 {
        text += line + "\n"
        line = String(repeating: " ", count: column)
        isEmpty = true
      }
      line += isEmpty ? word : " " + word
      isEmpty = false
    }
    text += line + "\n"
  }

  /// Adds a word, and lines that are not wrapped.
  mutating func block(_ left: String, _ column: Int, _ block: String) {
    var left = left
    for line in block.split(separator: "\n", omittingEmptySubsequences: false) {
      text += left.padded(to: column) + line + "\n"
      left = ""
    }
  }
}

extension String {
  fileprivate func padded(to count: Int) -> String {
    self + String(repeating: " ", count: max(0, count - self.count))
  }
}
