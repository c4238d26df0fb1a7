internal import OpflowBase
import OpflowCommandLine
import OpflowManifest
internal import OpflowPlan
import OpflowRuntime
import OpflowSystem
internal import OpflowWire

enum Opflow {
  static func main(_ words: [String]) -> Int32 {
    var starter: StarterSocket?
    do throws(CommandError) {
      let invocation = try invocation(words)
      starter = invocation.controlDescriptor.map(StarterSocket.init)
      return try perform(invocation)
    } catch {
      starter?.tell(error)
      Console.complain(error.text)
      return error.code.rawValue
    }
  }

  private static func invocation(_ words: [String]) throws(CommandError) -> Invocation {
    if let word = words.first(where: { $0.unicodeScalars.contains("\u{FFFD}") }), !Arguments.areUTF8
    {
      let dashes = words.firstIndex(of: "--") ?? words.endIndex
      let isArgument = words[dashes...].contains(word) && !words[..<dashes].contains(word)
      throw CommandError(
        .usage,
        "`\(CleanText.string(word))` is not UTF-8: "
          + (isArgument
            ? "opflow records arguments and cannot pass this one; put the value into a file"
            : "opflow cannot use this name; rename the file or folder, or pass a manifest on "
              + "standard input: `opflow run - < FILE`"))
    }
    return try rethrowing(CommandLineParser.parse(words)) { CommandError(TaskAsCommand.helped($0)) }
  }

  private static func perform(_ invocation: Invocation) throws(CommandError) -> Int32 {
    switch invocation.command {
    case nil: try OverviewCommand.perform(invocation)
    case .run, .plan: try RunCommand.perform(invocation)
    case .serve: try ServeCommand.perform(invocation)
    case .resume: try ResumeCommand.perform(invocation)
    case .check: try CheckCommand.perform(invocation)
    case .tasks: try OverviewCommand.performTasks(invocation)
    case .status: try StatusCommand.perform(invocation)
    case .why: try WhyCommand.perform(invocation)
    case .wait: try WaitCommand.perform(invocation)
    case .logs: try LogsCommand.perform(invocation)
    case .runs: try RunsCommand.perform(invocation)
    case .graph: try GraphCommand.perform(invocation)
    case .report: try ReportCommand.perform(invocation)
    case .journal: try JournalCommand.perform(invocation)
    case .request(let verb): try ControlCommand.perform(verb, invocation)
    case .add: try AddCommand.perform(invocation)
    case .clean: try CleanCommand.perform(invocation)
    case .initialize: try InitCommand.perform(invocation)
    case .schema: try SchemaCommand.perform(invocation)
    case .completion: try CompletionCommand.perform(invocation)
    case .version: try VersionCommand.perform(invocation)
    case .help: try HelpCommand.perform(invocation)
    }
  }
}

/// The inherited socket (`--control-fd`) until a run takes it. Early errors go to its peer, since
/// standard error may lead nowhere.
struct StarterSocket {
  private let number: Int32
  private let identity: FileIdentity?

  init(_ number: Int32) {
    self.number = number
    identity = Self.identity(number)
  }

  /// The number may be another file's after the run closed it.
  private static func identity(_ number: Int32) -> FileIdentity? {
    try? Path.status("/proc/self/fd/\(number)").identity
  }

  func tell(_ error: CommandError) {
    guard identity != nil, Self.identity(number) == identity else { return }
    guard let end = try? UnixSocket.takeInherited(number) else { return }
    try? end.descriptor.writeAll(RequestLines.line(.refused(detail: error.message), to: nil))
  }
}

/// Suggests `opflow run` if an unknown command is a task, as in make, just and task.
enum TaskAsCommand {
  static func helped(_ error: UsageError) -> UsageError {
    guard let unknown = error.unknownCommand, let plan = plan() else { return error }
    let shown = CleanText.string(unknown.word)
    let nearest: String?
    do throws(UnfitSelector) {
      _ = try Selector.tasks([unknown.word], of: plan)
      return UsageError(
        "unknown command \(shown); it is a task: `opflow run \(QuotedWords.quoted(shown))`")
    } catch {
      nearest = error.nearest
    }
    if unknown.isForeign { return error }
    if let task = nearest {
      let other = unknown.nearest.map { ", or `opflow \($0)`" } ?? ""
      let typed = QuotedWords.quoted(CleanText.string(task))
      return UsageError("unknown command \(shown); did you mean `opflow run \(typed)`\(other)?")
    }
    guard unknown.nearest == nil else { return error }
    return UsageError(
      "unknown command \(shown), and no task has that name; `opflow tasks` lists the tasks")
  }

