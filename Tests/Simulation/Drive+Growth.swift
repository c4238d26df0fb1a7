import OpflowCore

/// What may be added to a run while it goes on.
struct ImaginedGrowth {
  let plans: GrowingPlans
  /// How many batches the run has.
  var added: Int
  /// Whether the run stays open for them.
  var openness: RunOpenness
}

/// Adding tasks at any moment, and closing what was kept open for them.
extension Drive {
  /// The plan has tasks more.
  mutating func grow(to plan: Plan) {
    let new = [InitialState](repeating: .run, count: plan.taskCount - self.plan.taskCount)
    initial += new
    self.plan = plan
    source.plan = plan
    ledger.use(plan)
    noteStanding()
    witness.grow(to: plan)
    model.grow(new)
  }

  /// Of the `finally` tasks that come to a run of which something ran, those are owed that do not have their end as they
  /// come: for their `if`, or for what had an end before.
  private mutating func noteOwed(from first: Int) {
    guard entering.ranBefore else { return }
    for task in (first..<plan.taskCount).lazy.map({ TaskID($0) })
    where plan.flags(task).contains(.finally) {
      switch witness.ends[task]?.event {
      case .skip(.condition), .skip(.emptyMatrix): continue
      case .skip(.upstream(let need)) where witness.stand[need.index] == .over: continue
      default: owesFinally = true
      }
    }
  }

  mutating func noteStanding() {
    for index in plan.tasks
    where plan.isService(TaskID(index)) && plan.dependents(TaskID(index)).isEmpty {
      stoodAlone.insert(TaskID(index))
    }
  }

  /// - Returns: whether anything was added.
  mutating func growNow() throws(Finding) -> Bool {
    guard growth != nil, hasBegun, !engine.isClosing, random.chance(6) else { return false }
    return try addBatch()
  }

  /// Nothing goes on: whoever has more to do adds it, and closes what is open when there is nothing more.
  ///
  /// - Returns: whether anybody did.
  mutating func growAtRest() throws(Finding) -> Bool {
    guard growth?.openness == .open, hasBegun, !engine.isClosing, stopCause == nil else {
      return false
    }
    if random.chance(70), try addBatch() { return true }
    return try closeRun()
  }

  private mutating func addBatch() throws(Finding) -> Bool {
    guard let growth, growth.added < growth.plans.batchCount,
      let id = OrderID("batch-\(growth.added)")
    else { return false }
    let maker = growth.plans.maker(ofBatch: growth.added).flatMap { plan.task(named: $0) } ?? .none
    // Whoever makes legs does it while he runs.
    if !maker.isNone, !engine.state(maker).isRunning { return false }
    switch engine.answer(toExtension: id, by: growth.plans.batch(growth.added), of: maker) {
    case nil: break
    case .done: throw Finding("batch \(growth.added) is said to be added already")
    case .refused(let what):
      log?("batch \(growth.added) is refused: \(what)")
      return false
    }
    let before = plan.taskCount
    let next = try growth.plans.plan(with: growth.added + 1)
    self.growth?.added += 1
    grow(to: next)
    var entry = ExtendEntry(
      id: id, asker: OrderAsker(pid: 3, user: 0, name: "opflow add"), taskCount: next.taskCount,
      added: next.taskCount - before)
    if !maker.isNone {
      entry.adder = maker
      entry.attempt = engine.attempt(of: maker)
    }
    let client = control.ask(id)
    log?("batch \(growth.added): \((before..<next.taskCount).map { tasks[$0].brief })")
    try tell(
      .extend(
        RunGrowth(
          plan: next, entry: entry,
          initial: [InitialState](repeating: .run, count: next.taskCount - before),
          client: client)))
    noteOwed(from: before)
    return true
  }

  private mutating func closeRun() throws(Finding) -> Bool {
    guard let id = control.freshID() else { return false }
    let asker = OrderAsker(pid: 3, user: 0, name: "opflow close")
    try ask(Order(id: id, asker: asker, verb: .close))
    // It may have to wait for another order, and that for time to pass.
    return growth?.openness != .open
  }
}
