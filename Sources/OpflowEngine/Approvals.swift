internal import OpflowJournal
internal import OpflowPlan

/// Approvals use no worker, resources or queue.
struct Approvals {
  struct Open {
    let since: Instant
    var deadline: Instant?
  }

  /// Kept for requests that come too late.
  struct Answer {
    let verb: ControlAction
    let requester: Requester
  }

  private(set) var ready: [TaskID] = []
  private(set) var open: [TaskID: Open] = [:]
  /// Open approvals with a deadline: usually 0, which saves a scan.
  private var timedCount = 0
  private(set) var answers: [TaskID: Answer] = [:]
  /// See `ResumeState`.
  private var approved: Set<TaskID>
  private var suspendedAt: Instant?

  init(approved: Set<TaskID>) { self.approved = approved }

  var isEmpty: Bool { ready.isEmpty && open.isEmpty }

  mutating func enqueue(_ task: TaskID) { ready.append(task) }

  mutating func removeReady() -> [TaskID] {
    defer { ready.removeAll() }
    return ready
  }

  mutating func removeFirstReady() -> TaskID? { ready.isEmpty ? nil : ready.removeFirst() }

  mutating func removeReady(_ task: TaskID) { ready.removeAll { $0 == task } }

  /// - Returns: True if approved in an earlier session.
  mutating func ask(_ task: TaskID, timeoutMilliseconds: UInt64, at now: Instant) -> Bool {
    let deadline =
      timeoutMilliseconds > 0
      ? now.advanced(byMilliseconds: Int64(clamping: timeoutMilliseconds)) : nil
    _ = close(task)
    open[task] = Open(since: now, deadline: deadline)
    if deadline != nil { timedCount += 1 }
    return approved.remove(task) != nil
  }

  mutating func close(_ task: TaskID) -> Open? {
    let closed = open.removeValue(forKey: task)
    if closed?.deadline != nil { timedCount -= 1 }
    return closed
  }

  mutating func note(_ answer: Answer, of task: TaskID) { answers[task] = answer }

  var nextDeadline: Instant? {
    timedCount == 0 || suspendedAt != nil ? nil : open.values.lazy.compactMap(\.deadline).min()
  }

  func overdue(at now: Instant) -> [TaskID] {
    if timedCount == 0 || suspendedAt != nil { return [] }
    return open.filter { $0.value.deadline.map { $0 <= now } ?? false }.keys
      .sorted { $0.rawValue < $1.rawValue }
  }

  mutating func suspend(at now: Instant) { suspendedAt = now }

  mutating func proceed(at now: Instant) {
    guard let since = suspendedAt else { return }
    suspendedAt = nil
    for task in open.keys {
      guard let deadline = open[task]?.deadline else { continue }
      open[task]?.deadline = deadline.advanced(byNanoseconds: now.nanoseconds - since.nanoseconds)
    }
  }
}

extension Scheduler {
  @inline(__always)
  func isApproval(_ task: TaskID) -> Bool { plan.hasApprovals && plan.kind(task) == .approve }

  mutating func openApprovals() {
    // One by one: an end may hold back the next.
    while let task = approvals.removeFirstReady() {
      graph.set(task, .running)
      attempt[task.index] += 1
      noteStarting(of: task)
      noteRead(by: task)
      tell(Transition(.start, task, attempt: attempt[task.index]))
      let timeout = options.watchesWorkers ? plan.policy(task).timeoutMilliseconds : 0
      let isApproved = approvals.ask(task, timeoutMilliseconds: timeout, at: now)
      if isApproved { closeApproval(task, .approved) }
    }
  }

  enum ApprovalEnd {
    case approved
    case rejected(by: Requester)
    case timeout
    case cancelled
    case stopped(StopReason)
  }

  mutating func closeApproval(_ task: TaskID, _ end: ApprovalEnd) {
    if let open = approvals.close(task) { self.end(task, open, end) }
  }

  mutating func takeQuestions(of tasks: [TaskID]) -> [(TaskID, Approvals.Open)] {
    tasks.compactMap { task in approvals.close(task).map { (task, $0) } }
  }

  mutating func end(_ task: TaskID, _ open: Approvals.Open, _ end: ApprovalEnd) {
    graph.mark(task, .ran)
    var outcome = Outcome(status: .unknown)
    outcome.usage.wallMicroseconds = max(0, now.nanoseconds - open.since.nanoseconds) / 1000
    var transition = Transition(.failure, task)
    transition.attempt = attempt[task.index]
    transition.outcome = outcome
    let read = takeRead(by: task)
    switch end {
    case .approved:
      transition.event = .success
      transition.outcome.status = .success
      transition.fingerprint = plan.fingerprint(task)
      transition.with = read
      settle(task, as: .succeeded, transition)
    case .rejected(let requester):
      transition.outcome.reason = .rejected
      transition.detail = requester.text
      failApproval(task, transition, having: read)
    case .timeout:
      transition.outcome.reason = .timeout
      failApproval(task, transition, having: read)
    case .cancelled:
      transition.event = .cancel
      transition.outcome.reason = .stopped(.cancel)
      cancelled += 1
      settle(task, as: .cancelled, transition)
    case .stopped(let reason):
      transition.event = .cancel
      transition.outcome.reason = .stopped(reason)
      settle(task, as: .cancelled, transition)
    }
  }

  private mutating func failApproval(_ task: TaskID, _ failure: Transition, having read: UInt64?) {
    var transition = failure
    transition.allowed = plan.allowsFailure(task, .unknown, transition.outcome.reason)
    if transition.allowed {
      transition.fingerprint = plan.fingerprint(task)
      transition.with = read
    }
    settle(task, as: transition.allowed ? .failedAllowed : .failed, transition)
  }

  /// Closed approvals ask again later.
  mutating func retractApprovals() {
    for task in approvals.removeReady() { offer(task) }
    // The stop cancels the open approvals.
    if phase.stopCause != nil { return }
    for task in approvals.open.keys.sorted(by: { $0.rawValue < $1.rawValue }) where !mayStart(task)
    {
      _ = approvals.close(task)
      _ = takeRead(by: task)
      var transition = Transition(.interrupt, task, reason: .revoked)
      transition.attempt = attempt[task.index]
      attempt[task.index] -= 1
      graph.set(task, .waiting)
      tell(transition)
      becomeReadyAgain(task)
    }
  }

  mutating func stopApprovals() {
    for task in approvals.open.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
      closeApproval(task, .stopped(phase.stopReason))
    }
  }

  mutating func answerApprovals(_ tasks: [TaskID], _ verb: ControlAction, of requester: Requester) {
    // Close all before the first end affects others.
    for (task, open) in takeQuestions(of: tasks) {
      approvals.note(Approvals.Answer(verb: verb, requester: requester), of: task)
      end(task, open, verb == .approve ? .approved : .rejected(by: requester))
    }
  }
}
