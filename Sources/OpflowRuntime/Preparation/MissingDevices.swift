internal import OpflowCore
internal import OpflowSystem

/// GPUs that tasks want, and that this machine does not have.
enum MissingDevices {
  /// - Parameters:
  ///   - usesSites: tasks run on other machines, which tell what they have when they are there. Those that stay here
  ///     are looked at.
  ///   - initial: how the tasks enter the drive.
  /// - Throws: for the first task that wants more.
  static func expect(
    _ plan: Plan, usesSites: Bool, _ initial: @autoclosure () -> [InitialState]
  ) throws(PreparationError) {
    guard plan.gpuResource != nil else { return }
    let count = GraphicsProcessors.names.count
    let initial = initial()
    let task = plan.tasks.lazy.map { TaskID($0) }.first {
      (!usesSites || plan.staysOnCoordinator($0)) && wanted(by: $0, plan) > count
        && !plan.flags($0).contains(.conditionFalse)
        && [.run, .afterNeeds].contains(initial[$0.index])
    }
    guard let task else { return }
    throw .tooFewDevices(
      task: plan.nameString(task), wanted: wanted(by: task, plan), there: count)
  }

  /// With the services that it needs, which are there while it runs.
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
