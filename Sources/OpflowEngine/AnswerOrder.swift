internal import OpflowJournal
internal import OpflowPlan

/// Answers an open approval.
struct AnswerOrder: OrderEffect {
  let verb: OrderVerb

  func fault(of task: TaskID, among named: Set<TaskID>, in run: Scheduler) -> String? {
    let state = run.graph.state(task)
    guard run.isGate(task) else { return "is no gate: nobody is asked" }
    if run.gates.open[task] != nil { return nil }
    guard state.isTerminal else {
      if run.graph.unmetNeeds(of: task) == 0, !run.mayStart(task) {
        return "asks nobody any more: a task has failed (max_failures), and nothing new starts"
      }
      if run.graph.has(.onHold, task) { return "has not asked yet: it is suspended" }
      if state == .ready, run.phase.isPaused { return "has not asked yet: the run is paused" }
      let open = run.graph.unmetNeeds(of: task)
      return open == 0
        ? "has not asked yet"
        : "has not asked yet: \(open) of its needs \(open == 1 ? "has" : "have") no end"
    }
    guard let answer = run.gates.answers[task], state != .cancelled else {
      return run.ended(task)
    }
    let verb = answer.verb == .approve ? "approved" : "rejected"
    return "was \(verb) already, by \(answer.asker.text)"
  }

  func prepare(
    _ line: inout OrderEntry, in run: inout Scheduler, into actions: inout StepQueue
  ) {
    if verb == .approve { line.fingerprints = line.tasks.map { run.plan.fingerprint($0).whole } }
  }

  func perform(
    _ order: Order, on tasks: [TaskID], in run: inout Scheduler, at now: Instant,
    into actions: inout StepQueue
  ) {
    run.answerGates(tasks, verb, of: order.asker, at: now, into: &actions)
  }
}
