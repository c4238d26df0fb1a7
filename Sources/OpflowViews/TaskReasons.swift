internal import OpflowBase
internal import OpflowEngine
package import OpflowJournal
package import OpflowPlan

struct TaskReasons {
  let status: RunStatus
  let nowMilliseconds: Int64
  private let controlCommand: RequestLineText
  private let queue: RunQueue
  private let machines: MachineReasons?
  private let openBeforeFinally: Int
  private let failures: [TaskID]

  static let maxNames = 5
  private static let maxLookedAt = 10_000

  init(
    _ status: RunStatus, durations: TaskDurations, nowMilliseconds: Int64,
    controlCommand: @escaping RequestLineText
  ) {
    self.status = status
    self.controlCommand = controlCommand
    self.nowMilliseconds = nowMilliseconds
    queue = RunQueue(status, durations: durations, nowMilliseconds: nowMilliseconds)
    machines = MachineReasons(
      status, running: queue.running, durations: durations, nowMilliseconds: nowMilliseconds)
    openBeforeFinally = status.openBeforeFinally
    failures = status.failuresOfSession
  }

  private var plan: Plan { status.plan }

  func of(_ task: TaskID) -> [TaskReason] {
    guard status.included.contains(task) else { return [outside(task)] }
    var reasons: [TaskReason]
    switch status.state(task) {
    case .waiting, .ready, .checking:
      reasons = status.state == .running ? waiting(task) : unstarted(task)
    case .prefetched: reasons = [prefetched(task)]
    case .running, .suspended: reasons = [running(task)]
    case .succeeded, .upToDate, .failedAllowed, .failed, .skipped, .cancelled:
      reasons = ended(task)
      if let machine = machine(of: task) {
        reasons.append(TaskReason(.machine, "ran on node \(machine)"))
      }
    }
    let isBefore = [.waiting, .ready, .checking].contains(status.state(task))
    if !isBefore, let detail = status.history.details.staleness[task] {
      reasons.append(TaskReason(.stale, "was not up to date", more: ": \(detail)"))
    }
    if let rerun = status.history.details.reruns[task] {
      let why = Why.rerun(rerun)
      let ran = status.state(task).isTerminal ? "re-ran it" : "scheduled it again"
      let did = status.waitsForRerun(task) ? "marked it as failed" : ran
      reasons.append(
        TaskReason(
          .rerun, "the last resume \(did) (\(ReasonText.text(why, plan: plan)))",
          tasks: why.culprit.isNone ? [] : [why.culprit]))
    }
    return reasons + placedByRequests(task)
  }

  private func placedByRequests(_ task: TaskID) -> [TaskReason] {
    if status.state(task).isTerminal { return [] }
    return status.history.requests.ofPending(task).filter { !$0.record.verb.row.holdsBack }
      .map { record, phrase in
        TaskReason(
          .priority, phrase.sentence(record.carried), more: ", set\(record.requester.by)")
      }
  }

  private func machine(of task: TaskID) -> String? {
    guard status.state(task) != .skipped, status.history[task].attempts > 0 else { return nil }
    return status.history.node(of: task).map { MachineText.name($0.host) }
  }

  // MARK: - Live runs

  private func waiting(_ task: TaskID) -> [TaskReason] {
    var reasons = heldBack(task)
    let needs = status.waitsFor(task)
    if !needs.isEmpty {
      reasons.append(openNeeds(needs))
      let blocker = blocker(needs)
      if let blocker { reasons.append(blocker) }
      reasons += questions(among: needs + (blocker?.tasks ?? []))
    }
    if plan.flags(task).contains(.finally), openBeforeFinally > 0 {
      let others =
        openBeforeFinally == 1 ? "1 task" : "\(CountText.grouped(openBeforeFinally)) tasks"
      reasons.append(
        TaskReason(.finally, "is a `finally` task; waits for \(others) to finish"))
    }
    if let retry = retry(task) { reasons.append(retry) }
    if reasons.contains(where: { $0.kind != .paused && $0.kind != .stopping }) { return reasons }
    return reasons + turn(task, isHeldBack: !reasons.isEmpty)
  }

