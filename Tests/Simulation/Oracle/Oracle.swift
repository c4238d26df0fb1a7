import OpflowEngine
import OpflowJournal
import OpflowPlan
import OpflowWire

/// Observes a session from outside (live processes, their resources, their ends) and checks each
/// journal line against that.
struct Oracle {
  enum Stand { case waiting, running, over }
  struct Try: Hashable {
    var task: TaskID
    var attempt: Int32
  }

  var plan: Plan
  let usesNodes: Bool
  private var urgency: Urgency
  private var priorities: [TaskID: Int16] = [:]
  /// Tasks that had ended when others were added; their dependencies inherit nothing from them.
  private(set) var passed: Set<TaskID> = []
  var stock: Stock
  var live: [TaskID: WorkerID] = [:]
  var started: Set<Try> = []
  var ended: [Try: Outcome] = [:]
  private var refused: Set<Try> = []
  var stand: [Stand]
  private var startEnds: [TaskID: Int] = [:]
  /// Tasks that are known to have begun, not just prefetched.
  private(set) var began: Set<TaskID> = []
  private(set) var lastAttempt: [Int32]
  var (retries, losses): ([Int], [Int])
  /// Losses of tasks that had begun, not just prefetched.
  var sureLosses: [TaskID: Int] = [:]
  var mayStartAt: [Instant]
  private var launches: Set<WorkerID> = []
  private(set) var isSuspended = false
  var blocks = BlockSights()
  /// The session is stopping; the line of a signal was journaled.
  var (isStopping, isStopTold) = (false, false)
  /// State that was set by requests.
  var (isPaused, onHold, cancelling) = (false, Set<TaskID>(), Set<TaskID>())
  /// Answers to approvals that have not ended since.
  var answers: [TaskID: ControlAction] = [:]
  private var asksSince: [TaskID: Instant] = [:]
  private(set) var lastMoment = Instant(nanoseconds: 0)
  /// Tasks that may keep the result of an earlier session.
  private var mayKeep: Set<TaskID> = []
  /// `finally` tasks that keep their results unless some task starts.
  private var finallyThatFollow: [TaskID] = []
  /// The line of each end in this session.
  var ends: [TaskID: Transition] = [:]
  /// Unsuccessful ends from the session that this one continues, until they are retried.
  var stillOver: [TaskID: InitialState] = [:]
  /// Failures of this session that fail the run.
  var failures = 0
  private(set) var startCount = 0
  /// Services that are ready; `gone` has those that ended without being unneeded.
  var ready: Set<TaskID> = []
  /// Attempts of services that were told to end, according to the journal.
  var stopping: [TaskID: Int32] = [:]
  /// Attempts in `stopping` that were told so because no task needed them.
  var unneeded: [TaskID: Int32] = [:]
  /// How often prefetched attempts of a task were revoked.
  private var returns: [TaskID: Int] = [:]
  /// Tasks with processes that could not be killed; they restart only when a user requests it.
  var outliving: Set<TaskID> = []
  /// Tasks in `outliving` that the engine knows of.
  var toldOutliving: Set<TaskID> = []
  /// Attempts of services that were told to end.
  var leaving: [TaskID: Int32] = [:]
  /// The ports of services when they were last ready.
  var ports: [TaskID: [UInt16]] = [:]
  /// For each task, the ports of its services at its start.
  var portsAtStart: [TaskID: [TaskID: [UInt16]]] = [:]
  var gone: Set<TaskID> = []
  /// Services that ended, or never began, in an earlier session because no task needed them.
  var overBefore: Set<TaskID> = []
  var far: FarSights
  var boundHere: Set<TaskID> = []
  /// The node of each worker.
  private var nodeOf: [WorkerID: NodeID] = [:]

  /// The number of workers that a task may lose before it fails.
  static let allowedLosses = 3

  init(plan: Plan, options: SchedulerOptions) {
    self.plan = plan
    usesNodes = options.usesNodes
    far = FarSights(plan)
    urgency = Urgency(plan: plan, [:])
    stock = Stock(plan: plan, options: options)
    stand = [Stand](repeating: .waiting, count: plan.taskCount)
    lastAttempt = [Int32](repeating: 0, count: plan.taskCount)
    retries = [Int](repeating: 0, count: plan.taskCount)
    losses = retries
    mayStartAt = [Instant](repeating: Instant(nanoseconds: 0), count: plan.taskCount)
  }

