import OpflowEngine
import OpflowJournal
import OpflowPlan

/// Batches of tasks that may be added to a live run.
struct SimulatedGrowth {
  let plans: GrowingPlans
  /// The number of batches that the run has.
  var added: Int
  /// The plan with added and retracted tasks; nil if none was retracted.
  var renamed: Plan?
  /// How often each batch was retracted.
  var retracted: [Int: Int] = [:]
  var openness: RunOpenness
  /// The number of the session.
  private let session: Int

  init(plans: GrowingPlans, added: Int, openness: RunOpenness, session: Int) {
    self.plans = plans
    self.session = session
    self.added = added
    self.openness = openness
  }

  /// Returns the ID of the request that adds the batch.
  func name(ofBatch number: Int) -> String {
    "batch-\(number).\(session).\(retracted[number] ?? 0)"
  }

  /// Returns the batch that a request with this ID adds.
  static func batch(named name: String) -> String {
    String(name.prefix { $0 != "." })
  }

  /// Returns the current plan in a file without further tasks.
  func uncut() throws(Finding) -> Plan {
    if let renamed { return renamed }
    return try plans.uncut(with: added)
  }

  /// Returns the plan with one more batch.
  func next() throws(Finding) -> Plan {
    guard let renamed else { return try plans.plan(with: added + 1) }
    let bytes: [UInt8]
    do throws(SegmentError) {
      bytes = try PlanGrowth(of: renamed, by: plans.batch(added)).applied(to: renamed.copyOfBytes)
    } catch {
      throw Finding("a batch does not fit once more: \(error)")
    }
    return try SimulatedManifest.open(bytes)
  }
}

/// Adds tasks at any moment, and closes a run that stays open.
extension SimulatedSession {
  mutating func grow(to plan: Plan) {
    let new = [InitialState](repeating: .run, count: plan.taskCount - self.plan.taskCount)
    initial += new
    self.plan = plan
    source.plan = plan
    ledger.use(plan)
    noteStanding()
    oracle.grow(to: plan)
    model.grow(new)
  }

  /// An added `finally` task is due if something ran before, unless it ends at once for its `if` or
  /// for a task that had ended.
  private mutating func noteOwed(from first: Int) {
    guard resumeState.ranBefore else { return }
    for task in (first..<plan.taskCount).lazy.map({ TaskID($0) })
    where plan.flags(task).contains(.finally) {
      switch oracle.ends[task]?.event {
      case .skip(.condition), .skip(.emptyMatrix): continue
      case .skip(.upstream(let need)) where oracle.stand[need.index] == .over: continue
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

  /// Returns whether a batch was added.
  mutating func growNow() throws(Finding) -> Bool {
    guard growth != nil, hasBegun, !engine.isClosing, random.chance(6) else { return false }
    return try addBatch()
  }

  /// Called when no other move is possible: adds a batch or closes the run. Returns whether it did.
  mutating func growAtRest() throws(Finding) -> Bool {
    guard growth?.openness == .open, hasBegun, !engine.isClosing, stopCause == nil else {
      return false
    }
    if random.chance(70), try addBatch() { return true }
    return try closeRun()
  }

  private mutating func addBatch() throws(Finding) -> Bool {
    guard let growth, growth.added < growth.plans.batchCount,
      let id = RequestID(growth.name(ofBatch: growth.added))
    else { return false }
    let generator =
      growth.plans.generator(ofBatch: growth.added).flatMap { plan.task(named: $0) } ?? .none
    // The generator adds tasks while it runs.
    if !generator.isNone, !engine.state(generator).isRunning { return false }
    switch engine.answer(toExtension: id, by: growth.plans.batch(growth.added), of: generator) {
    case nil: break
    case .done: throw Finding("batch \(growth.added) is said to be added already")
    case .refused(let detail):
      log?("batch \(growth.added) is refused: \(detail)")
      return false
    }
    let before = plan.taskCount
    let next = try growth.next()
    self.growth?.added += 1
    if growth.renamed != nil { self.growth?.renamed = next }
    grow(to: next)
    var entry = ExtendEntry(
      id: id, requester: Requester(pid: 3, user: 0, name: "opflow add"), taskCount: next.taskCount,
      added: next.taskCount - before)
    if !generator.isNone {
      entry.generator = generator
      entry.attempt = engine.attempt(of: generator)
    }
    let connection = control.ask(id)
    log?("batch \(growth.added): \((before..<next.taskCount).map { tasks[$0].brief })")
    try tell(
      .extend(
        RunGrowth(
          plan: next, entry: entry,
          initial: [InitialState](repeating: .run, count: next.taskCount - before),
          connection: connection)))
    noteOwed(from: before)
    return true
  }

  /// Renames retracted tasks, or refuses.
  ///
  /// Batches are added in sequence, so only the last ones can be added again.
  mutating func retract(_ retraction: Retraction) throws(Finding) {
    guard var growth else { throw Finding("tasks are withdrawn, and none were added") }
    let all = Set(retraction.numbers)
    for task in retraction.numbers.lazy.map({ TaskID($0) }) {
      let user = plan.dependents(task).map { plan.dependent($0) }.first { !all.contains($0.index) }
      if let user {
        throw Finding("\(tasks[task.index].name) is withdrawn, and task \(user.rawValue) needs it")
      }
      if oracle.hasBegun(task) {
        throw Finding("\(tasks[task.index].name) is withdrawn, and has begun")
      }
    }
    let batches = retraction.entry.requests.count
    let names = (growth.added - batches..<growth.added).map { growth.name(ofBatch: $0) }
    guard retraction.entry.requests == names, !random.chance(10) else {
      log?("    what \(plan.nameString(retraction.entry.generator)) added stays")
      return tell(.scheduler(.retracted(retraction)))
    }
    let known = try growth.uncut()
    let bytes: [UInt8]
    do throws(SegmentError) {
      bytes = try PlanGrowth(
        of: known, retracting: retraction.numbers, attempt: retraction.entry.attempt
      ).applied(to: [])
    } catch {
      throw Finding("tasks cannot be withdrawn: \(error)")
    }
    let renamed = try SimulatedManifest.open(bytes)
    log?("    withdrawn: \(retraction.numbers.map { renamed.nameString(TaskID($0)) })")
    for batch in growth.added - batches..<growth.added { growth.retracted[batch, default: 0] += 1 }
    growth.added -= batches
    growth.renamed = renamed
    self.growth = growth
    plan = renamed
    source.plan = renamed
    // They are added again after the existing tasks.
    let first = retraction.tasks.first?.lowerBound ?? plan.taskCount
    source.tasks = Array(source.tasks[..<plan.taskCount] + source.tasks[first...])
    for task in retraction.numbers { initial[task] = .excluded }
    ledger.use(renamed)
    try oracle.retract(retraction.numbers.map { TaskID($0) }, renamed)
    model.retract(retraction.numbers.map { TaskID($0) })
    var answer = retraction
    answer.plan = renamed
    tell(.scheduler(.retracted(answer)))
  }

  private mutating func closeRun() throws(Finding) -> Bool {
    guard let id = control.freshID() else { return false }
    let requester = Requester(pid: 3, user: 0, name: "opflow close")
    try ask(ControlRequest(id: id, requester: requester, verb: .close))
    // It may wait for another request, which waits for a deadline.
    return growth?.openness != .open
  }
}