  private func heldBack(_ task: TaskID) -> [TaskReason] {
    var reasons: [TaskReason] = status.state == .running ? heldBackByRequests(task) : []
    let limit = status.history.limits.maxFailures ?? 0
    if limit > 0, failures.count >= limit, !plan.flags(task).contains(.finally) {
      let names = NameList.text(failures, plan: plan, limit: Self.maxNames)
      let count = failures.count == 1 ? "1 task" : "\(failures.count) tasks"
      reasons.append(
        TaskReason(
          .stopping,
          "no further task starts: \(count) failed (\(names)), and --max-failures is \(limit)",
          tasks: failures))
    }
    return reasons
  }

  private func heldBackByRequests(_ task: TaskID) -> [TaskReason] {
    var reasons: [TaskReason] = []
    let requests = status.history.requests
    if status.history.isSuspended {
      reasons.append(
        TaskReason(
          .paused,
          "the run is suspended: a signal stopped opflow and its tasks; SIGCONT continues them"))
    }
    if let stop = requests.stoppedBy {
      reasons.append(TaskReason(.stopping, "the run is being cancelled\(stop.requester.by)"))
    } else if let signal = requests.stopSignal {
      let cause =
        requests.stopReason.isEmpty
        ? " by \(SignalName.spelled(signal))" : ": \(CleanText.string(requests.stopReason))"
      reasons.append(TaskReason(.stopping, "the run is being stopped\(cause)"))
    } else if let pause = requests.pausedBy {
      let command = "to continue: \(controlCommand(.proceed, []))"
      reasons.append(TaskReason(.paused, "the run is paused\(pause.requester.by); \(command)"))
    }
    for (record, phrase) in requests.ofPending(task) where record.verb.row.holdsBack {
      reasons.append(
        held(.paused, phrase.sentence(record.carried), by: record.requester, task))
    }
    return reasons
  }

  private func held(
    _ kind: TaskReason.Kind, _ sentence: String, by requester: Requester, _ task: TaskID
  ) -> TaskReason {
    let command = "to continue: \(controlCommand(.proceed, [plan.nameString(task)]))"
    return TaskReason(
      kind, "\(sentence)\(requester.by); \(command)",
      shared: "\(sentence); `opflow continue` continues it")
  }

  private func openNeeds(_ needs: [TaskID]) -> TaskReason {
    TaskReason(
      .needs, "needs \(list(needs, timed: true))", shared: "needs \(list(needs, timed: false))",
      tasks: needs)
  }

  /// `a (running for 3.0s), b (pending) and 4 more`
  private func list(_ tasks: [TaskID], timed: Bool) -> String {
    NameList.text(tasks, limit: Self.maxNames) {
      "\(plan.nameString($0)) (\(word($0, timed: timed)))"
    }
  }

  private func word(_ task: TaskID, timed: Bool) -> String {
    let state = status.state(task)
    guard state == .running else { return state.word }
    if plan.kind(task) == .approve {
      return timed ? "asked for approval \(elapsed(task)) ago" : "asks for approval"
    }
    return timed ? "\(state.word) for \(elapsed(task))" : state.word
  }

  private func questions(among tasks: [TaskID]) -> [TaskReason] {
    var seen: Set<TaskID> = []
    return tasks.filter {
      plan.kind($0) == .approve && status.state($0) == .running && seen.insert($0).inserted
    }.prefix(Self.maxNames).map { approval in
      let question = ApprovalText.wholeQuestion(approval, plan: plan)
      let answer = ApprovalText.whatAnswers(approval, plan: plan, controlCommand)
      return TaskReason(
        .gate, "\(plan.nameString(approval)) asks for approval: \(question)", more: "; \(answer)",
        tasks: [approval])
    }
  }

  private func elapsed(_ task: TaskID) -> String {
    DurationText.text(milliseconds: nowMilliseconds - status.history[task].startedMilliseconds)
  }

  /// The starts of the dependency chains; nil if `needs` already names them.
  private func blocker(_ needs: [TaskID]) -> TaskReason? {
    var open = needs
    var seen = Set(needs)
    var ends: [TaskID] = []
    var isSaid = true
    while let task = open.popLast() {
      let further = status.waitsFor(task)
      if further.isEmpty {
        ends.append(task)
        continue
      }
      isSaid = false
      for need in further where seen.insert(need).inserted { open.append(need) }
      if seen.count > Self.maxLookedAt { return nil }
    }
    if isSaid || ends.isEmpty { return nil }
    ends.sort { $0.index < $1.index }
    let begin = "blocked by "
    return TaskReason(
      .blocker, begin + list(ends, timed: true), shared: begin + list(ends, timed: false),
      tasks: ends)
  }

