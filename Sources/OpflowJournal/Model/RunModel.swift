internal import OpflowBase
package import OpflowPlan
package import OpflowWire

/// The state of a run: the replay of its journal.
///
/// Replaying a line twice changes nothing. A task has ended only if an intact line says so. If
/// `resume` lines at the start of a session are missing, any of them may have discarded a result:
/// earlier results are then `unproven`, and the tasks run again.
package struct RunModel: Sendable {
  package private(set) var open: OpenEntry?
  /// nil in the first session.
  package private(set) var resume: ResumeEntry?
  /// One per session whose first line exists.
  package private(set) var selections: [SessionSelection] = []
  /// nil while the newest session runs or if it crashed.
  package private(set) var close: CloseEntry?
  /// Since the epoch.
  package private(set) var openedMilliseconds: Int64 = 0
  package private(set) var lastMilliseconds: Int64 = 0
  /// The start of the newest session, or the line before if its first line is lost.
  package private(set) var sessionMilliseconds: Int64 = 0
  private var earlierMilliseconds: Int64 = 0
  private var beforeMilliseconds: Int64 = 0
  /// The prefetched task started last, and SEQ of the line that ended the task before it.
  package private(set) var begun: (task: TaskID, sequence: UInt64) = (.none, 0)
  /// Includes sessions whose first line is lost.
  package private(set) var sessions = 0
  package private(set) var sessionRecords: [SessionRecord] = []
  /// A signal has stopped the newest session's coordinator.
  package private(set) var isSuspended = false
  package private(set) var requests = RequestRecords()
  private(set) var growth = GrowthRecords()
  package private(set) var hasStarts = false
  /// Filled only if requested.
  package private(set) var details = TaskDetails()
  package private(set) var tries = TryRecords()
  private let keepsDetails: Bool
  /// Filled only if requested.
  package private(set) var attempts = TaskAttempts()
  private let keepsAttempts: Bool
  private let beforeFilling: BeforeFilling?
  package private(set) var values = ValueRecords()
  private var hasArguments = false
  /// The origins of kept results, in a plan with `inputs`.
  package private(set) var origins: [TaskID: UInt64] = [:]
  private let absolutePlan: Plan?
  /// Fingerprints of an older version could not be compared, and are treated as equal.
  package private(set) var hasAbsoluteFingerprints = false
  package private(set) var workers: [WorkerEntry] = []
  /// By escaped task ID: processes of the task's newest attempt that may still run.
  package internal(set) var leftAlive: [[UInt8]: [WorkerEntry]] = [:]
  package private(set) var nodes = NodeRecords()
  private(set) var workerSites = WorkerNodes()
  /// Empty until a line is about a task: a million records take 64 MB.
  private var records: [TaskRecord] = []
  private var names = NameGuesses()
  private var prefetched = PrefetchedTasks()
  private var plainKinds = PlainKinds()
  private var gone = GoneTasks()
  private var lost = LostLines()
  private var lastSequence: UInt64 = 0
  private var missingBefore: UInt64 = 0

  package init() { self.init(keepingDetails: false, keepingAttempts: false, absolutePlan: nil) }

  /// `beforeFilling` is called with the memory of all records before the first write.
  init(
    keepingDetails: Bool, keepingAttempts: Bool, absolutePlan: Plan?,
    beforeFilling: BeforeFilling? = nil
  ) {
    self.beforeFilling = beforeFilling
    keepsDetails = keepingDetails || keepingAttempts
    keepsAttempts = keepingAttempts
    self.absolutePlan = absolutePlan
  }

  @inline(__always) package subscript(task: TaskID) -> TaskRecord {
    if records.isEmpty { return TaskRecord() }
    let record = records[task.index]
    return isUnproven(record) ? record.unproven : record
  }

  @inline(__always)
  package func state(_ task: TaskID) -> TaskState {
    if records.isEmpty { return .waiting }
    let sequence = records[task.index].settleSequence
    return sequence > 0 && sequence < lost.trustedFrom ? .waiting : records[task.index].state
  }

  /// SEQ of the start, if the success is proven and does not need a check.
  @inline(__always)
  func startOfPlainSuccess(_ task: TaskID) -> UInt64? {
    if records.isEmpty { return nil }
    let isProven = records[task.index].settleSequence >= lost.trustedFrom
    return isProven && records[task.index].isPlainSuccess
      ? records[task.index].startSequence : nil
  }

  /// 0 if the task has not ended, or its end is unproven.
  @inline(__always)
  package func settleSequence(_ task: TaskID) -> UInt64 {
    if records.isEmpty { return 0 }
    let sequence = records[task.index].settleSequence
    return sequence < lost.trustedFrom ? 0 : sequence
  }

  /// In order of appearance, without tasks that a resume reported.
  package var removed: [String] { gone.names }
  package var attemptsOfRemoved: [String: Int32] { gone.attempts }

  package var sessionSequence: UInt64 { lost.head.sequence }
  package var isInHead: Bool { lost.head.isOpen }

  func tells(of task: TaskID) -> Bool {
    if records.isEmpty { return false }
    let record = records[task.index]
    return record.state != .waiting || record.attempts > 0 || record.timesResumed > 0
  }

  /// nil for the coordinator's host.
  package func node(of task: TaskID) -> NodeRecord? {
    if workerSites.isEmpty || records.isEmpty { return nil }
    let record = records[task.index]
    return workerSites.record(of: record.worker, at: record.startSequence).map { nodes.all[$0] }
  }

  /// Only the run's lock shows whether the run is live.
  package func state(isHeld: Bool) -> RunState {
    isHeld ? .running : close?.state ?? .interrupted
  }

  package var encoder: JournalEncoder {
    JournalEncoder(nextSequence: lastSequence + 1, session: Swift.max(1, sessions))
  }

  /// Ignores an old line. The plan may change only by `grow`.
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
    case .open, .close, .worker, .stop, .node, .retract: applyToRun(line)
    case .resume: applyResume(line, plan: plan)
    case .extend: applyExtend(line, plan: plan)
    case .request: applyRequest(line, plan: plan)
    case .unknown: break
    }
    plainKinds = PlainKinds(
      start: hearsOnlyRecord(.start, plan), success: hearsOnlyRecord(.success, plan))
  }

  @inline(never)
  private mutating func applyExtend(_ line: JournalLine, plan: Plan) {
    applyToRun(line)
    guard let entry = line.extend(plan: plan) else { return }
    growth.note(entry, line, session: sessions)
    requests.note(entry)
  }

  @inline(never)
  private mutating func applyResume(_ line: JournalLine, plan: Plan) {
    applyToRun(line)
    records.beginAnew(line.resume.removed, of: plan)
    tries.forget(line.resume.removed.compactMap { plan.task(named: $0) })
  }

  package mutating func grow(to plan: Plan) {
    attempts.grow(to: plan)
    // The new plan may need the slow path.
    plainKinds = PlainKinds()
    let missing = plan.taskCount - records.count
    if records.isEmpty || missing <= 0 { return }
    records.append(contentsOf: repeatElement(TaskRecord(), count: missing))
  }

  /// Replayed lines may be about tasks that only the grown plan has.
  func mayLack(tasksOf grown: Plan) -> Bool {
    growth.isBefore(lost.last) || gone.names.contains { grown.task(named: $0) != nil }
  }

  @inline(never)
  private mutating func applyRequest(_ line: JournalLine, plan: Plan) {
    enter(session: line.session, at: line.sequence)
    guard let request = line.request(plan: plan) else { return }
    requests.apply(
      request, atMilliseconds: line.milliseconds, session: sessions, sequence: line.sequence)
    if request.tasks.isEmpty, request.back.isEmpty { return }
    if records.isEmpty { records.fill(of: plan, beforeFilling) }
    if request.verb == .retry { tries.forget(request.tasks) }
    for task in request.tasks { records[task.index].apply(request, line, task) }
    for task in request.back { records[task.index].waitAgain(with: .skippedBefore) }
  }

  mutating func applyToRun(_ line: JournalLine) {
    if line.event != .open, line.event != .resume {
      enter(session: line.session, at: line.sequence)
    }
    switch line.event {
    case .open:
      open = line.open
      openedMilliseconds = line.milliseconds
      sessionMilliseconds = line.milliseconds
      sessions = 1
      sessionRecords = [SessionRecord(1, at: line.milliseconds, trace: open?.trace)]
      hasArguments = open?.arguments.isEmpty == false
      if let open { selections.append(SessionSelection(only: open.only, skip: open.skip)) }
    case .resume:
      let entry = line.resume
      lost.beginSession(
        at: line.sequence, expected: entry.retracted, isNext: line.session <= sessions + 1)
      sessions = Swift.max(line.session, sessions + 1)
      addSession()
      sessionMilliseconds = line.milliseconds
      gone.forget(entry.removed)
      growth.drop(entry.dropped)
      resume = entry
      sessionRecords.append(
        SessionRecord(sessions, at: line.milliseconds, trace: entry.trace, reused: entry.reused))
      selections.append(SessionSelection(only: entry.only, skip: entry.skip))
      close = nil
      if entry.taskCount > 0 { growth.count(entry.taskCount, line) }
      beginSession(continues: entry.continues)
    case .extend: if let tasks = line.taskCount { growth.count(tasks, line) }
    case .retract: growth.drop(line.retractedRequests)
    case .close:
      close = line.close
      if let close, !sessionRecords.isEmpty {
        sessionRecords[sessionRecords.count - 1].close = (line.milliseconds, close)
      }
    case .worker:
      guard let worker = line.worker else { return }
      workers.append(worker)
      let place = nodes.place(of: worker.node, session: sessions)
      if let place { workerSites.note(worker.worker, place, from: line.sequence) }
      if keepsAttempts {
        let host = place.map { nodes.all[$0].host } ?? worker.hostOfOthers
        attempts.note(worker.worker, host: host, session: sessions)
      }
    case .stop:
      if let stop = line.stop {
        requests.stop(by: stop)
        note(.stop(signal: stop.signal), line)
      }
    case .node:
      guard let node = line.node else { return }
      nodes.apply(node, session: sessions, atMilliseconds: line.milliseconds)
    case .request, .transition, .unknown: break
    }
  }

  private mutating func note(_ effect: SessionRecord.Effect, _ line: JournalLine) {
    if sessionRecords.isEmpty { return }
    sessionRecords[sessionRecords.count - 1].note(effect, at: line.milliseconds)
  }

  /// Ignores a clock that was set back.
  private mutating func addSession() {
    let took = Swift.max(0, beforeMilliseconds - sessionMilliseconds)
    earlierMilliseconds = earlierMilliseconds.plus(took)
  }

  func sessionsMilliseconds(until now: Int64) -> Int64 {
    earlierMilliseconds.plus(Swift.max(0, now.minus(sessionMilliseconds)))
  }

  private mutating func beginSession(continues: Bool = false) {
    isSuspended = false
    growth.beginSession()
    if !continues { requests.beginSession() }
    prefetched.removeAll()
    workerSites.beginSession(at: lastSequence)
    tries.beginSession(continues: continues)
    details.beginSession()
    if keepsAttempts { attempts.beginSession() }
  }

  /// Also starts a session whose first line is lost.
  @inline(__always)
  mutating func enter(session: Int, at sequence: UInt64) {
    if session > sessions { enterLost(session: session, at: sequence) }
  }

  private mutating func enterLost(session: Int, at sequence: UInt64) {
    lost.enterSession(at: sequence, isAlone: session == sessions + 1 && missingBefore == 1)
    sessions = session
    addSession()
    sessionMilliseconds = lastMilliseconds
    sessionRecords.append(SessionRecord(session, at: lastMilliseconds))
    resume = nil
    close = nil
    beginSession()
  }

  private func isUnproven(_ record: TaskRecord) -> Bool {
    record.settleSequence > 0 && record.settleSequence < lost.trustedFrom
  }

  /// Transitions whose usual line affects only the task's record and the worker's queue. Only other
  /// lines change these flags.
  private struct PlainKinds {
    var start = false
    var success = false
  }

  private func hearsOnlyRecord(_ event: TransitionKind, _ plan: Plan) -> Bool {
    !records.isEmpty && leftAlive.isEmpty && !plan.hasLateItems && !hasArguments
      && !tries.hears(event, isAllowed: false) && !keepsAttempts
      && !(keepsDetails && details.hears(event, plan))
  }

  /// False, without effect, for an unusual line.
  @inline(never)
  private mutating func applyPlainStart(_ line: JournalLine, _ plan: Plan) -> Bool {
    guard let fields = PlainStart(line), fields.session <= sessions,
      let task = names.task(of: line, plan: plan), records[task.index].settleSequence == 0
    else { return false }
    hasStarts = true
    if fields.isPrefetched { prefetched.append(task, to: fields.worker) }
    records[task.index].apply(fields, line)
    return true
  }

  @inline(never)
  private mutating func applyPlainSuccess(_ line: JournalLine, _ plan: Plan) -> Bool {
    guard let fields = PlainSuccess(line), fields.session <= sessions,
      let task = names.task(of: line, plan: plan), records[task.index].isRunning(fields.attempt),
      fields.fingerprint.hasWhole(plan.fingerprint(task).whole)
    else { return false }
    let next = prefetched.isEmpty ? nil : takeNext(of: records[task.index].worker, line)
    // One uniqueness check of the array for both records.
    var records = records.mutableSpan
    if let next { records[next.index].begin(line) }
    records[task.index].apply(fields, line)
    return true
  }

  @inline(never)
  private mutating func apply(_ event: TransitionKind, _ line: JournalLine, _ plan: Plan) {
    let fields = TransitionFields(line)
    enter(session: fields.session, at: line.sequence)
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
      // A resume cannot take back a discarded task.
      if event != .skip || fields.skipReason(plan) != .retracted {
        gone.insert(line.task)
      }
      followGone(event, line, fields)
      noteLeft(event, line, fields, by: .none)
      return
    }
    lost.hear(event, isLate: fields.isLate, settled: records[task.index].settleSequence)
    let isEnd = event == .success || event == .failure
    if isEnd, !records[task.index].isRunning(fields.attempt) {
      // A failure without an attempt, e.g. for a missing value in `if`, has no start.
      records[task.index].startSequence =
        fields.attempt == 0 ? 0 : lost.start(after: records[task.index])
    }
    if fields.isPrefetched, event == .start {
      prefetched.append(task, to: fields.worker)
    } else if !prefetched.isEmpty, event != .start {
      follow(event, line, task, of: records[task.index].worker)
    }
    noteLeft(event, line, fields, by: records[task.index].worker)
    records[task.index].apply(event, line, fields, task, plan)
    if fields.fingerprint.isAbsolute { compareAbsolute(fields.fingerprint, task) }
    if plan.hasLateItems || hasArguments {
      values.apply(event, task, fields, plan, hasArguments: hasArguments)
    }
    if let origin = fields.origin { origins[task] = origin }
    if tries.hears(event, isAllowed: fields.allowed) {
      tries.apply(event, task, line, fields, plan)
    }
    if keepsDetails, keepsAttempts || details.hears(event, plan) {
      keepDetails(event, task, line, fields, plan)
    }
  }

  @inline(never)
  private mutating func keepDetails(
    _ event: TransitionKind, _ task: TaskID, _ line: JournalLine, _ fields: TransitionFields,
    _ plan: Plan
  ) {
    details.apply(event, task, line, fields, plan)
    guard keepsAttempts else { return }
    var next: (TaskID, Int32, WorkerID)?
    if begun.sequence == line.sequence {
      let record = records[begun.task.index]
      next = (begun.task, record.attempts, record.worker)
    }
    attempts.apply(event, task, line, fields, plan, begun: next)
  }

  /// A worker runs its tasks in order: a success starts the next one.
  @inline(never)
  private mutating func follow(
    _ event: TransitionKind, _ line: JournalLine, _ task: TaskID, of worker: WorkerID
  ) {
    switch event {
    case .success: if let next = takeNext(of: worker, line) { records[next.index].begin(line) }
    case .interrupt, .failure, .cancel, .retry: prefetched.remove(task, of: worker)
    case .start, .skip, .pause, .proceed, .resume, .fresh, .ready, .stopping: break
    }
  }

  @inline(__always)
  private mutating func takeNext(of worker: WorkerID, _ line: JournalLine) -> TaskID? {
    guard let next = prefetched.popFirst(of: worker), !GoneTasks.isStandIn(next) else { return nil }
    begun = (next, line.sequence)
    return next
  }

  /// Tasks that the plan lacks still had their turn on the worker.
  @inline(never)
  private mutating func followGone(
    _ event: TransitionKind, _ line: JournalLine, _ fields: TransitionFields
  ) {
    if event == .start {
      let standIn = gone.start(line.task, fields.attempt, on: fields.worker)
      if fields.isPrefetched, let standIn { prefetched.append(standIn, to: fields.worker) }
    } else if !prefetched.isEmpty, let (standIn, worker) = gone.holder(of: line.task) {
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

extension RunModel {
  package var openness: RunOpenness {
    guard open?.serves == true else { return .ordinary }
    return requests.closedBy == nil ? .open : .closed
  }

  /// A resume's own selection holds for its session only.
  package var only: [String] { open?.only ?? [] }
  package var skip: [String] { open?.skip ?? [] }

  package var set: [String] { resume?.set ?? open?.set ?? [] }
  package var tasks: [String] { open?.tasks ?? [] }
  package var environment: [String] { resume?.environment ?? open?.environment ?? [] }
  package var limits: SessionLimits { resume?.limits ?? open?.limits ?? SessionLimits() }
  /// The value at the start of the newest session.
  package func maxParallel(_ plan: Plan) -> UInt32? {
    limits.capacity(of: Int(ResourceEntry.cpu), plan).flatMap { UInt32(exactly: $0) }
  }
  package var on: [String] { resume.map(\.on) ?? open?.on ?? [] }
  /// nil if opflow chose the capacity and did not record it.
  package func capacity(of resource: Int, _ plan: Plan) -> UInt64? {
    let requested = requests.capacity(plan.string(plan.resources[resource].name))
    return requested?.carried.number.map { UInt64(clamping: $0) }
      ?? limits.capacity(of: resource, plan)
  }
  package var files: [String] { resume?.files ?? open?.files ?? [] }
}

package struct SessionRecord: Sendable {
  package let number: Int
  /// The time of the session's first known line.
  package let begunMilliseconds: Int64
  package let trace: TraceParent?
  package let reused: Int
  /// nil while the session runs or if it crashed.
  package internal(set) var close: (milliseconds: Int64, entry: CloseEntry)?
  package internal(set) var signals: [Signal] = []

  package struct Signal: Sendable {
    package let milliseconds: Int64
    package let effect: Effect
  }

  package enum Effect: Sendable, Equatable {
    case stop(signal: Int32)
    case pause, proceed
  }

  package init(_ number: Int, at milliseconds: Int64, trace: TraceParent? = nil, reused: Int = 0) {
    self.number = number
    begunMilliseconds = milliseconds
    self.trace = trace
    self.reused = reused
  }

  /// Bounds the memory for a forged journal.
  private static let mostSignals = 1000

  mutating func note(_ effect: Effect, at milliseconds: Int64) {
    if signals.count >= Self.mostSignals { return }
    signals.append(Signal(milliseconds: milliseconds, effect: effect))
  }
}

package struct SessionSelection: Equatable, Sendable {
  package var only: [String]
  package var skip: [String]

  package init(only: [String], skip: [String]) {
    self.only = only
    self.skip = skip
  }
}
