internal import OpflowJournal
internal import OpflowPlan

/// The effect of a control request, one type per verb.
protocol OrderEffect {
  /// Why the request does not apply to the run.
  func fault(of order: Order, in run: Scheduler) -> String?

  /// Returns why it does not apply to a task, as a predicate that follows the task's name.
  ///
  /// - Parameter named: the request's tasks, and those that wait again with them.
  func fault(of task: TaskID, among named: Set<TaskID>, in run: Scheduler) -> String?

  func comingBack(with tasks: [TaskID], in run: Scheduler) -> Set<TaskID>

  /// Returns other tasks that must not start before the decision.
  func fenced(with tasks: [TaskID], in run: Scheduler) -> [TaskID]

  /// Acts before the request is journaled; may complete its line.
  func prepare(_ line: inout OrderEntry, in run: inout Scheduler, into actions: inout StepQueue)

  /// Acts after the request is journaled.
  func perform(
    _ order: Order, on tasks: [TaskID], in run: inout Scheduler, at now: Instant,
    into actions: inout StepQueue)
}

extension OrderEffect {
  func fault(of order: Order, in run: Scheduler) -> String? { nil }
  func fault(of task: TaskID, among named: Set<TaskID>, in run: Scheduler) -> String? {
    nil
  }
  func comingBack(with tasks: [TaskID], in run: Scheduler) -> Set<TaskID> { [] }
  func fenced(with tasks: [TaskID], in run: Scheduler) -> [TaskID] { [] }
  func prepare(
    _ line: inout OrderEntry, in run: inout Scheduler, into actions: inout StepQueue
  ) {}
}

extension OrderVerb {
  var effect: any OrderEffect {
    switch self {
    case .cancel: CancelOrder()
    case .pause: PauseOrder()
    case .proceed: ProceedOrder()
    case .suspend: SuspendOrder()
    case .priority: PriorityOrder()
    case .parallel: ParallelOrder()
    case .retry: RetryOrder()
    case .skip: SkipOrder()
    case .approve, .reject: AnswerOrder(verb: self)
    case .close: CloseOrder()
    }
  }
}

private struct CancelOrder: OrderEffect {
  func fault(of order: Order, in run: Scheduler) -> String? {
    order.isOfRun && run.phase.stopCause != nil ? "the run is stopping already" : nil
  }

  func fault(of task: TaskID, among named: Set<TaskID>, in run: Scheduler) -> String? {
    if run.graph.state(task).isTerminal { return run.ended(task) }
    if run.graph.has(.cancelling, task) { return "is being cancelled already" }
    return run.isStopping(task) ? "is being stopped with the run" : nil
  }

  func prepare(
    _ line: inout OrderEntry, in run: inout Scheduler, into actions: inout StepQueue
  ) {
    run.takeBackResults(of: line.tasks, into: &actions)
  }

  func perform(
    _ order: Order, on tasks: [TaskID], in run: inout Scheduler, at now: Instant,
    into actions: inout StepQueue
  ) {
    if order.isOfRun { return run.stop(.request, at: now, into: &actions) }
    run.cancel(tasks, at: now, into: &actions)
  }
}

private struct PauseOrder: OrderEffect {
  func fault(of order: Order, in run: Scheduler) -> String? {
    if run.phase.stopCause != nil { return "the run is stopping" }
    return run.phase.isPaused ? "the run is paused already" : nil
  }

  func perform(
    _ order: Order, on tasks: [TaskID], in run: inout Scheduler, at now: Instant,
    into actions: inout StepQueue
  ) {
    run.pause(into: &actions)
  }
}

private struct ProceedOrder: OrderEffect {
  func fault(of order: Order, in run: Scheduler) -> String? {
    order.isOfRun && !run.phase.isPaused ? "the run is not paused" : nil
  }

  func fault(of task: TaskID, among named: Set<TaskID>, in run: Scheduler) -> String? {
    if run.graph.state(task).isTerminal { return run.ended(task) }
    return run.graph.has(.onHold, task) ? nil : "is not suspended"
  }