  private func retry(_ task: TaskID) -> TaskReason? {
    guard let next = status.nextTry(task), next > nowMilliseconds else { return nil }
    let left = DurationText.text(wholeSeconds: next.minus(nowMilliseconds).plus(999) / 1000)
    let attempt = status.history[task].attempts + 1
    return TaskReason(
      .retry, "\(status.triesFailed(task)); attempt \(attempt) in \(left)",
      shared: "an attempt failed: \(status.outcome(of: task)); the next one starts later")
  }

  private func turn(_ task: TaskID, isHeldBack: Bool) -> [TaskReason] {
    if plan.flags(task).contains(.interactive),
      let other = queue.running.first(where: { plan.flags($0).contains(.interactive) })
    {
      let name = plan.nameString(other)
      return [TaskReason(.terminal, "waits for the terminal, which \(name) uses", tasks: [other])]
    }
    var (lacks, unknown) = queue.lacks(of: task)
    if let machines, machines.apply(to: task) {
      if let reason = machines.waiting(task) { return [reason] }
      // A task on a node does not take this machine's share of these resources.
      let gpu = plan.gpuResource ?? -1
      lacks.removeAll { ResourceEntry.isOfMachine(Int($0.resource), gpu: gpu) }
      unknown.removeAll { ResourceEntry.isOfMachine(Int($0), gpu: gpu) }
    }
    if plan.kind(task) == .block, lacks.isEmpty {
      let detail = "waits for a client that offers the external task"
      return [TaskReason(.offer, "\(detail) \(plan.nameString(task))", shared: detail)]
    }
    var reasons = lacks.map(text)
    for resource in unknown {
      let name = plan.string(plan.resources[Int(resource)].name)
      reasons.append(
        TaskReason(.unknown, "the limit of \(name) is unknown: an older opflow did not record it"))
    }
    if let place = queue.ready.firstIndex(of: task) {
      reasons.append(
        lacks.isEmpty ? ready(at: place, isHeldBack: isHeldBack) : queued(task, at: place))
    }
    return reasons
  }

  /// A task that lacks nothing, by the journal.
  private func ready(at place: Int, isHeldBack: Bool) -> TaskReason {
    let state = isHeldBack ? "is ready" : "is ready and waits for a free slot"
    let (position, before) = position(place)
    return TaskReason(.queue, state, more: "; \(position)", tasks: before)
  }

  /// A task that lacks a resource.
  private func queued(_ task: TaskID, at place: Int) -> TaskReason {
    let (position, before) = position(place)
    // Services do not finish before their dependents.
    let hasFinishedNeeds = !plan.needs(task).isEmpty && plan.services(neededBy: task).isEmpty
    let shared = hasFinishedNeeds ? "all dependencies finished" : "waits in the queue"
    let text = hasFinishedNeeds ? "\(shared); \(position)" : "\(position) in the queue"
    return TaskReason(.queue, text, shared: shared, tasks: before)
  }

  /// `position 3 of 12, behind b, a`, and the tasks that it names.
  private func position(_ place: Int) -> (text: String, before: [TaskID]) {
    let before = Array(queue.ready.prefix(place).suffix(3))
    let text =
      "position \(CountText.grouped(place + 1)) of \(CountText.grouped(queue.ready.count))"
    if before.isEmpty { return (text, before) }
    return ("\(text), behind \(NameList.text(before, plan: plan, limit: 3))", before)
  }

  private func text(_ lack: RunQueue.Lack) -> TaskReason {
    let name = plan.string(plan.resources[Int(lack.resource)].name)
    func amount(_ amount: UInt64) -> String { AmountText.text(amount, of: lack.resource) }
    let free =
      lack.capacity == 0
      ? "its limit is 0" : "\(amount(lack.free)) of \(amount(lack.capacity)) is free"
    var text = "needs \(amount(lack.wanted)) of \(name); \(free)"
    if !lack.holders.isEmpty {
      let holders = NameList.text(lack.holders, limit: Self.maxNames) {
        "\(plan.nameString($0.task)) (\(amount($0.amount)))"
      }
      text += "; held by \(holders)"
    }
    return TaskReason(.resources, text, tasks: lack.holders.map(\.task))
  }

