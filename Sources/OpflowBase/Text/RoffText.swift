/// Writes a manual page for man(7).
package struct RoffText {
  package private(set) var text: String
  /// A heading already starts the paragraph after it.
  private var isBelowHeading = false

  package init(_ name: String, section: Int, date: String) {
    text = ".TH \"\(name)\" \(section) \"\(date)\" \"opflow \(Version.text)\" \"opflow\"\n"
  }

  package mutating func section(_ title: String) { head(".SH", title) }
  package mutating func subsection(_ title: String) { head(".SS", title) }

  private mutating func head(_ macro: String, _ title: String) {
    text += "\(macro) \(Self.quoted(title))\n"
    isBelowHeading = true
  }

  private mutating func beginParagraph() {
    if !isBelowHeading { text += ".PP\n" }
    isBelowHeading = false
  }

  /// Empty lines separate paragraphs; indented lines are verbatim.
  package mutating func paragraphs(_ words: String) {
    var isVerbatim = false
    var isAfterBlank = true
    for line in words.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.isEmpty {
        isAfterBlank = true
        continue
      }
      if line.hasPrefix("  ") != isVerbatim {
        if isVerbatim { text += ".EE\n" }
        isVerbatim.toggle()
        beginParagraph()
        if isVerbatim { text += ".EX\n" }
      } else if isAfterBlank {
        if isVerbatim { text += "\n" } else { beginParagraph() }
      }
      isAfterBlank = false
      text += Self.escaped(String(line)) + "\n"
    }
    if isVerbatim { text += ".EE\n" }
  }

  package mutating func example(_ lines: String) {
    beginParagraph()
    text += ".EX\n"
    for line in lines.split(separator: "\n", omittingEmptySubsequences: false) {
      text += Self.escaped(String(line)) + "\n"
    }
    text += ".EE\n"
  }

  package mutating func item(_ word: String, _ meaning: String) {
    isBelowHeading = false
    text += ".TP\n\\fB\(Self.escaped(word))\\fR\n\(Self.escaped(meaning))\n"
  }

  package mutating func bold(_ line: String) {
    beginParagraph()
    text += "\\fB\(Self.escaped(line))\\fR\n"
  }

  /// Writes the form that whatis(1) parses.
  package mutating func name(_ name: String, _ meaning: String) {
    section("NAME")
    text += "\(Self.escaped(name)) \\- \(Self.escaped(meaning))\n"
  }

  private static func quoted(_ title: String) -> String {
    "\"\(escaped(title).replacing("\"", with: "\\(dq"))\""
  }

  /// Prevents typographic quotes and dashes.
  private static func escaped(_ line: String) -> String {
    var text = ""
    for character in line {
      switch character {
      case "\\": text += "\\e"
      case "-": text += "\\-"
      case "'": text += "\\(aq"
      case "`": text += "\\(ga"
      case "^": text += "\\(ha"
      case "~": text += "\\(ti"
      case "…": text += "..."
      default: text.append(character)
      }
    }
    return text.hasPrefix(".") ? "\\&" + text : text
  }
}
