internal import OpflowBase
internal import OpflowPlan

package enum CommandLineParser {
  /// `-C DIR` may precede the command, as in git.
  package static func parse(_ words: [String]) throws(UsageError) -> Invocation {
    var rest = words[...]
    var early: [String] = []
    while let word = rest.first, word.hasPrefix("-C") {
      early.append(rest.removeFirst())
      if word == "-C", !rest.isEmpty { early.append(rest.removeFirst()) }
    }
    if let command = rest.popFirst() { return try parse(command, early + rest) }
    var invocation = Invocation(nil)
    invocation.view.directory = try directory(early)
    return invocation
  }

  private static func directory(_ words: [String]) throws(UsageError) -> String? {
    guard let last = words.last else { return nil }
    let value =
      last.hasPrefix("-C") && words.dropLast().last != "-C" ? last.dropFirst(2) : last[...]
    if value.isEmpty { throw UsageError("-C needs a value (DIR)") }
    return String(value.first == "=" ? value.dropFirst() : value)
  }

  private static func parse(_ name: String, _ words: [String]) throws(UsageError) -> Invocation {
    switch name {
    case "-h", "--help": return Invocation(.help)
    case "-V", "--version": return Invocation(.version)
    default: break
    }
    guard let command = Command(named: name) else { throw unknown(name) }
    let invocation: Invocation
    do throws(Complaint) {
      invocation = try read(command, words)
    } catch {
      throw UsageError(error.message, command: command)
    }
    if case .help = command, let word = invocation.tasks.first { return try help(on: word) }
    return invocation
  }

  private static func read(_ command: Command, _ words: [String]) throws(Complaint) -> Invocation {
    let row = command.row
    let scanner = try WordScanner(words, of: command, taking: row.flags + row.unlisted)
    if scanner.flags.contains(where: { $0.flag == .help }) { return help(command) }
    var invocation = Invocation(command)
    for (flag, value) in scanner.flags {
      let row = flag.row
      try row.takes.read(value, row.spelled, into: &invocation)
    }
    invocation.set = SetValues.normal(invocation.set)
    try row.words.read(scanner, into: &invocation)
    try row.rule(&invocation)
    return invocation
  }

  private static func help(_ topic: Command) -> Invocation {
    var invocation = Invocation(.help)
    invocation.topic = topic
    return invocation
  }

  private static func help(on word: String) throws(UsageError) -> Invocation {
    guard let topic = Command(named: word) else {
      if word == "keys" || word == "yaml" || word == "opflow.yaml" {
        throw UsageError("help: `opflow help manifest` is about the keys of a manifest")
      }
      let hint =
        ForeignWords.help(command: word).map { "; \($0)" }
        ?? nearest(word).map { "; did you mean `opflow help \($0)`?" } ?? ""
      throw UsageError(
        "help: no help on `\(word.clean)`"
          + (hint.isEmpty ? "; `opflow tasks \(word.clean)` tells of a task of that name" : hint))
    }
    return help(topic)
  }

  private static func unknown(_ word: String) -> UsageError {
    let shown = word.clean
    if word.hasPrefix("-") {
      if let help = ForeignWords.help(flag: String(word.drop { $0 == "-" }), of: .run) {
        return UsageError("unknown flag \(shown); \(help)")
      }
      return UsageError(
        "unknown flag \(shown); flags stand after the command: `opflow run \(shown)`")
    }
    if word.hasSuffix(".yaml") || word.hasSuffix(".yml") || word.hasSuffix("/") {
      return UsageError("unknown command \(shown); did you mean `opflow run \(shown)`?")
    }
    let foreign = ForeignWords.help(command: word)
    let nearest = nearest(word)
    let hint =
      foreign ?? nearest.map { "did you mean `opflow \($0)`?" }
      ?? "`opflow run \(shown)` runs a task"
    var error = UsageError("unknown command \(shown); \(hint)")
    error.unknownCommand = UnknownCommand(
      word: word, nearest: nearest, isForeign: foreign != nil)
    return error
  }

  private static func nearest(_ word: String) -> String? {
    NearestName.of(word, among: Command.allCases.map { $0.word })
  }
}

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
      case .request(let verb) = command, case .number(let number) = verb.row.carries
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

package struct UsageError: Error, Equatable, Sendable {
  package var message: String
  /// Nil for the program's usage line.
  package var command: Command?
  /// Set if it may be a task.
  package var unknownCommand: UnknownCommand?

  package init(_ message: String, command: Command? = nil) {
    self.message = message
    self.command = command
  }

  /// With the usage line and a hint to the help.
  package var text: String {
    guard let command else { return "opflow: \(message)\nsee `opflow help`\n" }
    return """
      opflow \(command.word): \(message)
      usage: opflow \(command.synopsis)
      see `opflow help \(command.word)`

      """
  }
}

package struct UnknownCommand: Equatable, Sendable {
  package let word: String
  package let nearest: String?
  /// Another tool has such a command.
  package let isForeign: Bool
}

/// The parser adds the command.
struct Complaint: Error {
  let message: String

  init(_ message: String) { self.message = message }

  static func superfluous(_ word: String) -> Complaint {
    Complaint("one argument too many: `\(word.clean)`")
  }
}

/// The rules between flags of `run`, `resume` and `plan`.
enum RunRules {
  private static func checkArguments(_ invocation: Invocation) throws(Complaint) {
    guard let first = invocation.arguments.first else { return }
    let detail = "`-- \(first.clean)`: arguments go to one task"
    guard let task = invocation.tasks.first else {
      throw Complaint("\(detail), and none is named: `opflow run TASK -- \(first.clean)`")
    }
    if invocation.tasks.count > 1 {
      let names = invocation.tasks.map(\.clean).joined(separator: ", ")
      throw Complaint("\(detail), and \(invocation.tasks.count) are named: \(names)")
    }
    if Glob.isPattern(task) || task.hasPrefix("tag:") {
      throw Complaint("\(detail), and `\(task.clean)` may be several: name it by its id")
    }
  }

  static func check(_ invocation: inout Invocation) throws(Complaint) {
    if invocation.command == .plan { invocation.isDryRun = true }
    if invocation.cache != nil, !invocation.usesCache {
      throw Complaint("\(Flag.cache.spelled) and \(Flag.noCache.spelled) make no sense together")
    }
    if invocation.isDryRun {
      let flags = [(invocation.junitFile, Flag.junit), (invocation.notifyCommand, Flag.notify)]
      for case (_?, let flag) in flags {
        throw Complaint("\(flag.spelled) is for a run, and --dry-run does not run anything")
      }
    }
    if !invocation.capacities.isEmpty, !invocation.isDryRun {
      throw Complaint(
        "\(Flag.maxParallel.spelled) takes one number; `opflow plan` compares several")
    }
    if invocation.command == .resume { return }
    try checkArguments(invocation)
    if invocation.watchesFiles, invocation.isDryRun {
      throw Complaint("--watch is for a run, and --dry-run does not run anything")
    }
    if invocation.watchesFiles, invocation.file == "-" {
      throw Complaint("--watch: a manifest from standard input does not change")
    }
  }
}
