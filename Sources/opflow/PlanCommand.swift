import OpflowCommandLine

enum PlanCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    try RunCommand.perform(arguments)
  }
}