  func perform(
    _ order: Order, on tasks: [TaskID], in run: inout Scheduler, at now: Instant,
    into actions: inout StepQueue
  ) {
    if order.isOfRun { return run.phase.isPaused = false }
    run.proceed(tasks, at: now, into: &actions)
  }
}

private struct SuspendOrder: OrderEffect {
  func fault(of task: TaskID, among named: Set<TaskID>, in run: Scheduler) -> String? {
    if run.graph.state(task).isTerminal { return run.ended(task) }
    if run.graph.has(.cancelling, task) { return "is being cancelled" }
    if run.gates.open[task] != nil { return "waits for an answer, and does nothing meanwhile" }
    if run.isStopping(task) { return "is being stopped with the run" }
    if run.isBlock(task), run.graph.state(task).isRunning {
      return "runs inside the program that offered it, and cannot be stopped there"
    }
    return run.graph.has(.onHold, task) ? "is suspended already" : nil
  }

  func perform(
    _ order: Order, on tasks: [TaskID], in run: inout Scheduler, at now: Instant,
    into actions: inout StepQueue
  ) {
    run.suspend(tasks, at: now, into: &actions)
  }
}

private struct PriorityOrder: OrderEffect {
  func fault(of task: TaskID, among named: Set<TaskID>, in run: Scheduler) -> String? {
    run.graph.state(task).isTerminal ? run.ended(task) : nil
  }

  func perform(
    _ order: Order, on tasks: [TaskID], in run: inout Scheduler, at now: Instant,
    into actions: inout StepQueue
  ) {
    guard case .number(let number) = order.value else { return }
    let priority = Int16(clamping: number)
    run.prioritise(tasks.map { TaskPriority(task: $0, priority: priority) })
  }
}

private struct ParallelOrder: OrderEffect {
  func fault(of order: Order, in run: Scheduler) -> String? {
    guard case .capacity(let resource, let amount) = order.value else { return nil }
    let plan = run.plan
    guard plan.resources.indices.contains(resource) else { return "there is no such resource" }
    if amount == 0, resource <= Int(ResourceEntry.download) {
      let name = plan.string(plan.resources[resource].name)
      return "\(name) cannot be 0; `opflow pause` starts nothing new"
    }
    if resource == plan.gpuResource, amount > run.options.capacities(of: plan)[resource] {
      let most = run.options.capacities(of: plan)[resource]
      return "this machine has \(most / 1000) GPUs"
    }
    return nil
  }

  func perform(
    _ order: Order, on tasks: [TaskID], in run: inout Scheduler, at now: Instant,
    into actions: inout StepQueue
  ) {
    guard case .capacity(let resource, let amount) = order.value else { return }
    run.setCapacity(amount, of: resource, into: &actions)
  }
}

private struct SkipOrder: OrderEffect {
  func fault(of task: TaskID, among named: Set<TaskID>, in run: Scheduler) -> String? {
    let state = run.graph.state(task)
    if state.isTerminal { return run.ended(task) }
    if run.gates.open[task] != nil { return "waits for an answer: approve or reject it" }
    return state.isRunning ? "runs (try \(run.attempt[task.index]))" : nil
  }

  func prepare(
    _ line: inout OrderEntry, in run: inout Scheduler, into actions: inout StepQueue
  ) {
    run.takeBackResults(of: line.tasks, into: &actions)
  }

  func perform(
    _ order: Order, on tasks: [TaskID], in run: inout Scheduler, at now: Instant,
    into actions: inout StepQueue
  ) {
    run.skip(tasks, into: &actions)
  }
}

private struct CloseOrder: OrderEffect {
  func fault(of order: Order, in run: Scheduler) -> String? {
    switch run.openness {
    case .open: nil
    case .closed: "the run is closed already"
    case .ordinary: "the run is none that `opflow serve` keeps open: it ends by itself"
    }
  }

  func perform(
    _ order: Order, on tasks: [TaskID], in run: inout Scheduler, at now: Instant,
    into actions: inout StepQueue
  ) {
    run.openness = .closed
  }
}