  /// Adds the new tasks of the plan.
  mutating func grow(to plan: Plan) {
    let new = plan.taskCount - self.plan.taskCount
    self.plan = plan
    stock.plan = plan
    far.know(plan)
    for task in boundHere.union(Self.boundHere(plan, held: [])) {
      boundHere.insert(task)
      boundHere.formUnion(Self.group(of: task, plan))
    }
    passed = Set(stand.indices.filter { stand[$0] == .over }.map { TaskID($0) })
    urgency = Urgency(plan: plan, priorities, without: passed)
    stand.append(contentsOf: repeatElement(.waiting, count: new))
    lastAttempt.append(contentsOf: repeatElement(0, count: new))
    retries.append(contentsOf: repeatElement(0, count: new))
    losses.append(contentsOf: repeatElement(0, count: new))
    mayStartAt.append(contentsOf: repeatElement(Instant(nanoseconds: 0), count: new))
  }

  func isLive(_ task: TaskID) -> Bool { live[task] != nil }

  var liveCount: Int { live.count }
  func attempt(_ task: TaskID) -> Int32 { lastAttempt[task.index] }

  /// Sets the state of each task at the start of the session.
  mutating func begin(_ entry: SimulatedSession.Entry, at now: Instant) throws(Finding) {
    lastAttempt = entry.attempts
    boundHere = Self.boundHere(plan, held: Set(entry.held.map(\.held.service)))
    for passed in entry.held { try take(passed) }
    for task in entry.approved { answers[task] = .approve }
    prioritise(entry.priorities.map { TaskPriority(task: $0.key, priority: $0.value) })
    for index in plan.tasks {
      let (task, initial) = (TaskID(index), entry.initial[index])
      stand[index] = initial.endsBefore ? .over : initial == .stays ? .running : .waiting
      if isService(task), initial == .succeeded || initial == .unused { overBefore.insert(task) }
      switch initial {
      case .recheck, .laterAfterNeeds: mayKeep.insert(task)
      case .stillFailed, .stillCancelled, .stillUpstream: stillOver[task] = initial
      case .later:
        mayKeep.insert(task)
        if plan.flags(task).contains(.finally) { finallyThatFollow.append(task) }
      default: break
      }
    }
    take(entry.standing)
    take(entry.triesUsed, at: now)
  }

  // MARK: - Processes

  mutating func start(
    _ task: TaskID, _ attempt: Int32, on worker: WorkerID, at node: NodeID
  ) throws(Finding) {
    guard stand[task.index] == .running, lastAttempt[task.index] == attempt else {
      throw fault(task, "its try \(attempt) has a process and no start in the journal")
    }
    guard started.insert(Try(task: task, attempt: attempt)).inserted else {
      throw fault(task, "its try \(attempt) was started twice")
    }
    if isInteractive(task), let other = live.keys.first(where: isInteractive) {
      throw fault(task, "it has the terminal beside \(plan.nameString(other))")
    }
    guard live.updateValue(worker, forKey: task) == nil else { throw fault(task, "it runs twice") }
    if usesNodes { try checkPlace(of: task, at: node) }
    try stock.take(task, at: node)
  }

  mutating func end(_ end: SimulatedTree.End, on worker: WorkerID) throws(Finding) {
    ended[Try(task: end.task, attempt: end.attempt)] = end.outcome
    if end.outlives { outliving.insert(end.task) }
    release(end.task)
  }

  mutating func refuse(_ task: TaskID, _ attempt: Int32) {
    refused.insert(Try(task: task, attempt: attempt))
  }

  mutating func endAll(on worker: WorkerID) {
    for (task, holder) in live where holder == worker { release(task) }
  }

  private mutating func release(_ task: TaskID) {
    guard live.removeValue(forKey: task) != nil else { return }
    stock.give(task)
  }

  // MARK: - The journal

  mutating func noteLaunch(of worker: WorkerID, at node: NodeID) {
    launches.insert(worker)
    nodeOf[worker] = node
  }

  func node(of worker: WorkerID) -> NodeID { nodeOf[worker] ?? .local }

  mutating func forgetLaunch(of worker: WorkerID) { launches.remove(worker) }

  mutating func prioritise(_ tasks: [TaskPriority]) {
    for entry in tasks { priorities[entry.task] = entry.priority }
    rankAll()
  }

  /// Tasks became pending again.
  mutating func rankAll() {
    passed = []
    urgency = Urgency(plan: plan, priorities)
  }

