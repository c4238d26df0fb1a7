import OpflowEngine
import OpflowJournal
import OpflowPlan

/// What may be added to a run while it goes on.
struct SimulatedGrowth {
  let plans: GrowingPlans
  /// How many batches the run has.
  var added: Int
  /// The plan with them, and with what was withdrawn; nil where nothing was.
  var renamed: Plan?
  /// By batch: how often it was withdrawn.
  var retracted: [Int: Int] = [:]
  /// Whether the run stays open for them.
  var openness: RunOpenness
  /// The number of the drive.
  private let session: Int

  init(plans: GrowingPlans, added: Int, openness: RunOpenness, session: Int) {
    self.plans = plans
    self.session = session
    self.added = added
    self.openness = openness
  }

  /// What the request is called that adds it.
  func name(ofBatch number: Int) -> String {
    "batch-\(number).\(session).\(retracted[number] ?? 0)"
  }

  /// The number of the batch that a request of that name adds.
  static func batch(named name: String) -> String {
    String(name.prefix { $0 != "." })
  }

  /// The plan as it is, in a file with no task more.
  func uncut() throws(Finding) -> Plan {
    if let renamed { return renamed }
    return try plans.uncut(with: added)
  }

  /// The plan with one batch more.
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

/// Adding tasks at any moment, and closing what was kept open for them.
extension SimulatedSession {
  /// The plan has tasks more.
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

  /// Of the `finally` tasks that come to a run of which something ran, those are owed that do not
  /// have their end as they come: for their `if`, or for what had an end before.
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

  /// - Returns: whether anything was added.
  mutating func growNow() throws(Finding) -> Bool {
    guard growth != nil, hasBegun, !engine.isClosing, random.chance(6) else { return false }
    return try addBatch()
  }

  /// Nothing goes on: whoever has more to do adds it, and closes what is open when there is nothing
  /// more.
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
      let id = RequestID(growth.name(ofBatch: growth.added))
    else { return false }
    let generator =
      growth.plans.generator(ofBatch: growth.added).flatMap { plan.task(named: $0) } ?? .none
    // He does it while he runs.
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

  /// Gives tasks other names that are withdrawn, or says that this cannot be.
  ///
  /// Batches come one after the other, so that only the last ones can come once more.
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
    // They come once more behind what is there.
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
    // It may have to wait for another request, and that for time to pass.
    return growth?.openness != .open
  }
}
