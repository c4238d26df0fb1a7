package import OpflowPlan

package struct RequestRecords: Sendable {
  package struct Record: Sendable {
    package let verb: ControlAction
    package let requester: Requester
    package let milliseconds: Int64
    package let session: Int
    package let tasks: [TaskID]
    package let carried: CarriedValue
    let sequence: UInt64
    let fingerprints: [UInt64]

    func fingerprint(of task: TaskID) -> UInt64? {
      if fingerprints.isEmpty { return nil }
      return tasks.firstIndex(of: task).map { fingerprints[$0] }
    }
  }

  package private(set) var all: [Record] = []
  /// The number of tasks that each request selected.
  package private(set) var counts: [RequestID: Int] = [:]

  private struct Standing {
    var ofRun: Int?
    var ofTasks: [TaskID: Int] = [:]
    var ofResources: [String: Int] = [:]

    mutating func note(_ request: RequestEntry, _ tasks: [TaskID], at place: Int) {
      if !request.carried.resource.isEmpty {
        if request.carried.number != nil { ofResources[request.carried.resource] = place }
      } else if tasks.isEmpty {
        ofRun = place
      } else {
        for task in tasks { ofTasks[task] = place }
      }
    }
  }

  private var standing: [ControlAction: Standing] = [:]

  /// nil if a request came first.
  package private(set) var stopSignal: Int32?
  /// The reason for a stop without a signal.
  package private(set) var stopReason = ""

  package init() {}

  mutating func apply(
    _ request: RequestEntry, atMilliseconds now: Int64, session: Int, sequence: UInt64 = 0
  ) {
    let place = all.count
    all.append(
      Record(
        verb: request.verb, requester: request.requester, milliseconds: now, session: session,
        tasks: request.tasks,
        carried: request.carried, sequence: sequence, fingerprints: request.fingerprints))
    counts[request.id] = request.tasks.count
    if request.lacksTasks { return }
    let row = request.verb.row
    let tasks = row.about == .run ? [] : request.tasks
    if row.about == .tasks, tasks.isEmpty { return }
    for verb in row.undoes { end(verb, tasks) }
    if row.stopsRun, tasks.isEmpty { endHolds() }
    switch row.standing {
    case .none: return
    case .session, .run: standing[request.verb, default: Standing()].note(request, tasks, at: place)
    }
  }

  private mutating func end(_ verb: ControlAction, _ tasks: [TaskID]) {
    if tasks.isEmpty { standing[verb]?.ofRun = nil }
    for task in tasks { standing[verb]?.ofTasks[task] = nil }
  }

  /// An `extend` also answers a request.
  mutating func note(_ entry: ExtendEntry) { counts[entry.id] = entry.added }

  mutating func stop(by stop: StopEntry) {
    stopSignal = stop.signal
    stopReason = stop.detail
    endHolds()
  }

  private mutating func endHolds() {
    for verb in Self.holding { standing[verb] = nil }
  }

  mutating func beginSession() {
    for verb in ControlAction.allCases where verb.row.standing == .session { standing[verb] = nil }
    stopSignal = nil
    stopReason = ""
  }

  // MARK: - What holds

  package func ofRun(_ verb: ControlAction) -> Record? { standing[verb]?.ofRun.map { all[$0] } }

  package func of(_ task: TaskID, _ verb: ControlAction) -> Record? {
    standing[verb]?.ofTasks[task].map { all[$0] }
  }

  package func tasks(_ verb: ControlAction) -> [TaskID] {
    standing[verb].map { Array($0.ofTasks.keys) } ?? []
  }

  package func ofPending(_ task: TaskID) -> [(record: Record, phrase: ActionRow.Phrase)] {
    if standing.isEmpty { return [] }
    return Self.phrases.compactMap { verb, phrase in of(task, verb).map { ($0, phrase) } }
  }

  package func holder(of task: TaskID) -> Requester? {
    Self.holding.lazy.compactMap { of(task, $0)?.requester }.first
  }

  private static let holding = ControlAction.allCases.filter(\.row.holdsBack)

  private static let phrases: [(ControlAction, ActionRow.Phrase)] = ControlAction.allCases
    .compactMap {
      verb in verb.row.phrase.map { (verb, $0) }
    }

  package var stoppedBy: Record? { ofRun(.cancel) }

  package var pausedBy: Record? { ofRun(.pause) }

  /// May be from an earlier session.
  package var closedBy: Record? { ofRun(.close) }

  package func answer(to task: TaskID) -> Record? { of(task, .approve) ?? of(task, .reject) }

  /// Replace the manifest's priorities; may be from earlier sessions.
  package var priorities: [TaskID: Int16] {
    standing[.priority].map { $0.ofTasks.mapValues { all[$0].carried.priority } } ?? [:]
  }

  package func capacity(_ resource: String) -> Record? {
    standing[.parallel]?.ofResources[resource].map { all[$0] }
  }

  package var capacities: [Record] {
    (standing[.parallel]?.ofResources.values.map { all[$0] } ?? [])
      .sorted { $0.carried.resource < $1.carried.resource }
  }
}

