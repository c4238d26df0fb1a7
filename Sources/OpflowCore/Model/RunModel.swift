/// What a journal says about a run: the fold of its lines, in order.
///
/// Folding the same lines twice gives the same history. A task counts as ended only when an intact
/// line says so. Where lines are missing that may have taken an end back, which are the `resume`
/// lines at the head of a drive, what ended before that drive is `unproven` and runs again.
package struct RunModel: Sendable {
  /// Nil before the first line was folded.
  package private(set) var open: OpenEntry?
  /// Of the newest drive; nil in the first.
  package private(set) var resume: ResumeEntry?
  /// What each drive was to do, as far as its first line is there.
  package private(set) var selections: [DriveSelection] = []
  /// How the newest drive ended; nil while it runs, or when it died.
  package private(set) var close: CloseEntry?
  /// Since the epoch, of the first and of the last line.
  package private(set) var openedMilliseconds: Int64 = 0
  package private(set) var lastMilliseconds: Int64 = 0
  /// Since the epoch, when the newest drive began; the last line before that, where its first one is lost.
  package private(set) var driveMilliseconds: Int64 = 0
  /// What the drives before the newest one took, each up to its last line, without the time between them.
  private var earlierMilliseconds: Int64 = 0
  /// Since the epoch, of the line before the newest one.
  private var beforeMilliseconds: Int64 = 0
  /// The task that a worker began with last of what it was handed ahead, by the line with that SEQ, which
  /// ended the one before it.
  package private(set) var begun: (task: TaskID, sequence: UInt64) = (.none, 0)
  /// How many drives the run had, those whose first line is lost included.
  package private(set) var drives = 0
  /// Those of which a line is there, in their order.
  package private(set) var driveRecords: [DriveRecord] = []
  /// The newest drive stands still, coordinator and all, until it is continued by a signal.
  package private(set) var isSuspended = false
  /// What was asked for while the run went on.
  package private(set) var orders = OrderRecords()
  private(set) var growth = GrowthRecords()
  /// Whether any task ever started.
  package private(set) var hasStarts = false
  /// What lines tell beyond a record, where that was asked for.
  package private(set) var details = TaskDetails()
  /// What tasks have had of their tries.
  package private(set) var tries = TryRecords()
  private let keepsDetails: Bool
  /// Every try of every task, where that was asked for.
  package private(set) var attempts = TaskAttempts()
  private let keepsAttempts: Bool
  private let beforeFilling: BeforeFilling?
  /// Of a plan in which values are read.
  package private(set) var values = ValueRecords()
  private var hasArguments = false
  /// The numbers of successes that hold, of a plan with tasks that declare `inputs`.
  package private(set) var origins: [TaskID: UInt64] = [:]
  /// The plan with fingerprints as an older opflow made them.
  private let absolutePlan: Plan?
  /// Lines of an older opflow hold fingerprints that could be compared to nothing, and so count as
  /// those of the plan.
  package private(set) var hasAbsoluteFingerprints = false
  /// Of all drives, in the order in which they came.
  package private(set) var workers: [WorkerEntry] = []
  /// Further machines of all drives, in the order in which they joined.
  package private(set) var sites = SiteRecords()
  private(set) var workerSites = WorkerSites()
  /// Empty until a line speaks of a task: a new run needs none, and a million take 64 MB.
  private var records: [TaskRecord] = []
  private var names = NameGuesses()
  private var handed = HandedTasks()
  private var plainKinds = PlainKinds()
  private var gone = GoneTasks()
  private var lost = LostLines()
  private var lastSequence: UInt64 = 0
  /// Lines missing right before the newest one.
  private var missingBefore: UInt64 = 0

  /// The history of a run that never began.
  package init() { self.init(keepingDetails: false, keepingAttempts: false, absolutePlan: nil) }

  /// - Parameters:
  ///   - keepingAttempts: `attempts` are wanted, and with them the details.
  ///   - beforeFilling: called with the memory of all records, which is about to be written for the first time.
  init(
    keepingDetails: Bool, keepingAttempts: Bool, absolutePlan: Plan?,
    beforeFilling: BeforeFilling? = nil
  ) {
    self.beforeFilling = beforeFilling
    keepsDetails = keepingDetails || keepingAttempts
    keepsAttempts = keepingAttempts
    self.absolutePlan = absolutePlan
  }

  @inline(__always)
  package subscript(task: TaskID) -> TaskRecord {
    if records.isEmpty { return TaskRecord() }
    let record = records[task.index]
    return isUnproven(record) ? record.unproven : record
  }

  /// The state of a task's record, without the rest of it.
  @inline(__always)
  func state(_ task: TaskID) -> TaskState {
    if records.isEmpty { return .waiting }
    let sequence = records[task.index].settleSequence
    return sequence > 0 && sequence < lost.trustedFrom ? .waiting : records[task.index].state
  }

  /// SEQ of the line with which a task began that has succeeded, where that is proven and nothing else is told of it;
  /// nil for any other.
  @inline(__always)
  func startOfPlainSuccess(_ task: TaskID) -> UInt64? {
    if records.isEmpty { return nil }
    let isProven = records[task.index].settleSequence >= lost.trustedFrom
    return isProven && records[task.index].isPlainSuccess
      ? records[task.index].startSequence : nil
  }

  /// SEQ of the line that put a task into its terminal state; 0 while it is in none, or where that is
  /// unproven.
  @inline(__always)
  func settleSequence(_ task: TaskID) -> UInt64 {
    if records.isEmpty { return 0 }
    let sequence = records[task.index].settleSequence
    return sequence < lost.trustedFrom ? 0 : sequence
  }

  /// Tasks that the journal speaks of and the plan does not have, in the order in which they came,
  /// without those that a resume has told before.
  package var removed: [String] { gone.names }
  /// By name, of tasks that the plan does not have: the number of the last try.
  package var attemptsOfRemoved: [String: Int32] { gone.attempts }

  /// Where the newest drive began: what ended on a line before it, and was not taken back, is a result of
  /// an earlier one.
  package var driveSequence: UInt64 { lost.head.sequence }
  /// The newest drive is still telling what it takes back of earlier results.
  package var isInHead: Bool { lost.head.isOpen }

  /// Whether a line speaks of the task.
  func tells(of task: TaskID) -> Bool {
    if records.isEmpty { return false }
    let record = records[task.index]
    return record.state != .waiting || record.attempts > 0 || record.timesResumed > 0
  }

  /// The further machine that a task runs on, or ran on last; nil for the coordinator's.
  package func site(of task: TaskID) -> SiteRecord? {
    if workerSites.isEmpty || records.isEmpty { return nil }
    let record = records[task.index]
    return workerSites.record(of: record.worker, at: record.startSequence).map { sites.all[$0] }
  }

  /// Where the run stands. Only its lock tells whether somebody drives it.
  package func state(isHeld: Bool) -> RunState {
    isHeld ? .running : close?.state ?? .interrupted
  }

  /// An encoder that goes on behind the last line.
  package var encoder: JournalEncoder {
    JournalEncoder(nextSequence: lastSequence + 1, drive: Swift.max(1, drives))
  }

  /// Folds the next line; one that was folded before changes nothing. All lines are folded with the
  /// same plan, which may have grown (`grow`).
  @inline(__always)
  package mutating func apply(_ line: JournalLine, plan: Plan) {
    guard line.sequence > lastSequence else { return }
    missingBefore = line.sequence - lastSequence - 1
    if missingBefore > 0 { lost.lose((lastSequence + 1)..<line.sequence) }
    lastSequence = line.sequence
    beforeMilliseconds = lastMilliseconds
    lastMilliseconds = line.milliseconds
    if line.event == .transition(.success), plainKinds.success, applyPlainSuccess(line, plan) {
      return
    }
    if line.event == .transition(.start), plainKinds.start, applyPlainStart(line, plan) { return }
    applyAny(line, plan)
  }

  @inline(never)
  private mutating func applyAny(_ line: JournalLine, _ plan: Plan) {
    switch line.event {
    case .transition(let event): apply(event, line, plan)
    case .open, .close, .worker, .stop, .site, .withdraw: applyToRun(line)
    case .resume: applyResume(line, plan: plan)
    case .extend: applyExtend(line, plan: plan)
    case .order: applyOrder(line, plan: plan)
    case .unknown: break
    }
    plainKinds = PlainKinds(
      start: hearsOnlyRecord(.start, plan), success: hearsOnlyRecord(.success, plan))
  }

  @inline(never)
  private mutating func applyExtend(_ line: JournalLine, plan: Plan) {
    applyToRun(line)
    guard let entry = line.extend(plan: plan) else { return }
    growth.note(entry, line, drive: drives)
    orders.note(entry)
  }

  @inline(never)
  private mutating func applyResume(_ line: JournalLine, plan: Plan) {
    applyToRun(line)
    records.beginAnew(line.resume.removed, of: plan)
    tries.forget(line.resume.removed.compactMap { plan.task(named: $0) })
  }

  /// The plan has tasks more, behind those that it had.
  package mutating func grow(to plan: Plan) {
    attempts.grow(to: plan)
    // What such a line is heard by may be more in this plan.
    plainKinds = PlainKinds()
    let missing = plan.taskCount - records.count
    if records.isEmpty || missing <= 0 { return }
    records.append(contentsOf: repeatElement(TaskRecord(), count: missing))
  }

  /// Whether lines that were folded may have told of tasks that only a grown plan has: the one that tells of their
  /// coming is lost.
  func mayLack(tasksOf grown: Plan) -> Bool {
    growth.isBefore(lost.last) || gone.names.contains { grown.task(named: $0) != nil }
  }

  @inline(never)
  private mutating func applyOrder(_ line: JournalLine, plan: Plan) {
    enter(drive: line.drive, at: line.sequence)
    guard let order = line.order(plan: plan) else { return }
    orders.apply(
      order, atMilliseconds: line.milliseconds, drive: drives, sequence: line.sequence)
    // Those that it names the plan may have no more.
    if order.tasks.isEmpty, order.back.isEmpty { return }
    if records.isEmpty { records.fill(of: plan, beforeFilling) }
    if order.verb == .retry { tries.forget(order.tasks) }
    for task in order.tasks { records[task.index].apply(order, line, task) }
    for task in order.back { records[task.index].waitAgain(with: .skippedBefore) }
  }

  mutating func applyToRun(_ line: JournalLine) {
    switch line.event {
    case .open:
      open = line.open
      openedMilliseconds = line.milliseconds
      driveMilliseconds = line.milliseconds
      drives = 1
      driveRecords = [DriveRecord(1, at: line.milliseconds, trace: open?.trace)]
      hasArguments = open?.arguments.isEmpty == false
      if let open { selections.append(DriveSelection(only: open.only, skip: open.skip)) }
    case .resume:
      let entry = line.resume
      lost.beginDrive(
        at: line.sequence, expected: entry.withdrawn, isNext: line.drive <= drives + 1)
      drives = Swift.max(line.drive, drives + 1)
      addDrive()
      driveMilliseconds = line.milliseconds
      gone.forget(entry.removed)
      growth.drop(entry.dropped)
      resume = entry
      driveRecords.append(
        DriveRecord(drives, at: line.milliseconds, trace: entry.trace, reused: entry.reused))
      selections.append(DriveSelection(only: entry.only, skip: entry.skip))
      close = nil
      if entry.taskCount > 0 { growth.count(entry.taskCount, line) }
      beginDrive(continues: entry.continues)
    case .extend:
      enter(drive: line.drive, at: line.sequence)
      if let tasks = line.taskCount { growth.count(tasks, line) }
    case .withdraw:
      enter(drive: line.drive, at: line.sequence)
      growth.drop(line.withdrawnOrders)
    case .close:
      enter(drive: line.drive, at: line.sequence)
      close = line.close
      if let close, !driveRecords.isEmpty {
        driveRecords[driveRecords.count - 1].close = (line.milliseconds, close)
      }
    case .worker:
      enter(drive: line.drive, at: line.sequence)
      guard let worker = line.worker else { return }
      workers.append(worker)
      let place = sites.place(of: worker.site, drive: drives)
      if let place { workerSites.note(worker.worker, place, from: line.sequence) }
      if keepsAttempts {
        let host = place.map { sites.all[$0].offer.host } ?? worker.host
        attempts.note(worker.worker, host: host, drive: drives)
      }
    case .stop:
      enter(drive: line.drive, at: line.sequence)
      if let stop = line.stop {
        orders.stop(by: stop)
        note(.stop(signal: stop.signal), line)
      }
    case .site:
      enter(drive: line.drive, at: line.sequence)
      guard let site = line.site else { return }
      sites.apply(site, drive: drives, atMilliseconds: line.milliseconds)
    case .order, .transition, .unknown: break
    }
  }

  private mutating func note(_ effect: DriveRecord.Effect, _ line: JournalLine) {
    if driveRecords.isEmpty { return }
    driveRecords[driveRecords.count - 1].note(effect, at: line.milliseconds)
  }

  /// The newest drive was over with the line before this one. A clock that was set back takes nothing away.
  private mutating func addDrive() {
    let took = Swift.max(0, beforeMilliseconds - driveMilliseconds)
    earlierMilliseconds = earlierMilliseconds.plus(took)
  }

  /// How long somebody drove the run, up to a time of the newest drive; that between two drives does not count.
  ///
  /// - Parameter now: in milliseconds since the epoch.
  func drivenMilliseconds(until now: Int64) -> Int64 {
    earlierMilliseconds.plus(Swift.max(0, now.minus(driveMilliseconds)))
  }

  /// What is of a drive alone is over, but for orders where the new one goes on with it.
  private mutating func beginDrive(continues: Bool = false) {
    isSuspended = false
    growth.beginDrive()
    if !continues { orders.beginDrive() }
    handed.removeAll()
    workerSites.beginDrive(at: lastSequence)
    tries.beginDrive(continues: continues)
    details.beginDrive()
    if keepsAttempts { attempts.beginDrive() }
  }

  /// Sees to a line of a drive whose first line is lost.
  @inline(__always)
  mutating func enter(drive: Int, at sequence: UInt64) {
    if drive > drives { enterLost(drive: drive, at: sequence) }
  }

  private mutating func enterLost(drive: Int, at sequence: UInt64) {
    lost.enterDrive(at: sequence, isAlone: drive == drives + 1 && missingBefore == 1)
    drives = drive
    addDrive()
    driveMilliseconds = lastMilliseconds
    driveRecords.append(DriveRecord(drive, at: lastMilliseconds))
    resume = nil
    close = nil
    beginDrive()
  }

  private func isUnproven(_ record: TaskRecord) -> Bool {
    record.settleSequence > 0 && record.settleSequence < lost.trustedFrom
  }

  /// Of which transitions a line that says no more than nearly all say is heard by nothing but the record of its task and
  /// the queue of its worker. Only other lines change that.
  private struct PlainKinds {
    var start = false
    var success = false
  }

  private func hearsOnlyRecord(_ event: TransitionKind, _ plan: Plan) -> Bool {
    !records.isEmpty && !plan.hasLateItems && !hasArguments
      && !tries.hears(event, isAllowed: false) && !keepsAttempts
      && !(keepsDetails && details.hears(event, plan))
  }

  /// Folds a start as nearly all are; false, with nothing folded, for any other. It comes to what `apply` does.
  @inline(never)
  private mutating func applyPlainStart(_ line: JournalLine, _ plan: Plan) -> Bool {
    guard let fields = PlainStart(line), fields.drive <= drives,
      let task = names.task(of: line, plan: plan), records[task.index].settleSequence == 0
    else { return false }
    hasStarts = true
    if fields.isAhead { handed.append(task, to: fields.worker) }
    records[task.index].apply(fields, line)
    return true
  }

  /// Folds a success as nearly all are; false, with nothing folded, for any other. It comes to what `apply` does.
  @inline(never)
  private mutating func applyPlainSuccess(_ line: JournalLine, _ plan: Plan) -> Bool {
    guard let fields = PlainSuccess(line), fields.drive <= drives,
      let task = names.task(of: line, plan: plan), records[task.index].isRunning(fields.attempt),
      fields.fingerprint.hasWhole(plan.fingerprint(task).whole)
    else { return false }
    let next = handed.isEmpty ? nil : takeNext(of: records[task.index].worker, line)
    // One look for both whether the array is shared.
    var records = records.mutableSpan
    if let next { records[next.index].begin(line) }
    records[task.index].apply(fields, line)
    return true
  }

  @inline(never)
  private mutating func apply(_ event: TransitionKind, _ line: JournalLine, _ plan: Plan) {
    let fields = TryFields(line)
    enter(drive: fields.drive, at: line.sequence)
    if line.task.isEmpty {
      if event == .pause { isSuspended = true }
      if event == .proceed { isSuspended = false }
      if event == .pause || event == .proceed { note(event == .pause ? .pause : .proceed, line) }
      return
    }
    if event == .start { hasStarts = true }
    if records.isEmpty { records.fill(of: plan, beforeFilling) }
    guard let task = names.task(of: line, plan: plan) else {
      lost.hearOfGone(event, isLate: fields.isLate)
      // What was withdrawn is nothing that a resume could miss.
      if event != .skip || TransitionFields(line).skipReason(plan) != .withdrawn {
        gone.insert(line.task)
      }
      followGone(event, line, fields)
      return
    }
    lost.hear(event, isLate: fields.isLate, settled: records[task.index].settleSequence)
    let isEnd = event == .success || event == .failure
    if isEnd, !records[task.index].isRunning(fields.attempt) {
      // What failed without a try, for want of a value that its `if` reads, has no start to be lost.
      records[task.index].startSequence =
        fields.attempt == 0 ? 0 : lost.start(after: records[task.index])
    }
    if fields.isAhead, event == .start {
      handed.append(task, to: fields.worker)
    } else if !handed.isEmpty, event != .start {
      follow(event, line, task, of: records[task.index].worker)
    }
    records[task.index].apply(event, line, fields, task, plan)
    if fields.fingerprint.isAbsolute { compareAbsolute(fields.fingerprint, task) }
    if plan.hasLateItems || hasArguments {
      values.apply(event, task, line, plan, hasArguments: hasArguments)
    }
    if let origin = fields.origin { origins[task] = origin }
    if tries.hears(event, isAllowed: fields.allowed) { tries.apply(event, task, line, plan) }
    if keepsDetails, keepsAttempts || details.hears(event, plan) {
      keepDetails(event, task, line, plan)
    }
  }

  @inline(never)
  private mutating func keepDetails(
    _ event: TransitionKind, _ task: TaskID, _ line: JournalLine, _ plan: Plan
  ) {
    details.apply(event, task, line, plan)
    guard keepsAttempts else { return }
    var next: (TaskID, Int32, WorkerID)?
    if begun.sequence == line.sequence {
      let record = records[begun.task.index]
      next = (begun.task, record.attempts, record.worker)
    }
    attempts.apply(event, task, line, plan, begun: next)
  }

  /// A worker's tasks run in their order: when one has ended with success, the next one runs.
  @inline(never)
  private mutating func follow(
    _ event: TransitionKind, _ line: JournalLine, _ task: TaskID, of worker: WorkerID
  ) {
    switch event {
    case .success: if let next = takeNext(of: worker, line) { records[next.index].begin(line) }
    case .interrupt, .failure, .cancel, .retry:
      handed.remove(task, of: worker)
    case .start, .skip, .pause, .proceed, .resume, .fresh, .ready, .stopping: break
    }
  }

  /// The task that a worker begins with by this line, of those that it was handed ahead; nil for none of the plan.
  @inline(__always)
  private mutating func takeNext(of worker: WorkerID, _ line: JournalLine) -> TaskID? {
    guard let next = handed.popFirst(of: worker), !GoneTasks.isStandIn(next) else { return nil }
    begun = (next, line.sequence)
    return next
  }

  /// What the plan has no more had its turn with its worker all the same.
  @inline(never)
  private mutating func followGone(
    _ event: TransitionKind, _ line: JournalLine, _ fields: TryFields
  ) {
    if event == .start {
      let standIn = gone.start(line.task, fields.attempt, on: fields.worker)
      if fields.isAhead, let standIn { handed.append(standIn, to: fields.worker) }
    } else if !handed.isEmpty, let (standIn, worker) = gone.holder(of: line.task) {
      follow(event, line, standIn, of: worker)
    }
  }

  @inline(never)
  private mutating func compareAbsolute(_ text: FingerprintText, _ task: TaskID) {
    if let absolutePlan {
      records[task.index].compare(text, with: task, absolutePlan)
    } else {
      hasAbsoluteFingerprints = true
    }
  }
}
