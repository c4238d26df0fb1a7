/// What was asked for while a run went on, and what of it still holds.
package struct OrderRecords: Sendable {
  /// An order that was obeyed.
  package struct Record: Sendable {
    package let verb: OrderVerb
    package let asker: OrderAsker
    /// Since the epoch.
    package let milliseconds: Int64
    package let drive: Int
    package let tasks: [TaskID]
    package let carried: CarriedValue
    /// SEQ of its line.
    let sequence: UInt64
    /// Of `approve`: by what the gates were defined then, as `OrderEntry` has them.
    let fingerprints: [UInt64]

    /// By what a gate was defined that it approves; nil where that is not told.
    func fingerprint(of task: TaskID) -> UInt64? {
      if fingerprints.isEmpty { return nil }
      return tasks.firstIndex(of: task).map { fingerprints[$0] }
    }
  }

  /// In their order.
  package private(set) var all: [Record] = []
  /// How many tasks each held for, of all drives.
  package private(set) var counts: [OrderID: Int] = [:]

  /// What of a verb holds, by places in `all`: of the whole run, of tasks, and of resources by their names.
  private struct Standing {
    var ofRun: Int?
    var ofTasks: [TaskID: Int] = [:]
    var ofResources: [String: Int] = [:]

    mutating func note(_ order: OrderEntry, _ tasks: [TaskID], at place: Int) {
      if !order.carried.resource.isEmpty {
        if order.carried.number != nil { ofResources[order.carried.resource] = place }
      } else if tasks.isEmpty {
        ofRun = place
      } else {
        for task in tasks { ofTasks[task] = place }
      }
    }
  }

  private var standing: [OrderVerb: Standing] = [:]

  // Of the newest drive

  /// The signal by which the run is being ended; nil where that is not so, or an order asked for it first.
  package private(set) var stopSignal: Int32?
  /// Why the run is being ended, where nobody sent that signal; empty where somebody did.
  package private(set) var stopReason = ""

  package init() {}

  mutating func apply(
    _ order: OrderEntry, atMilliseconds now: Int64, drive: Int, sequence: UInt64 = 0
  ) {
    let place = all.count
    all.append(
      Record(
        verb: order.verb, asker: order.asker, milliseconds: now, drive: drive, tasks: order.tasks,
        carried: order.carried, sequence: sequence, fingerprints: order.fingerprints))
    counts[order.id] = order.tasks.count
    if order.lacksTasks { return }
    let row = order.verb.row
    let tasks = row.about == .run ? [] : order.tasks
    // The plan has none of its tasks any more.
    if row.about == .tasks, tasks.isEmpty { return }
    for verb in row.undoes { end(verb, tasks) }
    if row.stopsRun, tasks.isEmpty { endHolds() }
    switch row.standing {
    case .none: return
    case .drive, .run: standing[order.verb, default: Standing()].note(order, tasks, at: place)
    }
  }

  private mutating func end(_ verb: OrderVerb, _ tasks: [TaskID]) {
    if tasks.isEmpty { standing[verb]?.ofRun = nil }
    for task in tasks { standing[verb]?.ofTasks[task] = nil }
  }

  /// What was added answers to an order as well.
  mutating func note(_ entry: ExtendEntry) { counts[entry.id] = entry.added }

  mutating func stop(by stop: StopEntry) {
    stopSignal = stop.signal
    stopReason = stop.what
    endHolds()
  }

  /// None of that holds against a stop.
  private mutating func endHolds() {
    for verb in Self.holding { standing[verb] = nil }
  }

  /// What is of a drive alone is over.
  mutating func beginDrive() {
    for verb in OrderVerb.allCases where verb.row.standing == .drive { standing[verb] = nil }
    stopSignal = nil
    stopReason = ""
  }

  // MARK: - What holds

  /// The order about the whole run that holds; nil where none does.
  package func ofRun(_ verb: OrderVerb) -> Record? { standing[verb]?.ofRun.map { all[$0] } }

  /// The order about a task that holds; nil where none does.
  package func of(_ task: TaskID, _ verb: OrderVerb) -> Record? {
    standing[verb]?.ofTasks[task].map { all[$0] }
  }

  /// The tasks about which an order holds, in no order.
  package func tasks(_ verb: OrderVerb) -> [TaskID] {
    standing[verb].map { Array($0.ofTasks.keys) } ?? []
  }

  /// What holds about a task that has not begun, with what it makes of that.
  package func ofPending(_ task: TaskID) -> [(record: Record, phrase: OrderRow.Phrase)] {
    if standing.isEmpty { return [] }
    return Self.phrases.compactMap { verb, phrase in of(task, verb).map { ($0, phrase) } }
  }

  /// Who keeps a task from going on until it is continued; nil where nobody does.
  package func holder(of task: TaskID) -> OrderAsker? {
    Self.holding.lazy.compactMap { of(task, $0)?.asker }.first
  }

  private static let holding = OrderVerb.allCases.filter(\.row.holdsBack)

  private static let phrases: [(OrderVerb, OrderRow.Phrase)] = OrderVerb.allCases.compactMap {
    verb in verb.row.phrase.map { (verb, $0) }
  }

  /// By whom the run is being ended; nil where that is not so, or no order asked for it.
  package var stoppedBy: Record? { ofRun(.cancel) }

  /// By whom nothing new starts; nil where that is not so.
  package var pausedBy: Record? { ofRun(.pause) }

  /// By whom the run was closed that had been kept open, of all drives.
  package var closedBy: Record? { ofRun(.close) }

  /// What was last said to a gate, and by whom, of all drives.
  package func answer(to task: TaskID) -> Record? { of(task, .approve) ?? of(task, .reject) }

  /// What holds instead of the manifest's, of all drives.
  package var priorities: [TaskID: Int16] {
    standing[.priority].map { $0.ofTasks.mapValues { all[$0].carried.priority } } ?? [:]
  }

  /// What there is of a resource by now, where that was asked for.
  package func capacity(_ resource: String) -> Record? {
    standing[.parallel]?.ofResources[resource].map { all[$0] }
  }

  /// The same of all resources, by their names.
  package var capacities: [Record] {
    (standing[.parallel]?.ofResources.values.map { all[$0] } ?? [])
      .sorted { $0.carried.resource < $1.carried.resource }
  }
}
