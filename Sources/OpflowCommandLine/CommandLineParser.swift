internal import OpflowCore

/// Reads a command line: words in, what they ask for out.
package enum CommandLineParser {
  /// `words` come without the program's own name. `-C DIR` may stand before the command, as git has
  /// it.
  package static func parse(_ words: [String]) throws(UsageError) -> Invocation {
    var rest = words[...]
    var early: [String] = []
    while let word = rest.first, word.hasPrefix("-C") {
      early.append(rest.removeFirst())
      if word == "-C", !rest.isEmpty { early.append(rest.removeFirst()) }
    }
    if let command = rest.popFirst() { return try parse(command: [command] + early + rest) }
    var view = ViewArguments()
    view.directory = try directory(early)
    return .overview(view)
  }

  /// Of a line without a command.
  private static func directory(_ words: [String]) throws(UsageError) -> String? {
    guard let last = words.last else { return nil }
    let value =
      last.hasPrefix("-C") && words.dropLast().last != "-C" ? last.dropFirst(2) : last[...]
    if value.isEmpty { throw UsageError("-C needs a value (DIR)") }
    return String(value.first == "=" ? value.dropFirst() : value)
  }

  /// `words` begin with the command.
  private static func parse(command words: [String]) throws(UsageError) -> Invocation {
    guard let first = words.first else { throw UsageError("a command is missing") }
    switch first {
    case "-h", "--help": return .help(nil)
    case "-V", "--version": return .version
    default: break
    }
    guard let command = CommandName(named: first) else { throw unknown(first) }
    guard command.isSupported else {
      let substitute = command.substitute.map { "; \($0)" } ?? ""
      throw UsageError("\(first): not supported yet\(substitute)", command: command)
    }
    let scanner = try WordScanner(words.dropFirst(), command: command)
    if scanner.flags.contains(where: { $0.flag == .help }) { return .help(command) }
    var builder = ArgumentBuilder(command: command)
    for (flag, value) in scanner.flags { try builder.set(flag, value) }
    // As npm and just hand words on to what they run.
    if command == .run, let first = scanner.behindDashes.first {
      throw UsageError(
        "`-- \(CleanText.string(first))`: arguments for a task are not supported yet; a task reads"
          + " `${{ vars.NAME }}`, which --set sets",
        command: command)
    }
    return try builder.invocation(positionals: scanner.positionals)
  }

  private static func unknown(_ word: String) -> UsageError {
    let shown = CleanText.string(word)
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
    if let help = ForeignWords.help(command: word) {
      return UsageError("unknown command \(shown); \(help)")
    }
    let nearest = NearestName.of(word, among: CommandName.supportedNames)
    let hint =
      nearest.map { "did you mean `opflow \($0)`?" } ?? "`opflow run \(shown)` runs a task"
    return UsageError("unknown command \(shown); \(hint)")
  }
}

/// Collects the flags of one command into its arguments.
private struct ArgumentBuilder {
  private let command: CommandName
  private var view = ViewArguments()
  private var run = RunArguments()
  private var runName: String?
  private var follows = false

  init(command: CommandName) { self.command = command }

  mutating func set(_ flag: Flag, _ value: String) throws(UsageError) {
    switch flag {
    case .set:
      guard let equals = value.firstIndex(of: "="), equals > value.startIndex else {
        throw error("--set needs NAME=VALUE, not `\(CleanText.string(value))`")
      }
      run.set.append(value)
    case .only: run.only.append(try nonEmpty(flag, value))
    case .skip: run.skip.append(try nonEmpty(flag, value))
    case .rerun: run.rerun.append(try nonEmpty(flag, value))
    case .resume: run.resumesNewest = true
    case .maxParallel: try setMaxParallel(flag, value)
    case .maxFailures: run.maxFailures = try number(flag, value, from: 0)
    case .keepGoing: run.maxFailures = 0
    case .dryRun: run.isDryRun = true
    case .output: run.output = try choice(flag, value)
    case .quiet: run.output = .quiet
    case .verbose: run.verbose = true
    case .json: run.json = true
    case .color: view.color = try choice(flag, value)
    case .durability: run.durability = try choice(flag, value)
    case .workers:
      // A word that later versions answer.
      if value == "slurm" { throw error("--on slurm: not supported yet") }
      let _: WorkerPlace = try choice(flag, value)
    case .follow: follows = true
    case .run: runName = try nonEmpty(flag, value)
    case .file:
      if let first = run.file, first != value {
        throw ManifestWords.two(first, value, command: command)
      }
      run.file = try nonEmpty(flag, value)
    case .directory: view.directory = try nonEmpty(flag, value)
    case .stateDirectory: view.stateDirectory = try nonEmpty(flag, value)
    case .help: break
    }
  }

