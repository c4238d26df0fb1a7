package import OpflowPlan

extension WorkerOrder {
  /// Why a worker cannot obey. Validates a task to run in full: the plan file may have been
  /// modified since the coordinator's check.
  package func fault(in plan: Plan) -> String? {
    switch self {
    case .run(let task, _), .follow(let task, _):
      guard plan.tasks.contains(task.index) else { return Self.noSuchTask }
      do throws(PlanError) {
        try plan.validate(task)
        return plan.kind(task) == .approve ? "it was told to run a task that asks a person" : nil
      } catch {
        return "the run's plan cannot be used: \(error.message)"
      }
    case .revoke(let task, _), .stop(let task, _, _), .suspend(let task, _), .proceed(let task, _),
      .watch(let task, _), .values(let task, _), .value(let task, _, _):
      return plan.tasks.contains(task.index) ? nil : Self.noSuchTask
    case .check(let check):
      let isThere = plan.tasks.contains(check.task.index) && plan.isChecked(check.task)
      return isThere && check.skipped.allSatisfy { plan.tasks.contains($0.index) }
        ? nil : Self.noSuchTask
    case .ports(let task, _):
      guard plan.tasks.contains(task.index), plan.isService(task) else { return Self.noSuchTask }
      return nil
    case .tokens(let task, _), .jobs(let task, _, _):
      guard plan.tasks.contains(task.index), plan.jobserver(of: task) != nil else {
        return Self.noSuchTask
      }
      return nil
    case .devices(let task, _):
      return plan.tasks.contains(task.index) ? nil : Self.noSuchTask
    case .conclude, .pulse, .bye: return nil
    }
  }

  package var lastTask: TaskID {
    switch self {
    case .run(let task, _), .follow(let task, _), .revoke(let task, _), .stop(let task, _, _),
      .suspend(let task, _), .proceed(let task, _), .watch(let task, _), .values(let task, _),
      .value(let task, _, _), .ports(let task, _), .tokens(let task, _), .jobs(let task, _, _),
      .devices(let task, _):
      task
    case .check(let check): check.skipped.reduce(check.task) { max($0, $1) }
    case .conclude, .pulse, .bye: .none
    }
  }

  private static let noSuchTask = "an order speaks of a task that the plan does not have"
}
