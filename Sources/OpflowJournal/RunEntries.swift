internal import OpflowBase
package import OpflowPlan

/// An applied request. Its line changes tasks that do not run.
package struct OrderEntry: Sendable, Equatable {
  package var id: OrderID
  package var verb: OrderVerb
  package var asker: OrderAsker
  /// In plan order; empty for the whole run.
  package var tasks: [TaskID] = []
  /// The plan has none of the named tasks any more.
  package var lacksTasks = false
  /// Of a `retry`: dependents skipped because of these tasks, which wait again.
  package var back: [TaskID] = []
  package var expects: Int32 = 0
  package var carried = CarriedValue()
  /// Of `approve`, one for each of `tasks`.
  package var fingerprints: [UInt64] = []

  package init(id: OrderID, verb: OrderVerb, asker: OrderAsker) {
    self.id = id
    self.verb = verb
    self.asker = asker
  }

  package func effect(on task: TaskID, in state: TaskState) -> Transition? {
    switch verb.row.effect {
    case .cancels:
      if state.isTerminal || state.isRunning { return nil }
      return Transition(.cancel, task, reason: .stopped(.cancel))
    case .skips: return Transition(.skip(.order), task)
    case .suspends: return state == .running ? Transition(.pause, task) : nil
    case .proceeds: return state == .suspended ? Transition(.proceed, task) : nil
    case .retries: return Transition(.resume(.asked), task)
    case .none: return nil
    }
  }
}

extension JournalLine {
  /// Nil for an unknown request. Omits tasks that the plan does not have.
  package func order(plan: Plan) -> OrderEntry? {
    var id: OrderID?
    var verb: OrderVerb?
    var asker = OrderAsker(pid: 0, user: 0, name: "")
    var (tasks, back): ([TaskID], [TaskID]) = ([], [])
    var fingerprints: [UInt64] = []
    var isWhole = true
    var expects: Int32 = 0
    var carried = CarriedValue()
    for field in fields {
      switch field.key {
      case .id: id = OrderID(field.text)
      case .verb: verb = OrderVerb(rawValue: field.text)
      case .by: asker.name = field.text
      case .pid: asker.pid = field.small ?? 0
      case .uid: asker.user = Field.number(field.value) ?? 0
      case .expects: expects = field.small ?? 0
      case .resource: carried.resource = field.text
      case .value: carried.number = Field.number(field.value)
      case .tasks:
        if let task = plan.task(escapedName: field.value) {
          tasks.append(task)
        } else {
          isWhole = false
        }
      case .fingerprint: fingerprints.append(UInt64(field.text, radix: 16) ?? 0)
      case .back: if let task = plan.task(escapedName: field.value) { back.append(task) }
      default: break
      }
    }
    guard let id, let verb else { return nil }
    var order = OrderEntry(id: id, verb: verb, asker: asker)
    order.tasks = tasks
    order.lacksTasks = tasks.isEmpty && !isWhole
    order.back = back
    order.expects = expects
    order.carried = carried
    if isWhole, fingerprints.count == tasks.count { order.fingerprints = fingerprints }
    return order
  }
}

/// A plan segment with added tasks. Precedes all lines about them.
package struct ExtendEntry: Sendable, Equatable {
  /// Without `copy`, the run's folder keeps the manifest by this name.
  package var id: OrderID
  package var asker: OrderAsker
  /// `none` if no task of the run added them.
  package var adder = TaskID.none
  package var attempt: Int32 = 0
  /// 32 hexadecimal digits.
  package var segmentKey = ""
  /// Of the plan from here on, `added` of them new.
  package var taskCount: Int
  package var added: Int
  /// Real path; `-` for standard input.
  package var manifestPath = ""
  /// Of relative paths.
  package var folder = ""
  /// `HASH PATH` each, as in `OpenEntry`.
  package var files: [String] = []
  /// The manifest's text if it is not in a file.
  package var copy = ""

  package init(id: OrderID, asker: OrderAsker, taskCount: Int, added: Int) {
    self.id = id
    self.asker = asker
    self.taskCount = taskCount
    self.added = added
  }
}

extension JournalLine {
  /// Even if the plan does not have the task; nil for a line about the run.
  var namedTask: String? { task.isEmpty ? nil : Field.text(task) }

