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
    if let command = rest.popFirst() { return try parse(command, early, Array(rest)) }
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

  private static func parse(
    _ name: String, _ early: [String], _ words: [String]
  ) throws(UsageError) -> Invocation {
    switch name {
    case "-h", "--help", Command.help.word: return help(words)
    case "-V", "--version": return Invocation(.version)
    default: break
    }
    guard let command = Command(named: name) else { throw unknown(name) }
    do throws(Complaint) {
      return try read(command, early + words)
    } catch {
      throw UsageError(error.message, command: command)
    }
  }

  private static func read(_ command: Command, _ words: [String]) throws(Complaint) -> Invocation {
    let row = command.row
    let scanner = try WordScanner(words, of: command, taking: row.flags + row.unlisted)
    if scanner.flags.contains(where: { $0.flag == .help }) {
      let isLong = scanner.flags.contains { $0.flag.row.letter == "v" }
      return help([command.word] + (isLong ? ["-v"] : []))
    }
    var invocation = Invocation(command)
    for (flag, spelled, value) in scanner.flags {
      try flag.row.takes.read(value, spelled, into: &invocation)
    }
    invocation.set = SetValues.normal(invocation.set)
    try row.words.read(scanner, into: &invocation)
    try row.rule(&invocation)
    return invocation
  }

  /// Flags are topics too, so that no flag but these can be read.
  private static func help(_ words: [String]) -> Invocation {
    var invocation = Invocation(.help)
    var topic: [String] = []
    for word in words {
      switch word {
      case "-v", "--all": invocation.verbose = true
      case "--verbose" where words.count > 1: invocation.verbose = true
      case "-h", "--help": if words.count == 1 { topic = [Command.help.word] }
      default: topic.append(word)
      }
    }
    if let first = topic.first, ["manifest", "keys", "yaml", "opflow.yaml"].contains(first) {
      invocation.manifestKey = topic.dropFirst().joined(separator: ".")
    } else if !topic.isEmpty {
      // Some terms are several words.
      invocation.topic = topic.joined(separator: " ")
    }
    return invocation
  }

  private static func unknown(_ word: String) -> UsageError {
    if word.isEmpty { return UsageError("the command is empty; check the variables of your shell") }
    let shown = word.clean
    if word.hasPrefix("-") {
      if let help = ForeignWords.help(flag: String(word.drop { $0 == "-" }), of: .run) {
        return UsageError("unknown flag \(shown); \(help)")
      }
      return UsageError(
        "unknown flag \(shown); flags come after the command, as in `opflow run \(shown)`")
    }
    if word.hasSuffix(".yaml") || word.hasSuffix(".yml") || word.hasSuffix("/") {
      return UsageError("unknown command \(shown); did you mean `opflow run \(word.typed)`?")
    }
    let foreign = ForeignWords.help(command: word)
    let nearest = nearest(word)
    let hint =
      foreign ?? nearest.map { "did you mean `opflow \($0)`?" }
      ?? "`opflow run \(word.typed)` runs a task"
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
  /// The spelling is the user's; the value may be empty.
  typealias Found = (flag: Flag, spelled: String, value: String)

  private(set) var flags: [Found] = []
  private(set) var positionals: [String] = []
  /// After `--`; also in `positionals`.
  private(set) var behindDashes: [String] = []
  private let command: Command
  private let known: [Flag]

  init(_ words: [String], of command: Command, taking flags: [Flag]) throws(Complaint) {
    self.command = command
    let asksForHelp = words.contains { ["-h", "--help", "-hv", "-vh"].contains($0) }
    let isWithoutVerbose = asksForHelp && !flags.contains { $0.row.letter == "v" }
    known = flags + [.help] + (isWithoutVerbose ? [.verbose] : [])
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
    let spelled = "--\(name)"
    if !flag.row.takes.isThere {
      if parts.count > 1 { throw Complaint("\(spelled) takes no value") }
      flags.append((flag, spelled, ""))
    } else if parts.count > 1 {
      flags.append((flag, spelled, String(parts[1])))
    } else {
      flags.append((flag, spelled, try nextValue(of: flag, spelled, &rest)))
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
      let spelled = "-\(letter)"
      guard flag.row.takes.isThere else {
        flags.append((flag, spelled, ""))
        continue
      }
      if letters.isEmpty {
        flags.append((flag, spelled, try nextValue(of: flag, spelled, &rest)))
      } else {
        flags.append((flag, spelled, String(letters.first == "=" ? letters.dropFirst() : letters)))
      }
      return
    }
  }

  private func nextValue(
    of flag: Flag, _ spelled: String, _ rest: inout ArraySlice<String>
  ) throws(Complaint) -> String {
    guard let value = rest.popFirst() else {
      throw Complaint("\(spelled) needs a value (\(flag.row.takes.name))")
    }
    return value
  }

  private func unknown(_ name: String) -> Complaint {
    if let help = ForeignWords.help(flag: name, of: command) {
      return Complaint("unknown flag --\(name.clean); \(help)")
    }
    if let other = Flag.listed.first(where: { $0.row.long == name }) {
      return Complaint("unknown flag \(other.spelled)\(takers(of: other))")
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
    if let other = Flag.listed.first(where: { $0.row.letter == letter }) {
      return Complaint("unknown flag -\(shown)\(takers(of: other))")
    }
    return Complaint("unknown flag -\(shown)")
  }

  /// Empty if too many commands have the flag.
  private func takers(of flag: Flag) -> String {
    let names = Command.allCases.filter { $0.flags.contains(flag) }.map { $0.word }
    return names.count > 4 ? "" : "; it is a flag of \(names.joined(separator: ", "))"
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

  static var empty: Complaint {
    Complaint("an argument is empty; check the variables of your shell")
  }

  static func superfluous(_ word: String) -> Complaint {
    Complaint("unexpected argument `\(word.clean)`")
  }
}

/// The rules between flags of `run`, `resume` and `plan`.
enum RunRules {
  private static func checkArguments(_ invocation: Invocation) throws(Complaint) {
    guard let first = invocation.arguments.first else { return }
    let detail = "`-- \(first.clean)`: only one task can get arguments"
    guard let task = invocation.tasks.first else {
      throw Complaint("\(detail); name it: `opflow run TASK -- \(first.typed)`")
    }
    if invocation.tasks.count > 1 {
      let names = invocation.tasks.map(\.clean).joined(separator: ", ")
      throw Complaint("\(detail), but you named \(invocation.tasks.count): \(names)")
    }
    if Glob.isPattern(task) || task.hasPrefix("tag:") {
      throw Complaint("\(detail), but `\(task.clean)` can match several; use the ID of one")
    }
  }

  static func check(_ invocation: inout Invocation) throws(Complaint) {
    if invocation.command == .plan { invocation.isDryRun = true }
    if invocation.cache != nil, !invocation.usesCache {
      throw Complaint(
        "\(Flag.cache.spelled) and \(Flag.noCache.spelled) contradict each other; remove one")
    }
    if invocation.isDryRun {
      let flags = [(invocation.junitFile, Flag.junit), (invocation.notifyCommand, Flag.notify)]
      for case (_?, let flag) in flags {
        throw Complaint("\(flag.spelled) needs a run, but --dry-run runs nothing")
      }
    }
    if !invocation.capacities.isEmpty, !invocation.isDryRun {
      throw Complaint(
        "-j (--max-parallel) takes one number here; to compare several: `opflow plan -j 1,2,4`")
    }
    if invocation.command == .resume { return }
    try checkArguments(invocation)
    if invocation.watchesFiles, invocation.isDryRun {
      throw Complaint("--watch needs a run, but --dry-run runs nothing")
    }
    if invocation.watchesFiles, invocation.file == "-" {
      throw Complaint("--watch cannot watch a manifest on standard input")
    }
  }
}
