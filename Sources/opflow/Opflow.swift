internal import OpflowBase
import OpflowCommandLine
import OpflowSystem

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
            ? "opflow writes arguments down, and can hand on no others. Let a file name it"
            : "opflow knows no other names. Rename the file or folder, or give a manifest as "
              + "standard input: `opflow run - < FILE`")
      )
    }
    do throws(UsageError) {
      return try CommandLineParser.parse(words)
    } catch {
      throw CommandError(TaskAsCommand.helped(error))
    }
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
    case .order(let verb): try OrderCommand.perform(verb, invocation)
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
