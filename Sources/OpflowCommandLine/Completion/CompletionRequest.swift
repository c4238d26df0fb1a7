/// A question of a shell's script, and how it is answered.
///
/// The answer is lines: `open` or `closed`, which says whether a blank is to follow the word, then a
/// word each, as the shell's script takes it.
package struct CompletionRequest {
  private let shell: CompletionShell
  private let line: BashLine?
  package let question: CompletionQuestion
  private let current: String

  /// - Parameter words: of bash, the line up to the cursor and COMP_WORDBREAKS; of the others, the word
  ///   at the cursor, then those before it, but for the program's own.
  package init?(_ words: [String]) {
    guard let shell = words.first.flatMap(CompletionShell.init(rawValue:)), words.count > 1 else {
      return nil
    }
    self.shell = shell
    switch shell {
    case .bash:
      guard words.count == 3 else { return nil }
      let line = BashLine(words[1], breaks: words[2])
      if line.words.isEmpty { return nil }
      self.line = line
      current = line.current
      question = CompletionQuestion(Array(line.words.dropFirst()), line.current)
    case .zsh, .fish:
      line = nil
      current = shell == .fish ? Self.unquoted(words[1]) : words[1]
      question = CompletionQuestion(Array(words.dropFirst(2)), current)
    }
  }

  /// More than anybody looks through.
  private static let most = 2000

  package func answer(_ candidates: [CompletionCandidate]) -> String {
    var shown = candidates.map { (whole: question.prefix + $0.word, candidate: $0) }
    // The other shells choose themselves, each by rules of its user's.
    if shell == .bash || shown.count > Self.most {
      shown = shown.filter { $0.whole.hasPrefix(current) }
    }
    if shown.isEmpty { return "" }
    let isOpen = shown.allSatisfy(\.candidate.isOpen)
    var text = isOpen ? "open\n" : "closed\n"
    for (whole, candidate) in shown.prefix(Self.most) {
      // What would break a line is no word of opflow's, but may be a file's name.
      if whole.contains(where: { $0.isNewline || $0 == "\t" }) { continue }
      if let line {
        text += line.replacement(whole) + "\n"
      } else {
        text += candidate.meaning.isEmpty ? "\(whole)\n" : "\(whole)\t\(candidate.meaning)\n"
      }
    }
    return text
  }

  /// A word of fish's line, which is handed on with its quotes.
  private static func unquoted(_ word: String) -> String {
    var text = ""
    var quote: Character?
    var rest = Substring(word)
    while let character = rest.popFirst() {
      if character == quote {
        quote = nil
      } else if quote == nil, character == "'" || character == "\"" {
        quote = character
      } else if character == "\\", let next = rest.popFirst() {
        text.append(next)
      } else {
        text.append(character)
      }
    }
    return text
  }
}
