internal import OpflowJournal
internal import OpflowPlan

/// Control requests in order of arrival. A request about tasks is decided when no task is
/// prefetched: until then the tasks are *fenced* (do not start), and prefetched ones are recalled.
struct RequestQueue {
  struct Entry {
    var request: ControlRequest
    var connection: ConnectionID
    /// Nil before its turn.
    var fenced: [TaskID]?
    /// Prefetched at the last check.
    var onTheirWay: [TaskID] = []
  }

  private var entries: [Entry] = []
  /// Applied requests, with their numbers of tasks.
  private var known: [RequestID: Int]
  /// A repeated request gets the same answer.
  private var refusals: [RequestID: String] = [:]
  private var refused: [RequestID] = []
  private var nextRefused = 0

  private static let mostRefusals = 1024

  init(known: [RequestID: Int]) { self.known = known }

  var isEmpty: Bool { entries.isEmpty }
  var first: Entry? { entries.first }

  mutating func append(_ request: ControlRequest, from connection: ConnectionID) {
    entries.append(Entry(request: request, connection: connection))
  }

  mutating func fence(_ tasks: [TaskID]) {
    entries[0].fenced = (entries[0].fenced ?? []) + tasks
    entries[0].onTheirWay = tasks
  }

  mutating func awaits(_ isOnItsWay: (TaskID) -> Bool) -> Bool {
    while let task = entries[0].onTheirWay.last {
      if isOnItsWay(task) { return true }
      entries[0].onTheirWay.removeLast()
    }
    return false
  }

  mutating func removeFirst() -> Entry { entries.removeFirst() }

  func count(of id: RequestID) -> Int? { known[id] }

  func refusal(of id: RequestID) -> String? { refusals.isEmpty ? nil : refusals[id] }

  mutating func note(refusal detail: String, of id: RequestID) {
    guard refusals.updateValue(detail, forKey: id) == nil else { return }
    if refused.count < Self.mostRefusals { return refused.append(id) }
    refusals[refused[nextRefused]] = nil
    refused[nextRefused] = id
    nextRefused = (nextRefused + 1) % Self.mostRefusals
  }

  mutating func note(_ id: RequestID, count: Int) { known[id] = count }
}

extension Scheduler {
  mutating func apply() {
    while let entry = requests.first {
      let request = entry.request
      if let count = requests.count(of: request.id) {
        answer(.done(count: count))
        continue
      }
      if let detail = requests.refusal(of: request.id) {
        answer(.refused(detail: detail))
        continue
      }
      if entry.fenced == nil {
        if let fault = faultOfRun(request) {
          answer(.refused(detail: fault))
          continue
        }
      } else if requests.awaits({ graph.state($0) == .prefetched }) {
        return
      }
      // A task that ran meanwhile may be ready again, for example after a lost worker.
      fence(request)
      if requests.awaits({ graph.state($0) == .prefetched }) { return }
      decide(request)
    }
  }

  private mutating func answer(_ answer: RequestAnswer) {
    let entry = requests.removeFirst()
    steps.append(.answer(entry.connection, entry.request.id, answer))
    if case .refused(let detail) = answer { requests.note(refusal: detail, of: entry.request.id) }
    for task in entry.fenced ?? [] { graph.unmark(task, .fenced) }
    for task in entry.fenced ?? [] { letGo(task) }
  }

  private mutating func decide(_ request: ControlRequest) {
    var entry = RequestEntry(id: request.id, verb: request.verb, requester: request.requester)
    entry.expects = request.expects
    // The run may have ended while the request waited.
    if let fault = faultOfRun(request) ?? fault(request, choosing: &entry.tasks) {
      return answer(.refused(detail: fault))
    }
    entry.carried = CarriedValue(request.value, of: plan)
    prepare(&entry)
    requests.note(request.id, count: entry.tasks.count)
    steps.append(.tell(.request(entry)))
    perform(request, on: entry.tasks)
    answer(.done(count: entry.tasks.count))
  }
}

extension Scheduler {
  mutating func fence(_ request: ControlRequest) {
    var tasks = (request.tasks + request.among).filter { !graph.state($0).isTerminal }
    if request.verb == .retry { tasks += thatWouldLose(request.tasks + request.among) }
    requests.fence(tasks)
    if tasks.isEmpty { return }
    for task in tasks { graph.mark(task, .fenced) }
    pull(tasks)
  }