  private static func plan() -> Plan? {
    guard let path = (try? ManifestLookup.nearest()) ?? nil,
      let manifest = try? ManifestLookup.read(path),
      let compiled = try? manifest.compile(
        runID: ManifestFile.runIDOfCheck, set: [], maxParallel: nil)
    else { return nil }
    return try? compiled.openPlan()
  }
}

enum HelpCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    try Console.write(try text(arguments))
    return ExitCode.success.rawValue
  }

  private static func text(_ arguments: Invocation) throws(CommandError) -> String {
    if let key = arguments.manifestKey {
      if key.isEmpty { return ManifestReference.list }
      return try rethrowing(ManifestReference.help(on: key)) { (error: UnknownKey) in
        CommandError(.usage, error.message)
      }
    }
    guard let topic = arguments.topic else { return HelpText.program(isLong: arguments.verbose) }
    let command = HelpText.command(topic, isLong: arguments.verbose)
    if arguments.verbose, let command { return command }
    let key = try? ManifestReference.help(on: topic)
    let term = HelpText.term(topic, isBelow: command != nil)
    if command == nil, term == nil, let found = key ?? HelpText.flag(topic) { return found }
    let parts = [command, term, key == nil ? nil : ManifestReference.summary(of: topic)]
    let found = parts.compactMap { $0 }
    if found.isEmpty { throw unknown(topic) }
    return found.joined(separator: "\n")
  }

  private static func unknown(_ topic: String) -> CommandError {
    let shown = CleanText.string(topic.count > 60 ? "\(topic.prefix(60))…" : topic)
    let hint = HelpText.hint(
      topic, meantKey: ManifestReference.foreignKey(topic), keys: ManifestReference.names)
    return CommandError(.usage, "no help for `\(shown)`; \(hint)")
  }
}

enum InitCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    _ = try Console.enter(arguments.view)
    let path = ManifestFile.path(arguments.file ?? ManifestFile.defaultName)
    if path == ManifestFile.standardInput {
      try Console.write(FirstManifest.text)
      return ExitCode.success.rawValue
    }
    let shown = CleanText.string(path)
    do throws(Errno) {
      let file = try File.open(path, [.writeOnly, .create, .exclusive], mode: 0o666)
      try file.writeAll(Array(FirstManifest.text.utf8))
      try file.close()
    } catch .exists {
      throw CommandError(
        .usage, "\(shown) already exists, and opflow did not change it; `opflow check` checks it")
    } catch {
      throw CommandError(.io, "cannot write \(shown)", error)
    }
    let name = arguments.file == nil ? "" : " \(shown)"
    try Console.write("wrote \(shown); `opflow run\(name)` runs it\n")
    return ExitCode.success.rawValue
  }
}

enum SchemaCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    try Console.write(ManifestSchema.text)
    return ExitCode.success.rawValue
  }
}

enum VersionCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    try Console.write("opflow \(Version.text)\n")
    return ExitCode.success.rawValue
  }
}

/// The manual pages, for packaging.
enum PageCommand {
  static let word = "__man"

  /// `words` are the page and perhaps its date.
  static func write(_ words: [String]) -> Int32 {
    let date = words.dropFirst().first ?? ""
    let text: String
    switch words.first {
    case "opflow": text = CommandPage.text(date: date)
    case "opflow.yaml": text = ManifestPage.text(date: date)
    default: return ExitCode.usage.rawValue
    }
    do throws(CommandError) {
      try Console.write(text)
      return ExitCode.success.rawValue
    } catch {
      Console.complain(error.text)
      return error.code.rawValue
    }
  }
}
