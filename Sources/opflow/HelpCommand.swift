import OpflowCommandLine

/// `opflow help`: all about a command, or about opflow.
enum HelpCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    try Console.write(HelpText.text(arguments.topic))
    return ExitCode.success.rawValue
  }
}