  mutating func pull(_ tasks: [TaskID]) {
    returnSetAside()
    var ranks: Set<Int32> = []
    var demandClasses: Set<Int> = []
    var isAway: Set<TaskID> = []
    for task in tasks {
      switch graph.state(task) {
      case .ready where isApproval(task):
        if graph.has(.held, task) { break }
        approvals.removeReady(task)
        graph.mark(task, .held)
      case .ready where blocks.stopWaiting(task): graph.mark(task, .held)
      case .checking: retractCheck(of: task)
      case .ready where wantsCheck(task):
        if !graph.has(.held, task) { retractCheck(of: task) }
      case .ready where services.taken[task] != nil: retractToHold(task)
      case .ready where isService(task) && !stands(task): break
      case .ready where !graph.has(.held, task):
        ranks.insert(ranking.rank[task.index])
        demandClasses.insert(resources.demandClass(of: task))
        isAway.insert(task)
      case .prefetched: isAway.insert(task)
      default: break
      }
    }
    if isAway.isEmpty { return }
    ready.remove(ranks, of: demandClasses)
    takeBack(isAway)
    for task in isAway where graph.state(task) == .ready { graph.mark(task, .held) }
  }

  private mutating func retractToHold(_ task: TaskID) {
    let users = takenUsers(of: task)
    if let entry = services.taken.remove(task) { release(entry.share, of: task) }
    retractTaken(users)
    if !isService(task) || stands(task) { graph.mark(task, .held) }
  }

  private mutating func takeBack(_ tasks: Set<TaskID>) {
    for worker in workforce.living {
      let record = workforce.workers[worker.index]
      if record.state == .launching, tasks.contains(record.current) {
        let freed = workforce.retract(worker)
        release(freed.share, of: freed.task)
      }
      if record.isDiscarded { continue }
      for place in record.ahead.indices where tasks.contains(record.ahead[place].task) {
        revokePrefetched(place, of: worker)
      }
    }
  }
}

extension Scheduler {
  func faultOfRun(_ request: ControlRequest) -> String? {
    if phase.step == .done { return "the run has ended" }
    for task in request.tasks + request.among where !plan.tasks.contains(task.index) {
      return "the run does not have a task number \(task.rawValue)"
    }
    if let fault = faultOfVerb(request) { return fault }
    return request.isOfRun && request.verb.row.about == .tasks ? "the request names no task" : nil
  }

  /// Chooses the tasks to which the request applies, or returns why it does not.
  func fault(_ request: ControlRequest, choosing tasks: inout [TaskID]) -> String? {
    if request.isOfRun { return nil }
    let back = request.verb == .retry ? comingBack(with: request.tasks) : []
    // A retry cannot consist only of tasks that come back in any case.
    let named = Set(request.tasks).union(back)
    var chosen = Set(request.tasks).subtracting(back)
    for task in request.tasks where !back.contains(task) {
      if let fault = fault(request, task, among: named) {
        return "\(plan.nameString(task)) \(fault)"
      }
    }
    var first: String?
    for task in request.among where !chosen.contains(task) && !back.contains(task) {
      if let fault = fault(request, task, among: named) {
        if first == nil { first = "\(plan.nameString(task)) \(fault)" }
      } else {
        chosen.insert(task)
      }
    }
    if chosen.isEmpty {
      let others = request.among.count - 1
      let rest = others == 1 ? "1 other task is" : "\(others) other tasks are"
      return (first ?? "") + (others > 0 ? "; \(rest) refused as well" : "")
    }
    tasks = chosen.sorted { $0.rawValue < $1.rawValue }
    return nil
  }

  private func fault(_ request: ControlRequest, _ task: TaskID, among named: Set<TaskID>) -> String?
  {
    if graph.leftOut?.contains(task) == true { return "is not part of this session" }
    if request.expects > 0, attempt[task.index] != request.expects {
      return "is now at attempt \(attempt[task.index]), not \(request.expects)"
    }
    return fault(request.verb, of: task, among: named)
  }

  func ended(_ task: TaskID) -> String {
    let state = graph.state(task)
    let (verb, end) =
      switch state {
      case .succeeded: ("has", "succeeded")
      case .upToDate: ("was", "up to date")
      case .failedAllowed, .failed: ("has", "failed")
      case .skipped: ("was", "skipped")
      case .cancelled: ("was", "cancelled")
      case .waiting, .ready, .checking, .prefetched, .running, .suspended: ("has", "not ended")
      }
    let isOlder = graph.endedBefore?.contains(task) == true
    let note = state == .failedAllowed ? " (allowed)" : ""
    return isOlder
      ? "\(verb) \(end) in an earlier session\(note)" : "\(verb) already \(end)\(note)"
  }

  func isStopping(_ task: TaskID) -> Bool {
    phase.stopCause != nil && graph.state(task).isRunning
  }
}