  func invocation(positionals: [String]) throws(UsageError) -> Invocation {
    switch command {
    case .run, .resume, .plan: return try runInvocation(positionals)
    case .check:
      var arguments = CheckArguments()
      arguments.view = view
      let words = try ManifestWords(positionals, file: run.file, command: command)
      (arguments.file, arguments.tasks) = (words.file, words.tasks)
      arguments.set = SetValues.normal(run.set)
      return .check(arguments)
    case .status:
      var arguments = StatusArguments()
      arguments.view = view
      arguments.run = try single(positionals)
      arguments.json = run.json
      arguments.verbose = run.verbose
      return .status(arguments)
    case .logs:
      var arguments = LogsArguments()
      arguments.view = view
      arguments.run = runName
      arguments.tasks = positionals
      arguments.follows = follows
      return .logs(arguments)
    case .runs:
      if let extra = positionals.first { throw superfluous(extra) }
      return .runs(view)
    case .help:
      guard let name = try single(positionals) else { return .help(nil) }
      guard let topic = CommandName(named: name) else {
        let hint =
          ForeignWords.help(command: name).map { "; \($0)" }
          ?? NearestName.of(name, among: CommandName.supportedNames)
          .map { "; did you mean `opflow help \($0)`?" } ?? ""
        throw UsageError("help: no help on `\(CleanText.string(name))`\(hint)")
      }
      guard topic.isSupported else { throw UsageError("\(name): not supported yet") }
      return .help(topic)
    case .version:
      if let extra = positionals.first { throw superfluous(extra) }
      return .version
    case .journal: return try journalInvocation(positionals)
    case .cancel, .pause, .proceed, .priority, .parallel, .graph, .report, .clean, .`init`,
      .schema, .completion:
      throw UsageError("\(command.rawValue): not supported yet", command: command)
    }
  }

  private func runInvocation(_ positionals: [String]) throws(UsageError) -> Invocation {
    var arguments = run
    arguments.set = SetValues.normal(run.set)
    arguments.view = view
    if command == .resume {
      arguments.target = try single(positionals)
    } else {
      let words = try ManifestWords(positionals, file: run.file, command: command)
      (arguments.file, arguments.tasks) = (words.file, words.tasks)
    }
    if command == .plan { arguments.isDryRun = true }
    if !arguments.capacities.isEmpty, !arguments.isDryRun {
      throw error("\(Flag.maxParallel.spelled) takes one number; `opflow plan` compares several")
    }
    if command == .resume { return .resume(arguments) }
    if !arguments.rerun.isEmpty, !arguments.resumesNewest {
      throw error(
        "--rerun is for a run that is there: `opflow resume --rerun SEL`, or add --resume;"
          + " a new run runs all its tasks")
    }
    return .run(arguments)
  }

  /// A dry run compares several capacities; which it is to be is known once all flags are read.
  private mutating func setMaxParallel(_ flag: Flag, _ value: String) throws(UsageError) {
    run.capacities = []
    for part in value.split(separator: ",", omittingEmptySubsequences: false) {
      run.capacities.append(try number(flag, String(part), from: 1))
    }
    run.maxParallel = run.capacities.first
    if run.capacities.count == 1 { run.capacities = [] }
  }

  private func journalInvocation(_ positionals: [String]) throws(UsageError) -> Invocation {
    let all = JournalAction.allCases.map(\.rawValue)
    guard let word = positionals.first else {
      throw error("one of \(all.joined(separator: ", ")) is missing")
    }
    guard let action = JournalAction(rawValue: word) else {
      let nearest = NearestName.of(word, among: all).map { "; did you mean \($0)?" } ?? ""
      throw error(
        "`\(CleanText.string(word))` is none of \(all.joined(separator: ", "))\(nearest)")
    }
    var arguments = JournalArguments(action: action)
    arguments.view = view
    arguments.run = try single(Array(positionals.dropFirst()))
    return .journal(arguments)
  }

  private func single(_ positionals: [String]) throws(UsageError) -> String? {
    if positionals.count > 1 { throw superfluous(positionals[1]) }
    if let only = positionals.first, only.isEmpty { throw error("an empty name") }
    return positionals.first
  }

  private func superfluous(_ word: String) -> UsageError {
    error("one argument too many: `\(CleanText.string(word))`")
  }

  private func nonEmpty(_ flag: Flag, _ value: String) throws(UsageError) -> String {
    if value.isEmpty { throw error("\(flag.spelled) needs a value (\(flag.value ?? ""))") }
    return value
  }

  private func number(
    _ flag: Flag, _ value: String, from lowest: UInt32
  ) throws(UsageError) -> UInt32 {
    guard let number = Field.number(value.utf8, as: Int32.self), number >= lowest else {
      throw error(
        "\(flag.spelled) needs a number from \(lowest) to \(Int32.max), not `\(CleanText.string(value))`"
      )
    }
    return UInt32(number)
  }

  private func choice<Choice: RawRepresentable & CaseIterable>(
    _ flag: Flag, _ value: String
  ) throws(UsageError) -> Choice where Choice.RawValue == String {
    if let choice = Choice(rawValue: value) { return choice }
    let all = Choice.allCases.map(\.rawValue)
    let nearest = NearestName.of(value, among: all).map { "; did you mean \($0)?" } ?? ""
    throw error(
      "\(flag.spelled) is \(all.joined(separator: ", ")), not `\(CleanText.string(value))`\(nearest)"
    )
  }

  private func error(_ message: String) -> UsageError { UsageError(message, command: command) }
}

/// `--on`
private enum WorkerPlace: String, CaseIterable {
  case local
}
