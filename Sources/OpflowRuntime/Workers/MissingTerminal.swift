internal import OpflowPlan
internal import OpflowSystem

enum MissingTerminal {
  static func tasks(of plan: Plan, _ initial: @autoclosure () -> [InitialState]) -> [String] {
    guard plan.hasInteractive, !ControllingTerminal.isThere else { return [] }
    let initial = initial()
    return plan.tasks.lazy.map { TaskID($0) }.filter {
      let flags = plan.flags($0)
      return flags.contains(.interactive) && !flags.contains(.conditionFalse)
        && [.run, .afterNeeds].contains(initial[$0.index])
    }.map { plan.nameString($0) }
  }
}
