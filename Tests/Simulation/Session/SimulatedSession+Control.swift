import OpflowBase
import OpflowEngine
import OpflowJournal
import OpflowPlan

/// Requests from people at any moment, and what they are told of them.
struct Control {
  /// Asked in this drive and not answered.
  private(set) var open: [ConnectionID: RequestID] = [:]
  /// What was asked, to be asked again.
  private var asked: [ControlRequest] = []
  /// Requests of this drive that were obeyed: where their lines end in the file.
  private(set) var obeyed: [RequestID: Int] = [:]
  private var connections: Int32 = 0
  /// By the drive, so that no other drive gives the same ones.
  private let prefix: String

  /// Of earlier drives.
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

  /// A request that was asked for before; nil where none was, or it is not the time.
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
  /// Asks for something, or for something once more.
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
      // A person answers what asks.
      if random.chance(80), let gate = oracle.askingGates.first {
        request.tasks = [gate]
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

  /// Takes in what was requested of the drive before and holds in this one.
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

  /// The request's line, and what it does to tasks at once.
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

  /// Somebody answers the first of the gates that ask: without disturbance, as the manifest has it.
  ///
  /// - Returns: whether anybody did.
  mutating func answerSomeGate() throws(Finding) -> Bool {
    if engine.isClosing || oracle.isSuspended { return false }
    let gate = oracle.askingGates.first { gate in
      if case .hangs = tasks[gate.index].behaviour { return false }
      return true
    }
    guard let gate, let id = control.freshID() else { return false }
    var isApproved = true
    if case .fails = tasks[gate.index].behaviour { isApproved = false }
    if !injector.isNone, random.chance(30) { isApproved.toggle() }
    var request = ControlRequest(
      id: id, requester: Requester(pid: 2, user: 0, name: "a person"),
      verb: isApproved ? .approve : .reject)
    request.tasks = [gate]
    try ask(request)
    return true
  }

  /// Whoever held something back, or took something away, lets it go.
  ///
  /// - Returns: whether anybody did.
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