  /// Records the file offset of a start's end.
  mutating func noteLine(_ line: Transition, end: Int) {
    if line.event == .start { startEnds[line.task] = end }
  }

  func endOfStart(_ task: TaskID) -> Int { startEnds[task] ?? .max }

  /// A worker reports that it has begun a prefetched task.
  mutating func begin(_ task: TaskID, _ attempt: Int32) throws(Finding) {
    guard stand[task.index] == .running, lastAttempt[task.index] == attempt else {
      throw fault(task, "try \(attempt) is said to have begun")
    }
    began.insert(task)
    let own = Try(task: task, attempt: attempt)
    if !started.contains(own), !refused.contains(own) {
      throw fault(task, "try \(attempt) is said to have begun, and has no process")
    }
  }

  func checkStart(_ task: TaskID, _ attempt: Int32) throws(Finding) {
    guard stand[task.index] == .running, lastAttempt[task.index] == attempt else {
      throw fault(task, "a worker was told to run try \(attempt), which the journal has not begun")
    }
  }

  /// Checks that no task starts before its dependencies have ended, even if these were retried
  /// after its first start.
  private func checkNeeds(of task: TaskID) throws(Finding) {
    if plan.flags(task).contains(.finally) { return }
    for edge in plan.needs(task)
    where stand[Int(plan.needTargets[edge])] != .over
      && !isService(TaskID(plan.needTargets[edge]))
    {
      throw fault(task, "it starts before all that it needs has ended")
    }
  }

  mutating func take(_ line: Transition, at now: Instant) throws(Finding) {
    if line.task.isNone {
      isSuspended = line.event == .pause
      return
    }
    let task = line.task
    let stood = stand[task.index]
    lastMoment = now
    let key = Try(task: task, attempt: line.attempt)
    defer { if stand[task.index] == .over { ends[task] = line } }
    if line.event == .fresh {
      guard stood == .waiting else { throw fault(task, "up to date while \(stood)") }
      mayKeep.remove(task)
      stand[task.index] = .over
      return
    }
    if mayKeep.contains(task) { throw fault(task, "its earlier result was not taken back") }
    if line.event == .ready { return try takeReady(line) }
    if line.event == .stopping { return try takeStopping(line) }
    if isService(task), line.event != .start, stood == .running {
      try endOfService(line, seen: ended[key])
    }
    try checkLoss(line)
    let isCancelled = cancelling.contains(task)
    if stood == .waiting, isCancelled, line.event == .cancel { return endCancelled(task) }
    if line.event != .start { cancelling.remove(task) }
    switch line.event {
    case .start:
      if isPaused { throw fault(task, "started while the run is paused") }
      if isCancelled { throw fault(task, "started though it was cancelled in the session before") }
      // If this session dies, a resume must see that these tasks are due.
      if let owed = finallyThatFollow.first(where: mayKeep.contains) {
        throw fault(owed, "it is to run, and the journal does not say so before the first start")
      }
      if onHold.contains(task) { throw fault(task, "started while it is on hold") }
      guard stood == .waiting else { throw fault(task, "started while \(stood)") }
      if outliving.contains(task) { throw fault(task, "started beside what is left of it") }
      toldOutliving.remove(task)
      try checkNeeds(of: task)
      try checkServices(of: task)
      portsAtStart[task] = portsNow(of: task)
      guard line.attempt == lastAttempt[task.index] + 1 else {
        throw fault(task, "try \(line.attempt) follows try \(lastAttempt[task.index])")
      }
      guard now >= mayStartAt[task.index] else { throw fault(task, "retried before its delay") }
      if usesNodes {
        try checkGroup(of: task, at: node(of: line.worker))
        try far.begin(task, at: node(of: line.worker), now, plan)
      }
      if line.isPrefetched { began.remove(task) } else { began.insert(task) }
      if line.isPrefetched, returns[task, default: 0] >= Int(SchedulerOptions.mostReturns) {
        throw fault(task, "handed ahead once more, though it came back each time")
      }
      lastAttempt[task.index] = line.attempt
      startCount += 1
      stand[task.index] = .running
      if isExternal(task) { blocks.since[key] = now }
      if isApproval(task) {
        if line.worker != .none { throw fault(task, "a worker has a question") }
        asksSince[task] = now
      }
    case .success:
      try checkEnd(line, stood, key)
      guard line.outcome.isSuccess || isService(task), line.fingerprint == plan.fingerprint(task)
      else {
        throw fault(task, "a success that is none")
      }
      stand[task.index] = .over
    case .failure:
      if isCancelled, line.outcome.reason != .output { throw fault(task, "failed when cancelled") }
      try takeFailure(line, stood, key)
    case .retry:
      if isCancelled { throw fault(task, "retried when cancelled") }
      try takeRetry(line, stood, key, at: now)
    case .cancel where isCancelled:
      if line.outcome.reason == .workerLost {
        if stood != .running { throw fault(task, "lost while \(stood)") }
        _ = noteLoss(of: task)
      } else if line.outcome.reason == .stopped(.cancel), !started.contains(key) {
        // It was revoked, or no worker has it: no process may follow.
        if stood != .running { throw fault(task, "taken back while \(stood)") }
      } else {
        try checkEnd(line, stood, key)
      }
      stand[task.index] = .over
    case .cancel:
      try checkEnd(line, stood, key)
      switch line.outcome.reason {
      case .stopped: break
      case let reason: throw fault(task, "cancelled with reason '\(reason?.word ?? "")'")
      }
      stand[task.index] = .over
    case .interrupt:
      if isCancelled {
        throw fault(task, "it runs again though it was cancelled")
      }
      guard stood == .running, line.attempt == lastAttempt[task.index] else {
        throw fault(task, "interrupted while \(stood)")
      }
      if line.outcome.reason == .revoked {
        // Its attempt number is used again.
        stopping[task] = nil
        if started.contains(key) { throw fault(task, "it was given back after it had started") }
        if !began.contains(task) { returns[task, default: 0] += 1 }
        lastAttempt[task.index] -= 1
      } else if line.outcome.reason == .workerLost, !isExternal(task), noteLoss(of: task).must,
        unneeded[task] != line.attempt
      {
        throw fault(task, "it runs again after so many losses")
      }
      stand[task.index] = .waiting
    case .skip:
      guard stood == .waiting else { throw fault(task, "skipped while \(stood)") }
      // A task that becomes pending again has no delay.
      mayStartAt[task.index] = Instant(nanoseconds: 0)
      stand[task.index] = .over
    case .pause, .proceed, .resume, .fresh, .ready, .stopping:
      throw fault(task, "'\(line.event.kind.word)' in the middle of a drive")
    }
  }

