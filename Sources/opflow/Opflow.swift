import OpflowCommandLine
import OpflowCore
import OpflowSystem

/// The program: from the command line to the exit code.
enum Opflow {
  static func main(_ words: [String]) -> Int32 {
    do throws(CommandError) {
      return try perform(try invocation(words))
    } catch {
      Console.complain(error.text)
      return error.code.rawValue
    }
  }

  private static func invocation(_ words: [String]) throws(CommandError) -> Invocation {
    if let word = words.first(where: { $0.unicodeScalars.contains("\u{FFFD}") }), !Arguments.areUTF8
    {
      throw CommandError(
        .usage,
        "`\(CleanText.string(word))` is not UTF-8: opflow knows no other names."
          + " Rename the file or folder, or give a manifest as standard input: `opflow run - < FILE`"
      )
    }
    do throws(UsageError) {
      return try CommandLineParser.parse(words)
    } catch {
      throw CommandError(error)
    }
  }

  private static func perform(_ invocation: Invocation) throws(CommandError) -> Int32 {
    switch invocation {
    case .overview(let arguments): return try OverviewCommand.perform(arguments)
    case .version: try Console.write("opflow \(Version.text)\n")
    case .help(let topic): try Console.write(HelpText.text(topic))
    case .check(let arguments): return try CheckCommand.perform(arguments)
    case .run(let arguments): return try RunCommand.perform(arguments)
    case .resume(let arguments): return try ResumeCommand.perform(arguments)
    case .status(let arguments): return try StatusCommand.perform(arguments)
    case .logs(let arguments): return try LogsCommand.perform(arguments)
    case .runs(let arguments): return try RunsCommand.perform(arguments)
    case .journal(let arguments): return try JournalCommand.perform(arguments)
    }
    return ExitCode.success.rawValue
  }
}
