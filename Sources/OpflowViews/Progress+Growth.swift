package import OpflowCore

/// Tasks that are added to, or retracted from, a live session.
extension ProgressView {
  /// Reports tasks that were added to the run.
  ///
  /// - Parameters:
  ///   - plan: includes them.
  ///   - initial: the initial states of the tasks that the view does not know yet.
  package mutating func extend(
    _ entry: ExtendEntry, plan: Plan, initial: [InitialState], atMilliseconds now: Int64
  ) {
    nowMilliseconds = now
    if !initial.isEmpty {
      model.grow(to: plan, initial)
      live?.grow()
    }
    model.apply(entry)
    if json {
      ProgressJSON.extend(entry, model, atMilliseconds: now, into: &text)
      settleObject(.event)
    }
    tellOrder(OrderText.text(entry))
    live?.pass(toMilliseconds: now)
  }

  /// Reports retracted tasks, which have new names in `plan`.
  package mutating func withdraw(
    _ entry: WithdrawEntry, plan: Plan, atMilliseconds now: Int64
  ) {
    nowMilliseconds = now
    let known = model.plan
    let withdrawn = known.tasks.map { TaskID($0) }.filter {
      !known.nameBytes($0).equals(plan.nameBytes($0))
    }
    model.withdraw(withdrawn, plan)
    if json {
      ProgressJSON.withdraw(
        entry, withdrawn.map { known.nameString($0) }, model, atMilliseconds: now, into: &text)
      settleObject(.event)
    }
    tellOrder(OrderText.text(entry, plan: plan))
    live?.pass(toMilliseconds: now)
  }

  /// Prints a request that was applied, if the renderer prints requests.
  mutating func tellOrder(_ what: String) {
    if renderer.tellsOrders {
      text.add(palette.yellow("order: "))
      text.addCleaned(what)
      text.endLine()
    }
    settle()
  }
}
