internal import OpflowPlan
internal import OpflowSystem

struct MissingDevices {
  let task: String
  let wanted: Int
  let there: Int

  /// `usesNodes`: nodes report their GPUs later, so only tasks that stay here are checked.
  static func first(
    of plan: Plan, usesNodes: Bool, _ initial: @autoclosure () -> [InitialState]
  ) -> MissingDevices? {
    guard plan.gpuResource != nil else { return nil }
    let count = GraphicsProcessors.names.count
    let initial = initial()
    let task = plan.tasks.lazy.map { TaskID($0) }.first {
      (!usesNodes || plan.staysOnCoordinator($0)) && wanted(by: $0, plan) > count
        && !plan.flags($0).contains(.conditionFalse)
        && [.run, .afterNeeds].contains(initial[$0.index])
    }
    return task.map {
      MissingDevices(task: plan.nameString($0), wanted: wanted(by: $0, plan), there: count)
    }
  }

  /// Includes services that the task needs, since they run beside it.
  private static func wanted(by task: TaskID, _ plan: Plan) -> Int {
    var seen: Set<TaskID> = [task]
    var open = [task]
    while let next = open.popLast() {
      for service in plan.services(neededBy: next) where seen.insert(service).inserted {
        open.append(service)
      }
    }
    return seen.reduce(0) { $0 + plan.gpuCount(of: $1) }
  }
}

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
