import OpflowCommandLine

/// `opflow plan`: a dry run (`Forecast`).
enum PlanCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    try RunCommand.perform(arguments)
  }
}
