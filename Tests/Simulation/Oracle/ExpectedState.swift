import OpflowJournal
import OpflowPlan

/// The entries written to the journal, recorded apart from its bytes: the truth that recovery is
/// checked against. Uses names instead of numbers, since the plan may change between sessions.
struct ExpectedState {
  struct Item {
    var entry: JournalEntry
    var name: String
    var sequence: UInt64
    var milliseconds: Int64
    /// The offset after the line's LF.
    var end: Int
    var fingerprint: UInt64
    /// For a request: its tasks, and those that become pending again with them.
    var named: [String] = []
    var back: [String] = []
    /// For an `approve`: one fingerprint per task in `named`.
    var approvals: [UInt64] = []
  }

  private(set) var items: [Item] = []
  private var pending: [Item] = []
  private var plan: Plan?

  mutating func use(_ plan: Plan) { self.plan = plan }

  mutating func add(
    _ entry: JournalEntry, sequence: UInt64, atMilliseconds milliseconds: Int64, end: Int,
    isWritten: Bool
  ) {
    guard isWritten else { return }
    var item = Item(
      entry: entry, name: "", sequence: sequence, milliseconds: milliseconds, end: end,
      fingerprint: 0)
    if case .transition(let line) = entry, let plan, !line.task.isNone {
      item.name = plan.nameString(line.task)
      item.fingerprint = line.fingerprint.whole
    }
    if case .request(let request) = entry, let plan {
      item.named = request.tasks.map { plan.nameString($0) }
      item.approvals = request.fingerprints
      item.back = request.back.map { plan.nameString($0) }
    }
    pending.append(item)
  }

  /// Drops entries beyond the length of the file. A last line counts without its LF, unless other
  /// bytes follow.
  mutating func isWritten(upTo count: Int, isFollowed: Bool = false) {
    items.append(contentsOf: pending)
    pending.removeAll(keepingCapacity: true)
    while let last = items.last, last.end > (isFollowed ? count : count + 1) { items.removeLast() }
  }

  /// The file alone decides which entries are left.
  mutating func forget() {
    items.removeAll()
    pending.removeAll()
  }

  /// The number of batches that were added to the run and not retracted.
  var extensionCount: Int {
    items.reduce(0) { count, item in
      switch item.entry {
      case .extend: count + 1
      case .retract(let entry): count - entry.requests.count
      default: count
      }
    }
  }

  /// Returns the requests that still hold for a session that continues the last one.
  func standing(_ plan: Plan, _ request: ResumeRequest) -> StandingRequests {
    if case .close = items.last?.entry { return StandingRequests() }
    if !request.keepsEnds { return StandingRequests() }
    var standing = StandingRequests()
    var (held, cancelled): (Set<String>, Set<String>) = ([], [])
    for item in items {
      switch item.entry {
      case .resume(let entry) where !entry.continues:
        (standing, held, cancelled) = (.init(), [], [])
      case .stop(let stop):
        standing.isPaused = false
        held = []
        standing.stopSignal = stop.detail.isEmpty ? stop.signal : nil
      case .request(let request):
        switch request.verb {
        case .pause: standing.isPaused = true
        case .proceed where item.named.isEmpty: standing.isPaused = false
        case .proceed: held.subtract(item.named)
        case .suspend: held.formUnion(item.named)
        case .cancel where item.named.isEmpty:
          (standing.isCancelled, standing.isPaused) = (true, false)
          held = []
        case .cancel:
          held.subtract(item.named)
          cancelled.formUnion(item.named)
        case .retry, .skip:
          held.subtract(item.named)
          cancelled.subtract(item.named)
        case .parallel:
          let resource = plan.resources.firstIndex {
            plan.string($0.name) == request.carried.resource
          }
          standing.capacities[resource ?? -1] = UInt64(request.carried.number ?? 0)
        case .priority, .approve, .reject, .close: break
        }
      default: break
      }
    }
    func tasks(_ names: Set<String>) -> [TaskID] {
      names.compactMap { plan.task(named: $0) }.sorted { $0.rawValue < $1.rawValue }
    }
    standing.onHold = tasks(held)
    let known = known()
    standing.cancelled = tasks(cancelled.filter { known[$0]?.end == nil })
      .filter { request.rerun?.contains($0) != true }
    return standing
  }

  /// The offset after the last complete line.
  var end: Int { items.last?.end ?? 0 }