  private func prefetched(_ task: TaskID) -> TaskReason {
    let worker = status.history[task].worker
    let first = queue.running.first { status.history[$0].worker == worker }
    let behind = first.map { ", behind \(plan.nameString($0))" } ?? ""
    let machine = machine(of: task).map { " of node \($0)" } ?? ""
    return TaskReason(
      .prefetched, "is next on worker \(worker.rawValue)\(machine)\(behind)",
      shared: "is next on its worker", tasks: first.map { [$0] } ?? [])
  }

  private func running(_ task: TaskID) -> TaskReason {
    let record = status.history[task]
    if plan.kind(task) == .approve {
      let answer = ApprovalText.whatAnswers(task, plan: plan, controlCommand)
      return TaskReason(
        .gate, "asks for approval: \(ApprovalText.wholeQuestion(task, plan: plan))",
        more: "; asked \(elapsed(task)) ago; \(answer)")
    }
    let attempt = record.attempts > 1 ? ", attempt \(record.attempts)" : ""
    if status.state == .running,
      let requester = status.history.requests.of(task, .cancel)?.requester
    {
      return TaskReason(.stopping, "is being cancelled", more: requester.by)
    }
    if status.state(task) == .suspended {
      guard let requester = status.history.requests.holder(of: task) else {
        return TaskReason(.suspended, "its processes are suspended")
      }
      return held(.suspended, "was suspended", by: requester, task)
    }
    let machine = machine(of: task).map { " of node \($0)" } ?? ""
    let worker = record.worker == .none ? "" : " on worker \(record.worker.rawValue)\(machine)"
    return TaskReason(
      .running, "has been running", more: " for \(elapsed(task))\(worker)\(attempt)")
  }

  // MARK: - Runs without a session

  private func unstarted(_ task: TaskID) -> [TaskReason] {
    let record = status.history[task]
    if record.isInterrupted {
      return [TaskReason(.interrupted, "was interrupted when the run \(runEnd)")]
    }
    if status.awaitsNextTry(task) {
      let end = "the run \(runEnd) before the next attempt"
      return [
        TaskReason(
          .interrupted, "\(status.triesFailed(task)); \(end)", shared: "an attempt failed; \(end)")
      ]
    }
    var reasons = [TaskReason(.unstarted, "did not start before the run \(runEnd)")]
    let needs = status.waitsFor(task)
    if !needs.isEmpty { reasons.append(openNeeds(needs)) }
    let limit = status.history.limits.maxFailures ?? 0
    if limit > 0, failures.count >= limit { reasons += heldBack(task) }
    return reasons
  }

  private var runEnd: String {
    let reason = CleanText.string(status.history.requests.stopReason)
    return switch status.history.close?.state {
    case nil: "died"
    case .cancelled, .interrupted: "was stopped" + (reason.isEmpty ? "" : " (\(reason))")
    case .succeeded, .failed, .running: "ended"
    }
  }

  private func outside(_ task: TaskID) -> TaskReason {
    let selected = status.history.tasks
    let why =
      if plan.flags(task).contains(.manual) {
        "it is `manual`, and neither you nor another task selected it"
      } else if selected.isEmpty {
        "--only excludes it"
      } else {
        "the run was started for "
          + NameList.text(selected, limit: Self.maxNames) { CleanText.string($0) }
      }
    return TaskReason(.outside, "is not part of this run: \(why)")
  }
}

// MARK: - Ended tasks

extension TaskReasons {
  private static let longestChain = 8

  private func ended(_ task: TaskID) -> [TaskReason] {
    let record = status.history[task]
    let time = DurationText.text(microseconds: record.wallMicroseconds)
    switch status.state(task) {
    case .succeeded: return [succeeded(task, after: time)] + reused(record)
    case .upToDate: return [TaskReason(.succeeded, "is up to date")]
    case .failed, .failedAllowed: return failed(task, after: time) + reused(record)
    case .skipped: return [skipped(task)] + reused(record)
    case .cancelled: return [cancelled(task, after: time)]
    case .waiting, .ready, .checking, .prefetched, .running, .suspended: return []
    }
  }

