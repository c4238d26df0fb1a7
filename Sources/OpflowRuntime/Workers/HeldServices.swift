internal import OpflowEngine
internal import OpflowPlan

/// Services that are up, numbered as in the plan of their session.
package struct HeldServices: Sendable {
  let plan: Plan
  let services: [HeldService]

  /// The services that `other` defines unchanged, by their numbers there.
  func unchanged(in other: Plan) -> [TaskID: HeldService] {
    guard plan.string(plan.manifest.folder) == other.string(other.manifest.folder),
      plan.concurrency == other.concurrency, plan.hasMemoryLimits || !other.hasMemoryLimits
    else { return [:] }
    var found: [TaskID: HeldService] = [:]
    for held in services {
      guard let task = other.task(named: plan.nameString(held.service)),
        isSame(held.service, task, in: other)
      else { continue }
      found[task] = held
    }
    return found
  }

  private func isSame(_ service: TaskID, _ task: TaskID, in other: Plan) -> Bool {
    other.isService(task) && plan.fingerprint(service) == other.fingerprint(task)
      && plan.policy(service) == other.policy(task)
      && plan.readiness(of: service) == other.readiness(of: task)
      && plan.restarts(of: service) == other.restarts(of: task)
      && plan.portNames(of: service) == other.portNames(of: task)
      && plan.secretNames(service) == other.secretNames(task)
      && plan.record(service).processes.isSameOfPrograms(as: other.record(task).processes)
      // Values that it read may have changed.
      && !plan.flags(service).contains(.readsValues) && !other.flags(task).contains(.readsValues)
  }
}