/// Requests of a crashed session that hold in the next one.
package struct StandingRequests: Equatable, Sendable {
  package var isPaused = false
  /// Some of these tasks may have ended.
  package var onHold: [TaskID] = []
  /// Tasks without an end were running, and must not run again.
  package var cancelled: [TaskID] = []
  /// By the resource's number in the plan.
  package var capacities: [Int: UInt64] = [:]
  package var stopSignal: Int32?
  package var isCancelled = false

  package init() {}
}

extension RequestRecords {
  /// Omits a stop for lack of nodes or clients, which is decided again.
  package func standing(_ plan: Plan) -> StandingRequests {
    var standing = StandingRequests()
    standing.isPaused = pausedBy != nil
    standing.onHold = tasks(.suspend).sorted { $0.rawValue < $1.rawValue }
    standing.cancelled = tasks(.cancel).sorted { $0.rawValue < $1.rawValue }
    standing.isCancelled = stoppedBy != nil
    if stopReason.isEmpty { standing.stopSignal = stopSignal }
    for record in capacities {
      let resource = plan.resources.firstIndex { plan.string($0.name) == record.carried.resource }
      if let resource, let amount = record.carried.number.flatMap(UInt64.init(exactly:)) {
        standing.capacities[resource] = amount
      }
    }
    return standing
  }
}

package struct GrowthRecord: Sendable {
  package let entry: ExtendEntry
  /// nil if the user added the tasks; the plan may lack the generator by now.
  package let generator: String?
  package let session: Int
  package let milliseconds: Int64
}

struct GrowthRecords: Sendable {
  private(set) var all: [GrowthRecord] = []
  private var dropped: Set<String> = []
  private var earlier = 0
  private(set) var taskCount: Int?
  private var countSequence: UInt64 = 0

  mutating func note(_ entry: ExtendEntry, _ line: JournalLine, session: Int) {
    all.append(
      GrowthRecord(
        entry: entry, generator: line.namedTask, session: session, milliseconds: line.milliseconds))
  }

  mutating func count(_ tasks: Int, _ line: JournalLine) {
    taskCount = tasks
    countSequence = line.sequence
  }

  mutating func beginSession() { earlier = all.count }

  mutating func drop(_ ids: [String]) { dropped.formUnion(ids) }

  var standing: [GrowthRecord] {
    dropped.isEmpty ? all : all.filter { !dropped.contains($0.entry.id.text) }
  }

  /// Lines are missing after the line of `taskCount`.
  func isBefore(_ gap: Range<UInt64>?) -> Bool {
    gap.map { $0.lowerBound > countSequence } ?? false
  }

  func addedInSession(_ plan: Plan) -> Range<Int> {
    guard earlier < all.count else { return plan.taskCount..<plan.taskCount }
    let first = all[earlier].entry
    return min(max(0, first.taskCount - first.added), plan.taskCount)..<plan.taskCount
  }
}

extension RunModel {
  package var additions: [GrowthRecord] { growth.all }
  /// Excludes dropped additions, whose generator adds the tasks again.
  package var standingAdditions: [GrowthRecord] { growth.standing }
  package var extensions: [ExtendEntry] { growth.standing.map(\.entry) }
  /// nil if no tasks were added.
  package var taskCount: Int? { growth.taskCount }
  func addedInSession(_ plan: Plan) -> Range<Int> { growth.addedInSession(plan) }
}