  private func succeeded(_ task: TaskID, after time: String) -> TaskReason {
    let record = status.history[task]
    if plan.kind(task) == .approve {
      let answer = status.history.requests.answer(to: task).map { ApprovalText.answered($0) }
      return TaskReason(.succeeded, "was \(answer ?? "approved")", more: " after \(time)")
    }
    if record.isRestored { return TaskReason(.succeeded, "was restored from the cache") }
    let attempt = record.attempts > 1 ? " in attempt \(record.attempts)" : ""
    // Services do not finish before their dependents.
    let isAfterNeeds = !plan.needs(task).isEmpty && plan.services(neededBy: task).isEmpty
    let after = isAfterNeeds ? " after its dependencies finished" : ""
    return TaskReason(.succeeded, "ran", more: " for \(time)\(attempt)\(after)")
  }

  private func cancelled(_ task: TaskID, after time: String) -> TaskReason {
    let requester = status.history.requests.of(task, .cancel)?.requester.by ?? ""
    let record = status.history[task]
    if record.wasCancelledPending {
      let moment = record.attempts == 0 ? "before it started" : "before its next attempt"
      return TaskReason(
        .cancelled, "was cancelled\(requester) \(moment)", shared: "was cancelled \(moment)")
    }
    let outcome = status.outcome(of: task)
    return record.why == .ended(.workerLost)
      ? TaskReason(.cancelled, "was cancelled", more: "\(requester), and \(outcome) after \(time)")
      : TaskReason(.cancelled, "was stopped", more: " after \(time): \(outcome)\(requester)")
  }

  private func failed(_ task: TaskID, after time: String) -> [TaskReason] {
    let attempts = status.history[task].attempts
    let most = Int(plan.policy(task).retryMax) + 1
    let attempt = most > 1 ? ", attempt \(attempts) of \(most)" : ""
    let outcome = status.outcome(of: task)
    let allowed = status.state(task) == .failedAllowed ? "; `allow_failure` allows it" : ""
    let moment = "after \(time)\(attempt)"
    // A long outcome comes last: `after 5s: could not start: …`, but `exit 1 after 5s`.
    let text = outcome.contains(": ") ? "\(moment): \(outcome)" : "\(outcome) \(moment)"
    var reasons = [
      TaskReason(
        .failed, (attempts == 0 ? outcome : text) + allowed, shared: outcome + allowed)
    ]
    if status.waitsForRerun(task) {
      reasons.append(
        TaskReason(
          .failed, "`on_interrupted: fail` prevents a re-run; to re-run it: \(rerunCommand(task))",
          shared: "`on_interrupted: fail` prevents a re-run; --rerun re-runs it"))
    }
    return reasons
  }

  private func skipped(_ task: TaskID) -> TaskReason {
    if status.hasEmptyMatrix(task) {
      return TaskReason(.skipped, Plan.emptyMatrixText, shared: "its matrix is empty")
    }
    if status.history[task].why == .skipped(.request),
      let requester = status.history.requests.of(task, .skip)?.requester
    {
      return TaskReason(
        .skipped, "was skipped\(requester.by)", shared: "was skipped by opflow skip")
    }
    var parts: [String] = []
    var tasks: [TaskID] = []
    var last = task
    while case .skipped(.upstream(let need)) = status.history[last].why, !need.isNone,
      tasks.count < Self.longestChain
    {
      tasks.append(need)
      last = need
      parts.append("\(plan.nameString(need)) \(end(of: need))")
    }
    let text =
      parts.isEmpty
      ? ReasonText.text(status.history[task].why, plan: plan) : parts.joined(separator: " because ")
    return TaskReason(.skipped, text, tasks: tasks)
  }

  /// Ends with the reason, except for a skip because of another dependency.
  private func end(of need: TaskID) -> String {
    switch status.state(need) {
    case .failed: return "failed: \(status.outcome(of: need))"
    case .failedAllowed: return "failed, but `allow_failure` allows it"
    // The task depends on a failure.
    case .succeeded, .upToDate: return "did not fail"
    case .skipped:
      let why = status.history[need].why
      let isUpstream = why?.skipReason?.isUpstream ?? false
      return "was skipped" + (isUpstream ? "" : ": \(ReasonText.text(why, plan: plan))")
    case .cancelled: return "was cancelled"
    case .waiting, .ready, .checking, .prefetched, .running, .suspended:
      return "is \(status.state(need).word)"
    }
  }

