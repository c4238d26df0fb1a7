import OpflowCommandLine

/// `opflow plan`: decides all that `run` would, and tells it (`Forecast`).
enum PlanCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    try RunCommand.perform(arguments)
  }
}
