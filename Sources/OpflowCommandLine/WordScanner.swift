internal import OpflowBase
internal import OpflowPlan

/// Splits arguments as getopt_long(3) does: `--flag=value`, `--flag value`, `-j4`, `-j 4`, `-kn`,
/// and no flags after `--`.
struct WordScanner {
  /// The value may be empty.
  typealias Found = (flag: Flag, value: String)

  private(set) var flags: [Found] = []
  private(set) var positionals: [String] = []
  /// After `--`; also in `positionals`.
  private(set) var behindDashes: [String] = []
  private let command: Command
  private let known: [Flag]

  init(_ words: [String], of command: Command, taking flags: [Flag]) throws(Complaint) {
    self.command = command
    known = flags + [.help]
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" {
        behindDashes = Array(rest)
        positionals += behindDashes
        return
      }
      if word.hasPrefix("--") {
        try scanLong(word.dropFirst(2), &rest)
      } else if word.hasPrefix("-"), word != "-", !isNegativeNumber(word) {
        try scanLetters(word.dropFirst(), &rest)
      } else {
        positionals.append(word)
      }
    }
  }

  /// No flag is a digit, and a request's number may be negative.
  private func isNegativeNumber(_ word: String) -> Bool {
    guard word.dropFirst().first.map({ ("0"..."9").contains($0) }) == true,
      case .order(let verb) = command, case .number(let number) = verb.row.carries
    else { return false }
    return number.range.lowerBound < 0
  }

  private mutating func scanLong(
    _ word: Substring, _ rest: inout ArraySlice<String>
  ) throws(Complaint) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts.first ?? "")
    guard let flag = known.first(where: { $0.row.long == name }) else { throw unknown(name) }
    if !flag.row.takes.isThere {
      if parts.count > 1 { throw Complaint("\(flag.spelled) takes no value") }
      flags.append((flag, ""))
    } else if parts.count > 1 {
      flags.append((flag, String(parts[1])))
    } else {
      flags.append((flag, try nextValue(of: flag, &rest)))
    }
  }

  private mutating func scanLetters(
    _ word: Substring, _ rest: inout ArraySlice<String>
  ) throws(Complaint) {
    var letters = word
    while let letter = letters.popFirst() {
      guard let flag = known.first(where: { $0.row.letter == letter }) else {
        throw unknown(letter: letter, in: word)
      }
      guard flag.row.takes.isThere else {
        flags.append((flag, ""))
        continue
      }
      if letters.isEmpty {
        flags.append((flag, try nextValue(of: flag, &rest)))
      } else {
        flags.append((flag, String(letters.first == "=" ? letters.dropFirst() : letters)))
      }
      return
    }
  }

  private func nextValue(
    of flag: Flag, _ rest: inout ArraySlice<String>
  ) throws(Complaint) -> String {
    guard let value = rest.popFirst() else {
      throw Complaint("\(flag.spelled) needs a value (\(flag.row.takes.name))")
    }
    return value
  }

  private func unknown(_ name: String) -> Complaint {
    if let help = ForeignWords.help(flag: name, of: command) {
      return Complaint("unknown flag --\(name.clean); \(help)")
    }
    if let other = Flag.allCases.first(where: { $0.row.long == name }) {
      return Complaint("takes no \(other.spelled)\(takers(of: other))")
    }
    let nearest = NearestName.of(name, among: known.compactMap { $0.row.long })
    let hint = nearest.map { "; did you mean --\($0)?" } ?? ""
    return Complaint("unknown flag --\(name.clean)\(hint)")
  }

  private func unknown(letter: Character, in word: Substring) -> Complaint {
    // `-dry-run` probably means `--dry-run`.
    let name = String(word)
    if let flag = known.first(where: { $0.row.long == name }), word.count > 1 {
      return Complaint("unknown flag -\(name); did you mean \(flag.spelled)?")
    }
    let shown = String(letter).clean
    if let help = ForeignWords.help(flag: String(letter), of: command) {
      return Complaint("unknown flag -\(shown); \(help)")
    }
    if let other = Flag.allCases.first(where: { $0.row.letter == letter }) {
      return Complaint("takes no -\(shown)\(takers(of: other))")
    }
    return Complaint("unknown flag -\(shown)")
  }

  private func takers(of flag: Flag) -> String {
    let names = Command.allCases.filter { $0.flags.contains(flag) }.map { $0.word }
    return names.isEmpty ? "" : " (that is a flag of \(names.joined(separator: ", ")))"
  }
}
