import OpflowBase
import OpflowEngine
import OpflowJournal
import OpflowPlan

/// Requests from users at any moment, and their answers.
struct Control {
  /// Unanswered requests of this session.
  private(set) var open: [ConnectionID: RequestID] = [:]
  /// Requests that may be repeated.
  private var asked: [ControlRequest] = []
  /// Executed requests of this session, with the file offsets after their lines.
  private(set) var obeyed: [RequestID: Int] = [:]
  private var connections: Int32 = 0
  /// The session's prefix, so that IDs differ between sessions.
  private let prefix: String

  /// Requests of earlier sessions.
  private let known: [RequestID: Int]

  init(known: [RequestID: Int], session: Int) {
    self.known = known
    prefix = "drive-\(session)"
  }

  mutating func ask(_ request: ControlRequest) -> ConnectionID {
    asked.append(request)
    return ask(request.id)
  }

  mutating func ask(_ id: RequestID) -> ConnectionID {
    connections += 1
    open[ConnectionID(connections)] = id
    return ConnectionID(connections)
  }

  /// Sometimes returns an earlier request to repeat, else nil.
  func earlier(_ random: inout SplitMix64) -> ControlRequest? {
    if asked.isEmpty || !random.chance(10) { return nil }
    return asked[random.below(asked.count)]
  }

  func freshID() -> RequestID? { RequestID("\(prefix).\(connections)") }

  mutating func note(_ id: RequestID, end: Int) throws(Finding) {
    if known[id] != nil || obeyed.updateValue(end, forKey: id) != nil {
      throw Finding("request \(id.text) is obeyed twice")
    }
  }

  mutating func take(
    _ connection: ConnectionID, _ id: RequestID, _ answer: RequestAnswer, file: SimulatedFile,
    mustLast: Bool, hasJournalFailed: Bool
  ) throws(Finding) {
    guard open.removeValue(forKey: connection) == id else {
      throw Finding("an answer that nobody waits for")
    }
    switch answer {
    case .refused:
      if obeyed[id] != nil, !hasJournalFailed {
        throw Finding("request \(id.text) is refused and was obeyed")
      }
    case .done:
      if known[id] != nil { return }
      guard let end = obeyed[id] else {
        throw Finding("request \(id.text) is said to be done and was not")
      }
      if file.bytes.count < end { throw Finding("a request is answered before it is written") }
      if mustLast, file.syncedCount < end {
        throw Finding("a request is answered before it is synced")
      }
    }
  }
}

extension SimulatedSession {
  /// Sends a new request, or repeats one.
  mutating func request() throws(Finding) {
    let request = control.earlier(&random) ?? randomRequest()
    guard let request else { return }
    try ask(request)
  }

  mutating func ask(_ request: ControlRequest) throws(Finding) {
    let connection = control.ask(request)
    try tell(.request(request, from: connection))
  }

  private mutating func randomRequest() -> ControlRequest? {
    guard plan.taskCount > 0, let id = control.freshID() else { return nil }
    let (verb, value) = randomVerb()
    var request = ControlRequest(
      id: id, requester: Requester(pid: 4711, user: 0, name: "opflow"), verb: verb, value: value)
    switch verb {
    case .pause, .parallel, .close: return request
    case .cancel, .proceed:
      if random.chance(5) || random.chance(30) && verb == .proceed { return request }
    case .approve, .reject:
      // Users mostly answer open approvals.
      if random.chance(80), let approval = oracle.openApprovals.first {
        request.tasks = [approval]
        return request
      }
    case .suspend, .priority, .retry, .skip: break
    }
    for _ in 0...random.below(3) {
      let task = TaskID(random.below(plan.taskCount))
      if random.chance(50) { request.tasks.append(task) } else { request.among.append(task) }
    }
    if random.chance(10) { request.expects = Int32(1 + random.below(2)) }
    return request
  }