  /// Revokes a result of an earlier session.
  mutating func takeBack(_ task: TaskID) throws(Finding) {
    if mayKeep.remove(task) == nil { throw fault(task, "it had no result to be taken back") }
  }

  /// Checks that an approval ends only after an answer or its timeout.
  private mutating func checkEndOfApproval(_ line: Transition) throws(Finding) {
    let task = line.task
    let answer = answers.removeValue(forKey: task)
    switch (line.event, line.outcome.reason) {
    case (.success, nil): if answer == .approve { return }
    case (.failure, .rejected): if answer == .reject { return }
    case (.failure, .timeout):
      if answer == nil, let since = asksSince[task], plan.policy(task).timeoutMilliseconds > 0,
        lastMoment >= since.advanced(byMilliseconds: Int64(plan.policy(task).timeoutMilliseconds))
      {
        return
      }
    // The caller has checked that there was a request or a stop.
    case (.cancel, .stopped): if answer == nil { return }
    default: break
    }
    throw fault(
      task, "a gate ends by '\(line.event.kind.word)', told \(answer?.rawValue ?? "nothing")")
  }

  /// Checks that the process had ended as journaled.
  mutating func checkEnd(
    _ line: Transition, _ stood: Stand, _ key: Try
  ) throws(Finding) {
    guard stood == .running, line.attempt == lastAttempt[line.task.index] else {
      throw fault(line.task, "'\(line.event.kind.word)' of try \(line.attempt) while \(stood)")
    }
    if isApproval(line.task) { return try checkEndOfApproval(line) }
    if isExternal(line.task) { return try checkEndOfBlock(line, key) }
    // `endOfService` checks these.
    if isService(line.task) { return }
    if let fetch = line.fetch, fetch.report.resumedBytes != Int64(line.attempt) {
      throw fault(line.task, "its try \(line.attempt) bears the report of another")
    }
    let isUnstarted = line.outcome.reason == .refused || line.outcome.reason == .value
    if isUnstarted, refused.contains(key) { return }
    guard var outcome = ended[key] else {
      throw fault(line.task, "'\(line.event.kind.word)' of a try that did not end")
    }
    // The signal that stops the run reached the process, too.
    if isStopping, line.event == .cancel, outcome.reason == nil, outcome.status == .signal(2) {
      outcome.reason = line.outcome.reason == .stopped(.kill) ? .stopped(.kill) : .stopped(.signal)
    }
    guard outcome == line.outcome else {
      throw fault(line.task, "'\(line.event.kind.word)' of a try that did not end so")
    }
  }

