import OpflowCore

/// One drive of a run: the real scheduler and journal encoder, workers with the real worker's
/// decisions over imagined processes, an imagined clock and an imagined disk.
///
/// It does what the coordinator's loop does, in its order: a turn takes in facts, writes the journal
/// once, and only then sends orders.
struct Drive {
  enum End {
    /// It came to its own end.
    case closed(CloseEntry)
    /// The coordinator died.
    case crashed
  }

  let plan: Plan
  let tasks: [ImaginedManifest.Task]
  let chaos: Chaos
  let options: SchedulerOptions
  let initial: [InitialState]
  let owesFinally: Bool

  var random: SplitMix64
  var scheduler: Scheduler
  var encoder: JournalEncoder
  var file: ImaginedFile
  var ledger: Ledger
  var now = Instant(nanoseconds: 1_000_000_000)
  var wallMilliseconds: Int64 = 1_700_000_000_000
  var workers: [ImaginedWorker] = []
  var unsent: [(worker: WorkerID, order: WorkerOrder)] = []
  var failedLaunches: [WorkerID] = []
  var closing: CloseEntry?
  private(set) var hasJournalFailed = false
  private(set) var hasBegun = false
  private var actions: [SchedulerAction] = []
  private var steps = 0

  /// What an outside observer sees.
  var witness: Witness
  /// The transitions of this drive, in order; those that never reached the file included.
  var lines: [DriveLine] = []
  /// Why it was told to stop, and whether at once.
  var stopCause: StopCause?
  var wasKilled = false
  /// A kind of worker did not come up, so tasks may fail for want of it.
  var lostWorkers = 0
  /// All invariants are checked after one event in so many.
  private let checkInterval: Int
  /// Told what happens, for a person who replays a seed.
  var log: ((String) -> Void)?

  init(
    plan: Plan, tasks: [ImaginedManifest.Task], options: SchedulerOptions, chaos: Chaos,
    entering: Entry, encoder: JournalEncoder, file: ImaginedFile, ledger: Ledger,
    random: SplitMix64, checkInterval: Int
  ) {
    self.plan = plan
    self.tasks = tasks
    self.chaos = chaos
    self.options = options
    initial = entering.initial
    owesFinally = entering.owesFinally
    self.random = random
    self.checkInterval = checkInterval
    self.encoder = encoder
    self.file = file
    self.ledger = ledger
    scheduler = Scheduler(
      plan: plan, options: options, initial: entering.initial, attempts: entering.attempts,
      owesFinally: entering.owesFinally)
    witness = Witness(plan: plan, options: options)
    witness.begin(entering)
  }

  /// How the tasks enter the drive.
  struct Entry {
    var initial: [InitialState]
    var attempts: [Int32]
    var owesFinally: Bool
  }

  /// Drives to the end, or to the crash.
  mutating func run(opening: [JournalEntry]) throws(Finding) -> End {
    for entry in opening { append(entry) }
    if crashIsDue { return .crashed }
    try flush()
    if hasJournalFailed { return .closed(CloseEntry(state: .interrupted, exitCode: 74)) }
    file.sync()
    hasBegun = true
    try tell(.begin)
    while true {
      if crashIsDue { return .crashed }
      // Several facts may be taken in one turn.
      if random.chance(60) { try endTurn() }
      if let closing {
        try endTurn()
        if witness.liveCount > 0 { throw Finding("the drive closed with processes alive") }
        return .closed(hasJournalFailed ? CloseEntry(state: .interrupted, exitCode: 74) : closing)
      }
      try step()
      if let wake = scheduler.nextWake, wake <= now { try tell(.timer) }
    }
  }

  var states: [TaskState] { plan.tasks.map { scheduler.state(TaskID($0)) } }

  private var crashIsDue: Bool { steps >= chaos.crashStep }

  private mutating func step() throws(Finding) {
    steps += 1
    if steps > 3000 + plan.taskCount * 120 { throw Finding("the drive does not come to an end") }
    now.nanoseconds += Int64(random.below(3_000_000))
    wallMilliseconds += Int64(random.below(3))
    if try disturb() { return }
    let choices = enabledMoves()
    if choices.isEmpty {
      // Orders on their way may enable more.
      if !unsent.isEmpty || !encoder.isEmpty || !failedLaunches.isEmpty {
        try endTurn()
      } else {
        try waitForTime()
      }
    } else {
      try make(choices[random.below(choices.count)])
    }
  }

  /// Nothing happens until a deadline comes.
  private mutating func waitForTime() throws(Finding) {
    var wake = scheduler.nextWake
    for worker in workers {
      guard worker.phase == .talking, let deadline = worker.deadline else { continue }
      if wake.map({ deadline < $0 }) ?? true { wake = deadline }
    }
    if let wake {
      now = max(now, wake)
    } else if witness.isSuspended {
      try tell(.proceed)
    } else {
      throw Finding("nothing can happen any more, and the drive is not over")
    }
  }