  func rerunCommand(_ task: TaskID) -> String {
    "opflow resume \(status.run) --rerun \(QuotedWords.quoted(plan.nameString(task)))"
  }

  private func reused(_ record: TaskRecord) -> [TaskReason] {
    guard status.history.sessions > 1, status.history.sessionSequence > 0,
      record.settleSequence < status.history.sessionSequence
    else { return [] }
    return [
      TaskReason(
        .reused,
        "the last resume kept this result: its definition and dependencies are unchanged")
    ]
  }
}

struct TaskReason: Equatable {
  enum Kind: String {
    case paused, stopping, retry, needs, finally, terminal, offer
    case blocker = "holdup"
    case resources, machine, unknown, queue, priority
    case prefetched = "handed"
    case running, suspended, gate
    /// Also not run before the run ended.
    case succeeded, reused, failed, skipped, cancelled, unstarted, interrupted, outside
    /// Why the task ran again, and the effect of a resume.
    case rerun, stale, resume

    var word: String { rawValue }
  }

  let kind: Kind
  let text: String
  /// The text without times and places, which matrix tasks share.
  let shared: String
  let tasks: [TaskID]

  init(_ kind: Kind, _ text: String, shared: String? = nil, tasks: [TaskID] = []) {
    self.kind = kind
    self.text = text
    self.shared = shared ?? text
    self.tasks = tasks
  }

  /// `more` follows `shared` for a single task.
  init(_ kind: Kind, _ shared: String, more: String, tasks: [TaskID] = []) {
    self.init(kind, shared + more, shared: shared, tasks: tasks)
  }
}

package enum ResumeFate: Sendable, Equatable {
  /// Runs; the reason is set if the task has a result or was interrupted.
  case runs(Transition?)
  /// Runs because of its files; the text names the change, or is empty.
  case runsChanged(String)
  /// Runs, unless this dependency leaves its outputs as they are.
  case runsUnless(TaskID)
  case keeps
  /// Up to date, although this run does not have a result of it.
  case upToDate
  /// Keeps its result if its inputs and outputs are unchanged.
  case checks
  /// Keeps its result if all of its dependencies do.
  case keepsLater
  case blocked(TaskID)
  case unfit(String)
  /// Fails at once: it was interrupted and must not run twice.
  case fails
  case staysFailed
  case leaves
  case gone
  case addedAnew
  /// The manifest cannot be used; the reason is reported elsewhere.
  case unknown
}

struct MachineReasons {
  private let status: RunStatus
  private let durations: TaskDurations
  private let nowMilliseconds: Int64
  private let nodes: [NodeRecord]
  private let groups: ServiceGroups
  private let held: [NodeID: [UInt64]]
  private var plan: Plan { status.plan }

  private static let mostNames = 5

  /// nil for a run that neither has nor waits for nodes.
  init?(_ status: RunStatus, running: [TaskID], durations: TaskDurations, nowMilliseconds: Int64) {
    nodes = Array(status.history.nodes.of(session: status.history.sessions))
    if nodes.isEmpty, status.awaited == nil { return nil }
    self.status = status
    self.durations = durations
    self.nowMilliseconds = nowMilliseconds
    groups = ServiceGroups(status.plan)
    var held: [NodeID: [UInt64]] = [:]
    for task in running {
      guard let node = status.history.node(of: task)?.node else { continue }
      for item in RunQueue.demand(of: task, status) {
        let none = [UInt64](repeating: 0, count: status.plan.resources.count)
        held[node, default: none][Int(item.resource)] &+= item.amount
      }
    }
    self.held = held
  }

  func apply(to task: TaskID) -> Bool {
    guard plan.isService(task) || !plan.services(neededBy: task).isEmpty else {
      return !plan.staysOnCoordinator(task)
    }
    return groups.group(of: task) != nil && home(of: task).map { $0.node != nil } ?? true
  }

  /// A running task of the same service group, if possible a service that the task depends on, and
  /// its node (nil: the coordinator's machine).
  private func home(of task: TaskID) -> (member: TaskID, node: NodeRecord?)? {
    guard let group = groups.group(of: task) else { return nil }
    let members = plan.tasks.lazy.map { TaskID($0) }.filter {
      groups.group(of: $0) == group && status.state($0).isRunning
    }
    let own = Set(plan.services(neededBy: task))
    guard let member = members.first(where: own.contains) ?? members.first else { return nil }
    return (member, status.history.node(of: member))
  }

