/// The request of a shell's script. The answer's first line, `open` or `closed`, tells whether a
/// space follows the word; the completions follow.
package struct CompletionRequest {
  private let shell: CompletionShell
  private let line: BashLine?
  package let question: CompletionQuestion
  private let current: String

  /// `words`: for bash the line up to the cursor and COMP_WORDBREAKS, else the word at the cursor,
  /// then the arguments before it.
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

  /// More than a person would read.
  private static let most = 2000

  package func answer(_ candidates: [CompletionCandidate]) -> String {
    var shown = candidates.map { (whole: question.prefix + $0.word, candidate: $0) }
    // Other shells match by their users' rules.
    if shell == .bash || shown.count > Self.most {
      shown = shown.filter { $0.whole.hasPrefix(current) }
    }
    if shown.isEmpty { return "" }
    let isOpen = shown.allSatisfy(\.candidate.isOpen)
    var text = isOpen ? "open\n" : "closed\n"
    for (whole, candidate) in shown.prefix(Self.most) {
      // Only a file's name can contain these.
      if whole.contains(where: { $0.isNewline || $0 == "\t" }) { continue }
      if let line {
        text += line.replacement(whole) + "\n"
      } else {
        text += candidate.meaning.isEmpty ? "\(whole)\n" : "\(whole)\t\(candidate.meaning)\n"
      }
    }
    return text
  }

  /// fish passes quotes on.
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
