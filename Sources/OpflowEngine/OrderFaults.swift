internal import OpflowPlan

extension Scheduler {
  func faultOfRun(_ order: Order) -> String? {
    if phase.step == .done { return "the run has ended" }
    for task in order.tasks + order.among where !plan.tasks.contains(task.index) {
      return "there is no task number \(task.rawValue)"
    }
    if let fault = order.verb.effect.fault(of: order, in: self) { return fault }
    return order.isOfRun && order.verb.row.about == .tasks ? "it names no task" : nil
  }

  /// Chooses the tasks to which the request applies, or returns why it does not.
  func fault(_ order: Order, choosing tasks: inout [TaskID]) -> String? {
    if order.isOfRun { return nil }
    let back = order.verb.effect.comingBack(with: order.tasks, in: self)
    // Tasks that come back in any case do not make a retry.
    let named = Set(order.tasks).union(back)
    var chosen = Set(order.tasks).subtracting(back)
    for task in order.tasks where !back.contains(task) {
      if let fault = fault(order, task, among: named) { return "\(plan.nameString(task)) \(fault)" }
    }
    var first: String?
    for task in order.among where !chosen.contains(task) && !back.contains(task) {
      if let fault = fault(order, task, among: named) {
        if first == nil { first = "\(plan.nameString(task)) \(fault)" }
      } else {
        chosen.insert(task)
      }
    }
    if chosen.isEmpty {
      let others = order.among.count - 1
      return (first ?? "") + (others > 0 ? ", and it applies to none of \(others) others" : "")
    }
    tasks = chosen.sorted { $0.rawValue < $1.rawValue }
    return nil
  }

  private func fault(_ order: Order, _ task: TaskID, among named: Set<TaskID>) -> String? {
    if graph.leftOut?.contains(task) == true { return "is no part of this run" }
    if order.expects > 0, attempt[task.index] != order.expects {
      return "is at try \(attempt[task.index]) by now, not \(order.expects)"
    }
    return order.verb.effect.fault(of: task, among: named, in: self)
  }

  func ended(_ task: TaskID) -> String {
    let state = graph.state(task)
    let verb =
      switch state {
      case .succeeded: "has succeeded"
      case .upToDate: "is up to date"
      case .failedAllowed: "has failed"
      case .failed: "has failed"
      case .skipped: "was skipped"
      case .cancelled: "was cancelled"
      case .waiting, .ready, .checking, .handed, .running, .suspended: "has no end"
      }
    let isOlder = graph.endedBefore?.contains(task) == true
    return (isOlder ? "\(verb) in an earlier drive" : "\(verb) already")
      + (state == .failedAllowed ? ", which is allowed" : "")
  }

  func isStopping(_ task: TaskID) -> Bool {
    phase.stopCause != nil && graph.state(task).isRunning
  }
}