  /// Returns the state of each task according to the entries.
  func known() -> [String: KnownTask] {
    var known: [String: KnownTask] = [:]
    for item in items {
      if case .request(let request) = item.entry {
        for name in item.named { known[name, default: KnownTask()].take(request, item) }
        for (name, approval) in zip(item.named, item.approvals) {
          known[name, default: KnownTask()].approval = approval
        }
        for name in item.back { known[name, default: KnownTask()].waitAgain(isAsked: false) }
      }
      guard case .transition(let line) = item.entry, !item.name.isEmpty else { continue }
      known[item.name, default: KnownTask()].take(line, item)
    }
    return known
  }
}

/// The state of a task according to the entries, as defined in the journal reference.
struct KnownTask {
  /// nil if the task has not ended, or if its end was revoked.
  var end: TransitionKind?
  var isAllowed = false
  var why: Why?
  var status = ExitStatus.unknown
  var fingerprint: UInt64 = 0
  /// The sequence numbers of its last start and its end.
  var start: UInt64 = 0
  var settle: UInt64 = 0
  /// It was started, and interrupted.
  var isCutShort = false
  /// Like `isCutShort`, but kept by resumes unless they request the task again.
  var wasCutShort = false
  var attempts: Int32 = 0
  /// An attempt has begun without a later end.
  var isRunning = false
  /// The approved fingerprint, cleared when the task asks again.
  var approval: UInt64?
  /// Its values if they were kept, and a hash of the values that it read.
  var left: [TaskValue]?
  var with: UInt64?

  mutating func take(_ line: Transition, _ item: ExpectedState.Item) {
    defer {
      wasCutShort = wasCutShort(since: line)
      switch line.event {
      case .pause, .proceed, .ready, .stopping: approval = nil
      // The session that started it again may have died first.
      case .resume(.interrupted): isRunning = false
      default:
        isRunning = line.event == .start
        approval = nil
      }
    }
    switch line.event {
    case .start:
      self = KnownTask(start: item.sequence, isCutShort: true, attempts: line.attempt)
    case .fresh where line.kept != nil && end != nil:
      if line.values != nil { (left, with) = (line.values, line.with) }
    case .success, .failure, .skip, .fresh:
      end = line.event.kind
      isAllowed = line.allowed
      why = line.why
      status = line.outcome.status
      fingerprint = item.fingerprint
      (left, with) = (line.values, line.with)
      settle = item.sequence
      // It never began.
      if line.event == .failure, line.attempt == 0 { start = item.sequence }
      isCutShort = false
    case .cancel:
      end = nil
      isCutShort = true
    case .retry:
      end = nil
      isCutShort = false
    case .interrupt:
      end = nil
      isCutShort = line.outcome.reason != .revoked && line.outcome.reason != .stopped(.unneeded)
      if line.outcome.reason == .revoked { attempts = line.attempt - 1 }
    case .resume:
      end = nil
      (left, with) = (nil, nil)
      settle = 0
      isCutShort = line.event == .resume(.interrupted)
    case .pause, .proceed, .ready, .stopping: break
    }
  }

  /// Applies the immediate effects of a request.
  mutating func take(_ request: RequestEntry, _ item: ExpectedState.Item) {
    switch request.verb {
    case .cancel where !isRunning:
      end = nil
      isCutShort = false
    case .skip:
      end = .skip
      isAllowed = false
      why = .skipped(.request)
      (left, with) = (nil, nil)
      settle = item.sequence
      isCutShort = false
    case .retry: waitAgain(isAsked: true)
    case .cancel, .pause, .proceed, .suspend, .priority, .parallel, .approve, .reject, .close: break
    }
  }

  /// Makes an ended task pending again on request.
  mutating func waitAgain(isAsked: Bool) {
    end = nil
    (left, with) = (nil, nil)
    settle = 0
    isCutShort = false
    if isAsked { wasCutShort = false }
  }

  private func wasCutShort(since line: Transition) -> Bool {
    switch line.event {
    case .start, .cancel: true
    case .success, .retry, .fresh: false
    case .failure:
      line.attempt > 0
        && (line.outcome.reason == .interrupted || line.outcome.reason == .workerLost)
    case .interrupt: line.outcome.reason != .revoked
    case .resume:
      line.event != .resume(.asked) && (wasCutShort || line.event == .resume(.interrupted))
    case .skip, .pause, .proceed, .ready, .stopping: wasCutShort
    }
  }

  /// It was skipped because of a dependency.
  var isSkippedUpstream: Bool { why?.skipReason?.isUpstream ?? false }

  /// It ended well, judged without its dependencies.
  var endedWell: Bool { end == .success || end == .fresh || end == .failure && isAllowed }
}
