/// A command line up to the cursor. Bash splits its words at `:`, `=` and other COMP_WORDBREAKS;
/// only the line is complete. But readline replaces only the part after the last such character or
/// an open quote, so the answer omits what precedes it.
struct BashLine {
  /// Before the cursor, with the command's name, unquoted.
  private(set) var words: [String] = []
  private(set) var current = ""
  /// The length that readline keeps.
  private(set) var kept = 0
  private(set) var quote: Character?
  private var isInWord = false

  init(_ line: String, breaks: String) {
    var rest = Substring(line)
    while let character = rest.popFirst() {
      switch (quote, character) {
      case ("'"?, "'"), ("\""?, "\""):
        quote = nil
        kept = current.count
      case ("'"?, _): add(character)
      case (nil, "\\"), ("\""?, "\\"):
        let isKept = quote != nil && rest.first.map { !"\"\\$`".contains($0) } == true
        if isKept { add(character) }
        if let next = rest.popFirst() { add(next) }
      case ("\""?, _): add(character)
      case (nil, "'"), (nil, "\""):
        quote = character
        isInWord = true
        kept = current.count
      case (nil, " "), (nil, "\t"): endWord()
      // Another command starts.
      case (nil, ";"), (nil, "|"), (nil, "&"), (nil, "("), (nil, "\n"):
        endWord()
        words = []
      case (_, _):
        // Readline replaces from an `@` or `$` on, else from after the break.
        if breaks.contains(character) {
          kept = current.count + ("@$".contains(character) ? 0 : 1)
        }
        add(character)
      }
    }
    // Variable assignments before the command.
    while let first = words.first, first.contains("="), !first.hasPrefix("=") {
      words.removeFirst()
    }
  }

  private mutating func add(_ character: Character) {
    current.append(character)
    isInWord = true
  }

  private mutating func endWord() {
    if isInWord { words.append(current) }
    (current, kept, isInWord) = ("", 0, false)
  }

  /// In the form that readline inserts.
  func replacement(_ word: String) -> String {
    let rest = word.dropFirst(kept)
    switch quote {
    case "'"?: return String(rest).replacing("'", with: "'\\''")
    case "\""?:
      return String(rest.flatMap { "\"\\$`".contains($0) ? ["\\", $0] : [$0] })
    default: break
    }
    var text = ""
    for (index, character) in rest.enumerated() {
      // A leading tilde stands for a folder.
      let isTilde = character == "~" && (index > 0 || kept > 0)
      if isTilde || " \t\"'\\$`&|;<>()[]{}*?!#".contains(character) { text.append("\\") }
      text.append(character)
    }
    return text
  }
}
