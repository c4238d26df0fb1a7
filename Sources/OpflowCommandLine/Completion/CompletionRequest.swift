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
      // A leading tilde means a home folder.
      let isTilde = character == "~" && (index > 0 || kept > 0)
      if isTilde || " \t\"'\\$`&|;<>()[]{}*?!#".contains(character) { text.append("\\") }
      text.append(character)
    }
    return text
  }
}

package enum CompletionScript {
  package static func text(_ shell: CompletionShell) -> String {
    switch shell {
    case .bash: bash
    case .zsh: zsh
    case .fish: fish
    }
  }

  // Uses the line, since words are split at `:` and `=`. Other completions share COMP_WORDBREAKS.
  private static let bash = #"""
    # Completion of opflow for bash: eval "$(opflow completion bash)"
    _opflow() {
      local program=opflow answer
      [[ $1 == */* ]] && program=${1/#\~\//$HOME/}
      COMPREPLY=()
      answer=$("$program" __complete bash "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null) || return 0
      [[ $answer == *$'\n'* ]] || return 0
      [[ $answer == open* ]] && compopt -o nospace 2>/dev/null
      local IFS=$'\n' glob=$-
      set -f
      COMPREPLY=(${answer#*$'\n'})
      [[ $glob == *f* ]] || set +f
    }
    complete -o nosort -F _opflow opflow 2>/dev/null || complete -F _opflow opflow

    """#

  private static let zsh = #"""
    #compdef opflow
    # Completion of opflow for zsh: eval "$(opflow completion zsh)", or a file _opflow in a folder of fpath.
    _opflow() {
      local program=opflow line
      local -a answer given shown space
      [[ $words[1] == */* ]] && program=${(Q)words[1]/#\~\//$HOME/}
      answer=("${(@f)$($program __complete zsh "${(Q)PREFIX}" "${(@Q)words[2,CURRENT-1]}" 2>/dev/null)}")
      (( $#answer > 1 )) || return 1
      [[ $answer[1] == open ]] && space=(-S '')
      for line in "${(@)answer[2,-1]}"; do
        given+=("${line%%$'\t'*}")
        shown+=("${line/$'\t'/  -- }")
      done
      compadd -V opflow "$space[@]" -l -d shown -a given
    }
    if [[ $funcstack[1] == _opflow ]]; then
      _opflow "$@"
    else
      compdef _opflow opflow
    fi

    """#

  private static let fish = #"""
    # Completion of opflow for fish: opflow completion fish | source
    function __opflow_complete
        set -l words (commandline -opc)
        set -l program opflow
        string match -q '*/*' -- $words[1]; and set program (string replace -r '^~/' $HOME/ -- $words[1])
        set -l current (commandline -ct)
        set -l answer ($program __complete fish "$current" $words[2..-1] 2>/dev/null)
        test (count $answer) -gt 1; and printf '%s\n' $answer[2..-1]
    end
    complete -c opflow -f -k -a '(__opflow_complete)'

    """#
}