  private mutating func takeFailure(
    _ line: Transition, _ stood: Stand, _ key: Try
  ) throws(Finding) {
    let task = line.task
    stand[task.index] = .over
    if !line.allowed { failures += 1 }
    switch line.outcome.reason {
    case .interrupted:
      if stood != .waiting { throw fault(task, "failed as interrupted while \(stood)") }
    case .value where stood == .waiting:
      if plan.lateCondition(task) == nil { throw fault(task, "it had no `if` to decide") }
      if line.allowed != isAllowed(line) { throw fault(task, "allow_failure is not heeded") }
    case .workerLost:
      if stood == .over { throw fault(task, "failed after its end") }
      // Losses during its checks count as well.
      if plan.isChecked(task) {
        if stood == .running { _ = noteLoss(of: task) }
        return
      }
      if stood == .waiting, usesNodes, !isBoundHere(task) {
        throw fault(task, "failed for want of workers, though other machines may come")
      }
      if stood == .running, isExternal(task) || !noteLoss(of: task).may, !outliving.contains(task),
        !plan.flags(task).contains(.failWhenInterrupted)
      {
        throw fault(task, "failed after only \(losses[task.index]) lost workers")
      }
    case .refused where stood == .waiting:
      try far.checkBeyond(plan.gpuCount(of: task), task, plan)
    default:
      if !isStopping { try checkCost(of: line) }
      try checkEnd(line, stood, key)
      if line.outcome.isSuccess { throw fault(task, "a success counts as a failure") }
      if line.allowed != isAllowed(line) { throw fault(task, "allow_failure is not heeded") }
    }
  }

  private func isAllowed(_ line: Transition) -> Bool {
    if plan.flags(line.task).contains(.allowAnyFailure) { return true }
    guard line.outcome.reason == nil, case .exit(let code) = line.outcome.status else {
      return false
    }
    return plan.codeList(plan.record(line.task).allowedCodes).contains(code)
  }

  /// Checks that a started task was the most urgent one with the same demand. While the run holds
  /// tasks back, the most urgent one may be held.
  mutating func checkOrderOfStarts(
    _ steps: [EngineStep], after event: SchedulerEvent, _ engine: borrowing Engine,
    holdsBack: Bool
  ) throws(Finding) {
    var starts: [TaskID] = []
    var endedSince: Set<TaskID> = []
    for case .tell(.transition(let line)) in steps {
      if line.event == .start {
        starts.append(line.task)
      } else if !starts.isEmpty {
        endedSince.insert(line.task)
      }
    }
    // A starting worker already has a task that only the scheduler knows.
    if case .workerReady(let worker, _) = event { launches.remove(worker) }
    if case .workerLost(let worker, _) = event { launches.remove(worker) }
    if case .launchFailed(let worker, _, _) = event { launches.remove(worker) }
    guard starts.count == 1, launches.isEmpty, let start = starts.first, !holdsBack else {
      return
    }
    // Their start depends on their services.
    if isService(start) || !plan.services(neededBy: start).isEmpty { return }
    for index in plan.tasks where plan.demand[index] == plan.demand[start.index] {
      let other = TaskID(index)
      // It may lack an offer.
      if isExternal(other) || isService(other) || !plan.services(neededBy: other).isEmpty {
        continue
      }
      if engine.state(other) == .ready, plan.kind(other) == plan.kind(start),
        isInteractive(other) == isInteractive(start), !onHold.contains(other),
        // It may be waiting for its check.
        !plan.isChecked(other),
        // It may have become ready only later.
        !plan.needs(other).contains(where: { endedSince.contains(TaskID(plan.needTargets[$0])) }),
        !usesNodes
          || isBoundHere(other) == isBoundHere(start) && !far.mayBeKeptBack(other, plan),
        urgency.isBefore(other, start)
      {
        throw fault(start, "it started before the more urgent \(plan.nameString(other))")
      }
    }
  }
}