  /// Tells the scheduler a fact and takes up what it orders.
  mutating func tell(_ event: SchedulerEvent) throws(Finding) {
    guard closing == nil else { return }
    log?("\(event)")
    actions.removeAll(keepingCapacity: true)
    scheduler.handle(event, at: now, into: &actions)
    if random.below(checkInterval) == 0, let problem = scheduler.checkInvariants() {
      throw Finding("after \(event): \(problem)")
    }
    for action in actions {
      switch action {
      case .journal(let transition):
        log?("    \(transition.brief(plan))")
        try witness.take(transition, at: now)
        lines.append(DriveLine(transition: transition, at: now))
        append(.transition(transition))
      case .launch(let worker, let kind): try launch(worker, kind)
      case .order(let worker, let order):
        if let (task, attempt) = order.start { try witness.checkOrder(task, attempt) }
        unsent.append((worker, order))
      case .discard(let worker):
        if chaos.sparesWorkers { throw Finding("a worker was given up that did nothing wrong") }
        // What runs below it runs on until `loss` is told. A launch that failed is told of as that.
        if workers[worker.index].phase != .gone { workers[worker.index].die() }
      case .finish(let entry):
        closing = entry
        append(.close(entry))
      }
    }
    try witness.checkOrderOfStarts(actions, after: event, scheduler, holdsBack: holdsBack)
  }

  private var holdsBack: Bool {
    stopCause != nil || options.maxFailures > 0 && witness.failures >= options.maxFailures
  }

  private mutating func launch(_ worker: WorkerID, _ kind: WorkerKind) throws(Finding) {
    guard worker.index == workers.count else { throw Finding("a worker's number was given twice") }
    workers.append(ImaginedWorker(id: worker, kind: kind, plan: plan))
    if chaos.launchFailsOneIn > 0, random.below(chaos.launchFailsOneIn) == 0 {
      workers[worker.index].phase = .gone
      failedLaunches.append(worker)
    } else {
      append(.worker(WorkerEntry(pid: 100 + worker.rawValue, startTime: 1, bootID: "boot")))
    }
  }

  // MARK: - The turn's end

  private mutating func append(_ entry: JournalEntry) {
    guard !hasJournalFailed else { return }
    encoder.append(entry, at: wallMilliseconds, plan: plan)
    ledger.add(
      entry, sequence: encoder.nextSequence - 1, end: file.bytes.count + encoder.bytes.count)
  }

  mutating func endTurn() throws(Finding) {
    while !failedLaunches.isEmpty {
      lostWorkers += 1
      try tell(.launchFailed(failedLaunches.removeFirst(), complaint: "no room"))
    }
    try flush()
    if unsent.contains(where: { mustNotRepeat($0.order) }) || random.chance(20) {
      if !hasJournalFailed { file.sync() }
    }
    for (worker, order) in unsent where workers[worker.index].phase != .gone {
      workers[worker.index].inbox.append(order)
    }
    unsent.removeAll(keepingCapacity: true)
  }

  private func mustNotRepeat(_ order: WorkerOrder) -> Bool {
    guard let (task, _) = order.start else { return false }
    return plan.flags(task).contains(.failWhenInterrupted)
  }

  private mutating func flush() throws(Finding) {
    guard !hasJournalFailed, !encoder.isEmpty else { return }
    let room = max(0, chaos.diskRoom - file.bytes.count)
    if encoder.bytes.count <= room {
      file.append(encoder.bytes)
      encoder.removeAll()
      ledger.isWritten(upTo: file.bytes.count)
      return
    }
    file.append(encoder.bytes.prefix(room))
    ledger.isWritten(upTo: file.bytes.count)
    encoder.removeAll()
    try failJournal()
  }

  /// The disk is full: as the coordinator does, stops everything, then takes back what was not sent.
  private mutating func failJournal() throws(Finding) {
    hasJournalFailed = true
    guard hasBegun else { return try checkNothingBegins() }
    if closing == nil { stopCause = .ioError }
    try tell(.stop(.ioError))
    let withdrawn = unsent
    unsent.removeAll { $0.order.start != nil }
    // The one handed ahead goes before the one that it was to follow.
    for (worker, order) in withdrawn.reversed() {
      guard let (task, attempt) = order.start else { continue }
      try tell(.revoked(worker, task, attempt: attempt))
    }
    if unsent.contains(where: { $0.order.start != nil }) {
      throw Finding("a task was started after the journal had failed")
    }
  }

  /// The journal took not even the drive's first lines.
  private mutating func checkNothingBegins() throws(Finding) {
    actions.removeAll()
    scheduler.handle(.stop(.ioError), at: now, into: &actions)
    scheduler.handle(.begin, at: now, into: &actions)
    let isOver = actions.count == 1 && scheduler.isDone
    if !isOver { throw Finding("a drive without a journal begins: \(actions)") }
  }

  // MARK: - The crash

  /// The coordinator dies where it stands: some of what it was writing is written, some of what it
  /// was sending is sent, and the workers act on that until they see that it is gone.
  mutating func crash() throws(Finding) {
    if random.chance(50), !hasJournalFailed {
      let count = random.chance(50) ? encoder.bytes.count : random.below(encoder.bytes.count + 1)
      file.append(encoder.bytes.prefix(count))
      if count == encoder.bytes.count { try sendSome() }
    }
    ledger.isWritten(upTo: file.bytes.count)
    for _ in 0..<random.below(6) {
      let moves = enabledMoves().filter(\.isOfWorker)
      if moves.isEmpty { break }
      try make(moves[random.below(moves.count)])
    }
    if random.chance(30) {
      file.losePower(&random)
      let grows = random.chance(20)
      ledger.isWritten(upTo: file.bytes.count, isFollowed: grows)
      if grows { file.growWithoutData(&random) }
    }
  }

  private mutating func sendSome() throws(Finding) {
    if unsent.contains(where: { mustNotRepeat($0.order) }) { file.sync() }
    for (worker, order) in unsent.prefix(random.below(unsent.count + 1))
    where workers[worker.index].phase != .gone {
      workers[worker.index].inbox.append(order)
    }
  }
}