  /// nil if a node has room and time for it.
  func waiting(_ task: TaskID) -> TaskReason? {
    if let (member, node) = home(of: task), let node { return waiting(task, for: member, on: node) }
    let inUse = nodes.filter(\.isInUse)
    if inUse.isEmpty {
      if let awaited = status.awaited {
        return TaskReason(.machine, "waits for a node: \(CleanText.string(awaited))")
      }
      let last = nodes.last.map { ": \(StatusMachines.text($0))" } ?? ""
      return TaskReason(.machine, "waits for a node; none is available\(last)")
    }
    let wanted = wanted(by: task)
    let gpus = wanted.first { Int($0.resource) == plan.gpuResource }?.amount ?? 0
    if gpus > (inUse.map { $0.offer.gpuAmount }.max() ?? 0) {
      let amount = ResourceEntry.text(gpus, of: UInt32(clamping: plan.gpuResource ?? 0))
      return TaskReason(.machine, "needs \(amount) of gpu; no node has that many")
    }
    let lacks = inUse.compactMap { lack(of: wanted, $0) }
    if lacks.count == inUse.count {
      let needs = wanted.map {
        "\(AmountText.text($0.amount, of: $0.resource)) of \(name($0.resource))"
      }
      return TaskReason(
        .resources,
        "needs \(needs.joined(separator: ", ")); no node has room: \(list(lacks))",
        shared: "no node has room for it")
    }
    return lacksTime(task, inUse)
  }

  /// The task must start on the node of a member of its service group.
  private func waiting(_ task: TaskID, for member: TaskID, on node: NodeRecord) -> TaskReason? {
    let lack = node.isInUse ? lack(of: wanted(by: task), node) : StatusMachines.text(node)
    guard let lack else { return lacksTime(task, [node]) }
    let waits = "waits for the node of \(plan.nameString(member))"
    return TaskReason(.machine, waits, more: ": \(lack)", tasks: [member])
  }

  private func lack(of wanted: [DemandItem], _ node: NodeRecord) -> String? {
    for item in wanted {
      let whole = node.capacity(of: item.resource)
      let held = held[node.node]?[Int(item.resource)] ?? 0
      let free = whole - min(whole, held)
      // Demands that exceed every node are reduced to the largest one, except for GPUs.
      let isCut = Int(item.resource) != plan.gpuResource
      if isCut ? min(item.amount, whole) <= free : item.amount <= free { continue }
      return
        "\(MachineText.name(node.host)) has \(AmountText.text(free, of: item.resource)) of"
        + " \(AmountText.text(whole, of: item.resource)) \(name(item.resource)) free"
    }
    return nil
  }

  private func lacksTime(_ task: TaskID, _ inUse: [NodeRecord]) -> TaskReason? {
    let isKnown = durations.areKnown && !durations.isGuess(task)
    let timeout = Int64(clamping: plan.policy(task).timeoutMilliseconds)
    let needed = isKnown ? durations[task] / 1000 : timeout
    if needed == 0 { return nil }
    let lacks = inUse.compactMap { node -> String? in
      guard let left = node.offer.leftMilliseconds, isKnown || needed <= left else { return nil }
      let rest = max(0, left - max(0, nowMilliseconds.minus(node.joinedMilliseconds)))
      if needed <= rest { return nil }
      return "\(MachineText.name(node.host)) has \(DurationText.text(milliseconds: rest))"
    }
    if lacks.count < inUse.count { return nil }
    let takes = DurationText.text(milliseconds: needed)
    return TaskReason(
      .machine,
      (isKnown ? "took \(takes) in earlier runs" : "may take \(takes)")
        + "; no node has that much time left: \(list(lacks))",
      shared: "no node has enough time left for it")
  }

  // MARK: - Amounts

  private func wanted(by task: TaskID) -> [DemandItem] {
    let gpu = plan.gpuResource ?? -1
    return plan.demandList(plan.demand[task.index]).filter {
      ResourceEntry.isOfMachine(Int($0.resource), gpu: gpu)
    }
  }

  private func name(_ resource: UInt32) -> String {
    plan.string(plan.resources[Int(resource)].name)
  }

  private func list(_ parts: [String]) -> String {
    NameList.text(parts, limit: Self.mostNames) { $0 }
  }
}
