internal import OpflowJournal
internal import OpflowPlan

extension Scheduler {
  mutating func askToWithdraw(additionsOf adder: TaskID, into actions: inout StepQueue) {
    let additions = additions.of(adder)
    if additions.isEmpty { return }
    let tasks = additions.map(\.tasks)
    let all = Set(tasks.joined().lazy.map { Int32(truncatingIfNeeded: $0) })
    guard all.allSatisfy({ mayWithdraw(TaskID($0), with: all) }) else { return }
    for number in tasks.joined() where graph.state(TaskID(number)) != .waiting {
      tellTakenBack(TaskID(number), into: &actions)
    }
    self.additions.letGo(all)
    let entry = WithdrawEntry(
      adder: adder, attempt: attempt[adder.index], orders: additions.map(\.order.text),
      count: all.count)
    actions.append(.withdraw(Withdrawal(entry: entry, tasks: tasks)))
  }

  private func mayWithdraw(_ task: TaskID, with all: Set<Int32>) -> Bool {
    switch graph.state(task) {
    case .waiting:
      if graph.has(.ran, task) || graph.has(.delayed, task) || lostCount[task.index] > 0 {
        return false
      }
    case .skipped:
      let isByItself = plan.flags(task).contains(.conditionFalse)
      if !isByItself, !graph.has(.skippedUpstream, task) { return false }
    case .ready, .checking, .handed, .running, .suspended, .succeeded, .upToDate, .failedAllowed,
      .failed, .cancelled:
      return false
    }
    return plan.dependents(task).allSatisfy { all.contains(plan.dependent($0).rawValue) }
  }

  /// The tasks were renamed, or stay.
  mutating func withdraw(_ withdrawal: Withdrawal, into actions: inout StepQueue) {
    additions.noteAnswer(about: withdrawal.numbers)
    services.review.touchAll()
    guard let renamed = withdrawal.plan else {
      for task in withdrawal.numbers.lazy.map({ TaskID($0) }) where graph.state(task) == .skipped {
        actions.append(.tell(.transition(Transition(.skip(reasonOfSkip(of: task)), task))))
      }
      return
    }
    plan = renamed
    additions.forget(withdrawal.entry.adder)
    actions.append(.tell(.withdraw(withdrawal.entry)))
    for number in withdrawal.numbers {
      // Their dependents are retracted too.
      if graph.state(TaskID(number)) == .waiting { graph.set(TaskID(number), .skipped) }
      // A retry of the failed dependency must not bring it back.
      graph.unmark(TaskID(number), .skippedUpstream)
      actions.append(.tell(.transition(Transition(.skip(.withdrawn), TaskID(number)))))
    }
    services.countUsersAnew()
  }

  private func reasonOfSkip(of task: TaskID) -> SkipReason {
    plan.flags(task).contains(.conditionFalse)
      ? falseCondition(of: task) : .upstream(graph.firstLackedNeed(of: task) ?? .none)
  }
}
