/// A command line up to the cursor, as bash takes it apart.
///
/// The words that bash hands to a completion are cut at `:`, `=` and whatever else COMP_WORDBREAKS
/// holds, and so are no words of the program's. The line itself is whole. What readline puts in place,
/// however, begins behind the last such character, or behind an open quote: so much of the word is
/// taken off what is given back to it.
struct BashLine {
  /// Those before the one at the cursor, the command's own among them, without quotes.
  private(set) var words: [String] = []
  /// The word at the cursor.
  private(set) var current = ""
  /// How much of it readline leaves as it is.
  private(set) var kept = 0
  /// The quote that is open at the cursor.
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
      // Another command begins.
      case (nil, ";"), (nil, "|"), (nil, "&"), (nil, "("), (nil, "\n"):
        endWord()
        words = []
      case (_, _):
        // What readline puts in place begins with an `@` or `$`, and behind any other.
        if breaks.contains(character) {
          kept = current.count + ("@$".contains(character) ? 0 : 1)
        }
        add(character)
      }
    }
    // Variables for this one command.
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

  /// A word that stands in place of the one at the cursor, as readline is to put it there.
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
      // A tilde at the beginning stands for a folder.
      let isTilde = character == "~" && (index > 0 || kept > 0)
      if isTilde || " \t\"'\\$`&|;<>()[]{}*?!#".contains(character) { text.append("\\") }
      text.append(character)
    }
    return text
  }
}