  /// Nil if a required field is missing.
  package func extend(plan: Plan) -> ExtendEntry? {
    guard let id = fields.first(where: { $0.key == .id }).flatMap({ OrderID($0.text) }) else {
      return nil
    }
    var entry = ExtendEntry(
      id: id, asker: OrderAsker(pid: 0, user: 0, name: ""), taskCount: taskCount ?? 0, added: 0)
    if let adder = plan.task(escapedName: task) { entry.adder = adder }
    for field in fields {
      switch field.key {
      case .attempt: entry.attempt = field.small ?? 0
      case .by: entry.asker.name = field.text
      case .pid: entry.asker.pid = field.small ?? 0
      case .uid: entry.asker.user = Field.number(field.value) ?? 0
      case .value: entry.added = Int(field.natural)
      case .plan: entry.segmentKey = field.text
      case .manifest: entry.manifestPath = field.text
      case .folder: entry.folder = field.text
      case .file: entry.files.append(field.text)
      case .copy: entry.copy = field.text
      default: break
      }
    }
    return entry
  }

  /// Of the plan from this line on.
  package var taskCount: Int? {
    for field in fields where field.key == .count {
      let count = Int(field.natural)
      return count > 0 ? count : nil
    }
    return nil
  }
}

/// The tasks of a generator leave the run, since it is tried again. From here on they have other
/// names (`PlanGrowth`), under which they are skipped.
package struct WithdrawEntry: Sendable, Equatable {
  package var adder: TaskID
  package var attempt: Int32
  package var orders: [String]
  package var count: Int

  package init(adder: TaskID, attempt: Int32, orders: [String], count: Int) {
    self.adder = adder
    self.attempt = attempt
    self.orders = orders
    self.count = count
  }
}

extension JournalLine {
  package func withdraw(plan: Plan) -> WithdrawEntry {
    var entry = WithdrawEntry(
      adder: plan.task(escapedName: task) ?? .none, attempt: 0, orders: withdrawnOrders, count: 0)
    for field in fields {
      switch field.key {
      case .attempt: entry.attempt = field.small ?? 0
      case .value: entry.count = Int(field.natural)
      default: break
      }
    }
    return entry
  }

  var withdrawnOrders: [String] {
    fields.lazy.filter { $0.key == .dropped }.map { $0.text }
  }
}

package struct SiteEntry: Sendable, Equatable {
  package var site: SiteID
  package var state: SiteState
  package var host: String
  /// Of a node that joined; 0 if unknown.
  package var cores: UInt64 = 0
  package var memoryBytes: UInt64 = 0
  package var gpus: UInt64 = 0
  package var incarnation = ""
  package var leaseMilliseconds: Int64 = 0
  /// Of a node that joined: until its allocation ends; nil for no limit.
  package var leftMilliseconds: Int64?
  /// For people; may be empty.
  package var what = ""

  package init(_ site: SiteID, _ state: SiteState, host: String) {
    self.site = site
    self.state = state
    self.host = host
  }
}

/// The state of a node; raw values stand in the journal.
package enum SiteState: String, Sendable, CaseIterable {
  case joined
  /// It was preempted, or its time is over: no task starts there.
  case leaving
  /// Quarantined, since too much was lost: no task starts there.
  case shunned
  /// Used again, since no other node is left.
  case readmitted
  /// The connection is lost and processes may still run: no task starts there.
  case silent
  case lost

  package var isInUse: Bool { self == .joined || self == .readmitted }
}

extension JournalLine {
  /// Nil if the state is missing or unknown.
  var site: SiteEntry? {
    var number: Int32?
    var entry = SiteEntry(.local, .joined, host: "")
    var state: SiteState?
    for field in fields {
      switch field.key {
      case .site: number = field.small
      case .state: state = SiteState(rawValue: field.text)
      case .host: entry.host = field.text
      case .cores: entry.cores = Field.number(field.value) ?? 0
      case .memory: entry.memoryBytes = Field.number(field.value) ?? 0
      case .gpus: entry.gpus = Field.number(field.value) ?? 0
      case .incarnation: entry.incarnation = field.text
      case .lease: entry.leaseMilliseconds = field.natural
      case .until: entry.leftMilliseconds = field.natural
      case .what: entry.what = field.text
      default: break
      }
    }
    guard let number, number > 0, let state else { return nil }
    entry.site = SiteID(number)
    entry.state = state
    return entry
  }
}

extension FieldWriter {
  mutating func write(_ entry: SiteEntry, drive: Int) {
    if drive > 1 { field(.drive, drive) }
    field(.site, entry.site.rawValue)
    field(.state, entry.state.rawValue)
    field(.host, entry.host)
    fieldUnlessZero(.cores, entry.cores)
    fieldUnlessZero(.memory, entry.memoryBytes)
    fieldUnlessZero(.gpus, entry.gpus)
    fieldUnlessEmpty(.incarnation, entry.incarnation)
    fieldUnlessZero(.lease, entry.leaseMilliseconds)
    if let left = entry.leftMilliseconds { field(.until, left) }
    fieldUnlessEmpty(.what, entry.what)
  }
}
