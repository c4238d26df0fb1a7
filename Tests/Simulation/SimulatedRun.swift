import OpflowBase
import OpflowEngine
import OpflowJournal
import OpflowPlan

/// A run from its first session to its last. Each session is disturbed in its own way, the
/// coordinator may be killed between any two actions, the journal torn and the manifest edited;
/// then the run is recovered and resumed. The seed determines everything.
package struct SimulatedRun {
  var random: SplitMix64
  private var manifest: SimulatedManifest
  private var file = SimulatedFile()
  private var ledger = ExpectedState()
  private var records = SimulatedRecords()
  /// `ledger` matches the file, whose bytes were not damaged.
  private var isExact = true
  /// All successes so far, by name and fingerprint.
  private var successes: Set<String> = []
  private let checkInterval: Int
  /// Services that the last session left up, its plan and its last time.
  var passed: [PassedOn] = []
  var passedFrom: Plan?
  private var clock = Instant(nanoseconds: 1_000_000_000)
  /// Receives a trace for a user who replays a seed.
  package var log: ((String) -> Void)?
  package private(set) var sessions = 0
  package private(set) var crashes = 0
  /// How many services stayed up between sessions.
  package private(set) var stays = 0
  package private(set) var far = FarCounts()
  /// How many external tasks began, were interrupted with their clients, and outlasted their end.
  package private(set) var blocks = (begun: 0, cutShort: 0, lingered: 0)
  /// Most sessions use nodes.
  let isFar: Bool
  /// Nearly all sessions use nodes, and have services there.
  let isFarAlways: Bool
  /// One machine is bad.
  private let blamesMachine: Bool
  /// The run stays open for added tasks until a request closes it.
  private var isOpen = false
  private var runNumber: UInt64
  private let hasExternalTasks: Bool
  /// Sessions keep the ends of those before.
  let goesOn: Bool
  /// How many batches were added.
  package private(set) var additions = 0
  /// How many batches were retracted.
  package private(set) var retractions = 0

  /// Mostly has a few tasks; one in 1,000 seeds has hundreds, one in 100,000 has ten thousand.
  ///
  /// - Parameters:
  ///   - checkingOneIn: all invariants are checked after one in this many events.
  ///   - grows: some tasks are added to the live run.
  ///   - makesInstances: some of the added tasks are matrix tasks of a generator.
  ///   - adds: some of the added tasks are added by tasks.
  ///   - blocks: some tasks are external, run by clients.
  ///   - goesOn: most sessions keep the ends of those before.
  ///   - far: services run on nodes, which have more faults.
  package init(
    seed: UInt64, checkingOneIn interval: Int = 1, grows: Bool = false,
    makesInstances: Bool = false,
    adds: Bool = false, blocks: Bool = false, goesOn: Bool = false,
    far: Bool = false
  ) {
    hasExternalTasks = blocks
    self.goesOn = goesOn
    random = SplitMix64(seed: seed)
    runNumber = seed
    let size: Int
    if seed % 100_000 == 99_999 {
      size = 10_000
    } else if seed % 1000 == 999 {
      size = 100 + random.below(400)
    } else {
      size = 1 + random.below(random.chance(10) ? 30 : 9)
    }
    manifest = .random(size: size, &random)
    // Uses no random number, so that old seeds keep their meaning.
    blamesMachine = seed % 20 == 2
    isFar = far || seed % 6 == 0 || blamesMachine
    isFarAlways = far
    // Some nodes share GPUs with the coordinator's host (`devicesHere`).
    if far, seed % 5 == 3 {
      for place in manifest.tasks.indices { manifest.tasks[place].isLocalWithDevices = true }
    }
    if far || seed % 3 == 0 {
      var other = SplitMix64(seed: ~seed)
      manifest.addServices(&other, isFar: isFar)
      if far { manifest.addFarService(&other) }
    }
    if grows {
      var other = SplitMix64(seed: seed &+ 1 << 63)
      manifest.split(&other)
      isOpen = other.chance(50)
      if makesInstances { manifest.chooseMakers(&other) }
      if adds { manifest.chooseGenerators(&other) }
    }
    if blocks {
      var other = SplitMix64(seed: seed &+ 1 << 62)
      manifest.addBlocks(&other)
    }
    // The cost of a full check grows with the number of tasks.
    checkInterval = interval + size / 50
  }

  /// Runs all sessions.
  ///
  /// - Throws: The first violated promise.
  package mutating func run() throws(Finding) {
    let disturbed = random.below(5)
    for _ in 0..<disturbed {
      try session(.random(taskCount: manifest.tasks.count, &random))
      // The process may die in between.
      if random.chance(20) { passed = [] }
      if random.chance(8) { spoil() }
      if random.chance(25) { manifest.edit(&random) }
      // Another run of the state folder begins.
      if random.chance(10) { _ = begin() }
    }
    let ends = try session(.none)
    try checkNothingIsLeft(after: ends)
  }

  private mutating func spoil() {
    passed = []
    file.spoil(&random)
    isExact = false
    ledger.forget()
  }

  @discardableResult
  private mutating func session(_ injector: FaultInjector) throws(Finding) -> [TaskState] {
    let plans = try GrowingPlans(manifest)
    let added = try countAdded(plans)
    let plan = try plans.plan(with: added)
    sessions += 1
    let isUndisturbed = injector.isNone
    var request = isUndisturbed ? ResumeRequest() : randomRequest(plan)
    let (history, isNew) = try recover(plan)
    request.values = Self.values(history)
    let held = takePassed(plan, history, &request)
    let missing = request.outputMissing
    let lost = !isUndisturbed && random.chance(10) ? randomSet(plan) : nil
    let decision = ResumeDecision.heedingValues(plan: plan, history: history, request: &request) {
      !(lost?.contains($0) ?? false)
    }
    log?("drive \(sessions): \(injector)")
    for index in plan.tasks {
      log?("  \(manifest.tasks[index].brief) \(decision[TaskID(index)])")
    }
    if isExact {
      try ResumeCheck(
        plan: plan, history: history, request: request, decision: decision, known: ledger.known(),
        outputMissing: missing, valuesLost: lost
      ).check()
    } else {
      try checkClaims(plan, history)
    }
    var entry = SimulatedSession.Entry(
      initial: decision.initialStates(request),
      attempts: plan.tasks.map { history[TaskID($0)].attempts }, owesFinally: decision.owesFinally,
      values: request.values, priorities: history.requests.priorities,
      requests: history.requests.counts,
      approved: decision.approved(plan, history, request), results: decision.results(history),
      origins: history.origins, asked: request.rerun, number: sessions)
    entry.standing = history.standing(plan, for: request)
    entry.triesUsed = history.triesUsed(
      plan, for: request, at: SimulatedSession.firstWallMilliseconds)
    if history.isContinued(by: request) { entry.earlierRequests = history.requests }
    if isExact, entry.standing != ledger.standing(plan, request) {
      throw Finding(
        "of the requests \(ledger.standing(plan, request)) the next drive has \(entry.standing)")
    }
    if isExact, entry.triesUsed != ledger.triesUsed(plan, request) {
      throw Finding(
        "of the tries \(ledger.triesUsed(plan, request)) the next drive has \(entry.triesUsed)")
    }
    for passed in held where decision[passed.held.service] == .stay {
      var own = passed
      own.held.worker = WorkerID(Int32(entry.held.count))
      own.worker = passed.worker.handedOn(to: own.held.worker)
      entry.held.append(own)
    }
    stays += entry.held.count
    entry.run = runNumber
    entry.ranBefore = history.hasStarts
    if plans.batchCount > 0 {
      let openness: RunOpenness =
        !isOpen ? .ordinary : history.requests.closedBy == nil ? .open : .closed
      entry.growth = SimulatedGrowth(
        plans: plans, added: added, openness: openness, session: sessions)
    }
    ledger.use(plan)
    var injector = injector
    if injector.diskRoom < .max { injector.diskRoom += file.bytes.count }
    if blamesMachine, !isUndisturbed { injector.blameMachine() }
    if isFarAlways { injector.troubleMachines(&random) }
    if hasExternalTasks, !isUndisturbed, random.chance(80) {
      injector.troublesPrograms = random.below(200)
    }
    var session = SimulatedSession(
      plan: plan, tasks: manifest.tasks, options: options(isUndisturbed), injector: injector,
      resumeState: entry,
      opening: opening(
        isNew, decision, history.isContinued(by: request), added > 0 ? plan.taskCount : 0),
      durability: random.chance(60) ? .group : random.chance(50) ? .each : .none,
      encoder: isNew ? JournalEncoder() : history.encoder, file: file, ledger: ledger,
      records: records,
      random: SplitMix64(seed: random.next()), checkInterval: checkInterval)
    session.log = log
    let end = try session.run(from: clock)
    clock = session.now
    additions += (session.growth?.added ?? 0) - added
    retractions += session.growth?.retracted.values.reduce(0, +) ?? 0
    // Added tasks entered the session unfinished.
    let grown = session.plan
    let decided = GrownDecision(decision, taskCount: plan.taskCount)
    entry.initial = session.initial
    entry.attempts += [Int32](repeating: 0, count: grown.taskCount - entry.attempts.count)
    blocks.begun += session.oracle.blocks.begun
    blocks.cutShort += session.oracle.blocks.cutShort
    blocks.lingered += session.oracle.blocks.lingered
    far.add(session.oracle.far.counts)
    switch end {
    case .crashed:
      crashes += 1
      try session.crash()
    case .passedOn(let left):
      try check(left, session)
      (passed, passedFrom) = (left, grown)
    case .closed(let closing):
      if session.hasBegun { try FateCheck(session).check(closing) }
      try check(session, decided, since: history)
      if isUndisturbed {
        entry.owesFinally = session.owesFinally
        for task in session.servicesTakenBack { entry.initial[task.index] = .run }
        let expected = ExpectedEnds(
          grown, session.tasks, entry, records, standing: session.stoodAlone
        ).states
        let tainted = ExpectedServices.tainted(grown, session.tasks, standing: session.stoodAlone)
        for index in grown.tasks where session.states[index] != expected[index] {
          if tainted.contains(TaskID(index)),
            session.states[index].isTerminal || session.oracle.startCount == 0
          {
            continue
          }
          // Its worker was lost or it had ended when it was passed on, and it was no longer needed
          // when this was read, or it was to restart.
          if entry.initial[index] == .stays, session.states[index] == .skipped,
            session.lostWorker(of: TaskID(index)) || session.endedByItself(TaskID(index))
          {
            continue
          }
          // It became pending again for a task that was skipped later.
          if session.states[index] == .skipped, expected[index] == .succeeded,
            session.wasTakenBackInVain(TaskID(index))
          {
            continue
          }
          // It was stopped for a while, and its next user was skipped.
          if grown.isService(TaskID(index)), session.states[index] == .skipped,
            session.gaveWay(TaskID(index))
          {
            continue
          }
          throw Finding(
            """
            \(grown.nameString(TaskID(index))) is \(session.states[index]) and should be \
            \(expected[index])
            """
          )
        }
      }
    }
    for item in session.lines where item.transition.event == .success {
      successes.insert(Self.claim(grown, item.transition.task))
    }
    file = session.file
    ledger = session.ledger
    records = session.records
    return session.states
  }

  /// Reads the journal like the holder of the run's lock, who may be killed at any point.
  private mutating func recover(_ plan: Plan) throws(Finding) -> (RunModel, isNew: Bool) {
    if file.bytes.isEmpty { return begin() }
    let read: (history: RunModel, recovery: JournalRecovery)
    do throws(JournalError) {
      read = try Self.read(file, plan)
    } catch {
      // Cut within its first line: the run never began.
      guard !isExact || ledger.items.isEmpty else {
        throw Finding("the journal cannot be read: \(error.message)")
      }
      return begin()
    }
    let repair = read.recovery.repair
    if repair.truncateTo != nil, random.chance(10) { return try recover(plan) }
    file.repair(repair)
    if isExact, file.bytes.count != ledger.end {
      throw Finding("repaired to \(file.bytes.count) bytes, the last line ends at \(ledger.end)")
    }
    return (read.history, false)
  }

  /// Returns the number of added batches according to the journal.
  private mutating func countAdded(_ plans: GrowingPlans) throws(Finding) -> Int {
    if plans.batchCount == 0 || file.bytes.isEmpty { return 0 }
    // A damaged journal may lack a line, so that the batches are unknown.
    guard let read = try? Self.read(file, plans.plan(with: plans.batchCount)) else { return 0 }
    let told = read.history.extensions.map { SimulatedGrowth.batch(named: $0.id.text) }
    if told == (0..<told.count).map({ "batch-\($0)" }) {
      if isExact, told.count != ledger.extensionCount {
        throw Finding("\(ledger.extensionCount) batches were added, \(told.count) are read")
      }
      return told.count
    }
    if isExact { throw Finding("the batches \(told) are read") }
    _ = begin()
    return 0
  }

  static func read(
    _ file: SimulatedFile, _ plan: Plan
  ) throws(JournalError) -> (history: RunModel, recovery: JournalRecovery) {
    try file.bytes.withUnsafeBytes { bytes in
      Result { () throws(JournalError) in try RunModel.read(bytes, plan: plan) }
    }.get()
  }

  private mutating func begin() -> (RunModel, isNew: Bool) {
    passed = []
    file = SimulatedFile()
    ledger = ExpectedState()
    isExact = true
    runNumber = Hash.xxh3(withUnsafeBytes(of: runNumber) { Array($0) })
    return (RunModel(), true)
  }

  private func opening(
    _ isNew: Bool, _ decision: ResumeDecision, _ continues: Bool, _ taskCount: Int
  ) -> [JournalEntry] {
    if isNew {
      return [
        .open(
          OpenEntry(
            run: "imagined", planKey: "00", opflowVersion: "0", manifestPath: "/imagined.yaml",
            folder: "/"))
      ]
    }
    var resume = ResumeEntry(planKey: "00", opflowVersion: "0")
    decision.complete(&resume)
    resume.taskCount = taskCount
    resume.continues = continues
    return [.resume(resume)] + decision.transitions.map { .transition($0) }
  }

  // MARK: - Checks

  /// Checks that the journal matches the states of the scheduler after the session.
  private func check(
    _ session: SimulatedSession, _ decision: GrownDecision, since before: RunModel
  ) throws(Finding) {
    if !decision.first.startsAnything, decision.first.checkCount == 0,
      session.oracle.startCount > 0, !session.initial.contains(.stays),
      session.plan.taskCount == decision.taskCount,
      !session.lines.contains(where: { $0.transition.event == .resume(.asked) })
    {
      throw Finding("a task started though the decision said that none would")
    }
    guard !session.hasJournalFailed else { return }
    let plan = session.plan
    let history: RunModel
    do throws(JournalError) {
      history = try Self.read(session.file, plan).history
    } catch {
      throw Finding("the journal of a whole session cannot be read: \(error.message)")
    }
    if history.close == nil { throw Finding("the journal of a whole drive is not closed") }
    for index in plan.tasks {
      switch decision[TaskID(index)] {
      case .outside, .leave:
        let (old, new) = (before[TaskID(index)], history[TaskID(index)])
        if old.state != new.state || old.settleSequence != new.settleSequence {
          throw Finding("\(plan.nameString(TaskID(index))) was left out and is \(new.state)")
        }
        continue
      case .check, .later:
        // Its earlier result is in the journal until its turn.
        if !session.states[index].isTerminal { continue }
      case .keep, .run, .fail, .stay: break
      }
      // A damaged journal may lack the line that added the task, and still have its other lines.
      if !isExact, index >= decision.taskCount { continue }
      let (told, stands) = (history[TaskID(index)].state, session.states[index])
      if told != stands, stands.isTerminal || told.isTerminal {
        throw Finding("\(plan.nameString(TaskID(index))) is \(stands), the journal says \(told)")
      }
    }
  }

  /// Checks that a damaged journal does not claim false successes.
  private func checkClaims(_ plan: Plan, _ history: RunModel) throws(Finding) {
    for index in plan.tasks {
      let record = history[TaskID(index)]
      guard record.state == .succeeded, !record.isChanged else { continue }
      if !successes.contains(Self.claim(plan, TaskID(index))) {
        throw Finding("\(plan.nameString(TaskID(index))): a success that never was is claimed")
      }
    }
  }

  private static func claim(_ plan: Plan, _ task: TaskID) -> String {
    "\(plan.nameString(task)) \(plan.fingerprint(task).whole)"
  }

  /// Returns the values of tasks with their texts; there are only two texts.
  private static func values(_ history: RunModel) -> [TaskID: ValueSet] {
    let texts = ["true", "false"].map { Array($0.utf8) }
    return history.values.left.mapValues { set in
      let values = set.values.map { value in
        TaskValue(
          name: value.name, hash: value.hash, text: texts.first { Hash.xxh3($0) == value.hash })
      }
      return ValueSet(attempt: set.attempt, values)
    }
  }

  /// Checks that a resume after a good end has nothing to do.
  private mutating func checkNothingIsLeft(after ends: [TaskState]) throws(Finding) {
    guard !ends.contains(.failed) else { return }
    let plans = try GrowingPlans(manifest)
    // A damaged journal may lack the first addition of a task and still have its attempts.
    if !isExact, plans.batchCount > 0 { return }
    let plan = try plans.plan(with: try countAdded(plans))
    let (history, _) = try recover(plan)
    var request = ResumeRequest()
    request.values = Self.values(history)
    let decision = ResumeDecision.heedingValues(plan: plan, history: history, request: &request) {
      _ in true
    }
    if decision.startsAnything {
      let told = plan.tasks.compactMap { index -> String? in
        switch decision[TaskID(index)] {
        case .run, .fail: "\(plan.nameString(TaskID(index))) \(decision[TaskID(index)])"
        case .outside, .leave, .keep, .check, .later, .stay: nil
        }
      }
      throw Finding("a finished run would start something again: \(told)")
    }
  }
}