  private mutating func randomVerb() -> (ControlAction, RequestValue) {
    switch random.below(14) {
    case 12: (.approve, .nothing)
    case 13: (.reject, .nothing)
    case 0, 1: (.cancel, .nothing)
    case 2: (.pause, .nothing)
    case 3, 4: (.proceed, .nothing)
    case 5: (.suspend, .nothing)
    case 6: (.priority, .number(Int64(random.below(5)) - 2))
    case 7: (.parallel, randomCapacity())
    case 8, 9, 10: (.retry, .nothing)
    default: (.skip, .nothing)
    }
  }

  private mutating func randomCapacity() -> RequestValue {
    let resource = random.below(plan.resources.count - 1)
    let amount: UInt64 =
      resource == 1 ? 1 << UInt64(27 + random.below(5)) : UInt64(random.below(5))
    return .capacity(resource: resource, amount)
  }

  /// Applies the requests of the last session that still hold.
  mutating func noteRequests(_ standing: StandingRequests) {
    if standing.isCancelled {
      stopCause = .request
    } else if let signal = standing.stopSignal {
      stopCause = .signal(signal)
    }
    for (resource, amount) in standing.capacities {
      oracle.stock.set(resource, to: amount)
      isLowered = isLowered || resource > 2
    }
  }

  /// Applies a request's line and its immediate effects.
  mutating func take(_ entry: RequestEntry, end: Int) throws(Finding) {
    log?("    request \(entry.id.text) \(entry.verb) \(entry.tasks.map(plan.nameString))")
    try control.note(entry.id, end: end)
    if entry.verb == .cancel, entry.tasks.isEmpty, stopCause == nil { stopCause = .request }
    if entry.verb == .close { growth?.openness = .closed }
    if entry.verb == .parallel,
      let resource = plan.resources.firstIndex(where: {
        plan.string($0.name) == entry.carried.resource
      })
    {
      oracle.stock.set(resource, to: UInt64(entry.carried.number ?? 0))
      isLowered = isLowered || resource > 2
    }
    for effect in try oracle.take(entry) {
      note(effect, isRequested: true)
    }
  }

  /// Answers the first open approval; in an undisturbed session as the manifest says. Returns
  /// whether there was one.
  mutating func answerSomeApproval() throws(Finding) -> Bool {
    if engine.isClosing || oracle.isSuspended { return false }
    let approval = oracle.openApprovals.first { approval in
      if case .hangs = tasks[approval.index].behaviour { return false }
      return true
    }
    guard let approval, let id = control.freshID() else { return false }
    var isApproved = true
    if case .fails = tasks[approval.index].behaviour { isApproved = false }
    if !injector.isNone, random.chance(30) { isApproved.toggle() }
    var request = ControlRequest(
      id: id, requester: Requester(pid: 2, user: 0, name: "a person"),
      verb: isApproved ? .approve : .reject)
    request.tasks = [approval]
    try ask(request)
    return true
  }

  /// Ends a pause or hold, or restores capacities. Returns whether there was one.
  mutating func letGoOfSomething() throws(Finding) -> Bool {
    if engine.isClosing { return false }
    if isLowered {
      try restoreCapacities()
      return true
    }
    return try continueWhatIsHeld()
  }

  private mutating func continueWhatIsHeld() throws(Finding) -> Bool {
    guard oracle.isPaused || !oracle.onHold.isEmpty, let id = control.freshID() else {
      return false
    }
    let requester = Requester(pid: 1, user: 0, name: "opflow continue")
    var request = ControlRequest(id: id, requester: requester, verb: .proceed)
    if !oracle.isPaused {
      request.among = oracle.onHold.sorted { $0.rawValue < $1.rawValue }
    }
    let (wasPaused, held) = (oracle.isPaused, oracle.onHold.count)
    try ask(request)
    return wasPaused && !oracle.isPaused || oracle.onHold.count < held
  }
}
