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
