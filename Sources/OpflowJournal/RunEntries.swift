internal import OpflowBase
package import OpflowPlan

/// Changes only tasks that do not run.
package struct RequestEntry: Sendable, Equatable {
  package var id: RequestID
  package var verb: ControlAction
  package var requester: Requester
  /// Empty for the whole run.
  package var tasks: [TaskID] = []
  /// The plan lacks all named tasks by now.
  package var lacksTasks = false
  /// Dependents that were skipped because of the retried tasks.
  package var back: [TaskID] = []
  package var expects: Int32 = 0
  package var carried = CarriedValue()
  package var fingerprints: [UInt64] = []

  package init(id: RequestID, verb: ControlAction, requester: Requester) {
    self.id = id
    self.verb = verb
    self.requester = requester
  }

  mutating func list(_ pass: inout FieldPass, _ plan: Plan) {
    pass.text(.id, &id, { RequestID($0) }, \.text)
    pass.text(.verb, &verb, ControlAction.init(rawValue:), \.rawValue)
    requester.list(&pass)
    pass.number(.expects, &expects)
    carried.list(&pass)
    pass.each(.tasks, &tasks, read: { plan.task(escapedName: $0.value) }) {
      $1.escaped(plan.nameBytes($0))
    }
    pass.each(.fingerprint, &fingerprints, read: { Hexadecimal.value($0.value) ?? 0 }) {
      $1.hexadecimal($0, digitCount: 16)
    }
    pass.each(.back, &back, read: { plan.task(escapedName: $0.value) }) {
      $1.escaped(plan.nameBytes($0))
    }
  }

  package func effect(on task: TaskID, in state: TaskState) -> Transition? {
    switch verb.row.effect {
    case .cancels:
      if state.isTerminal || state.isRunning { return nil }
      return Transition(.cancel, task, reason: .stopped(.cancel))
    case .skips: return Transition(.skip(.request), task)
    case .suspends: return state == .running ? Transition(.pause, task) : nil
    case .proceeds: return state == .suspended ? Transition(.proceed, task) : nil
    case .retries: return Transition(.resume(.asked), task)
    case .none: return nil
    }
  }
}

extension Requester {
  fileprivate mutating func list(_ pass: inout FieldPass) {
    pass.text(.by, &name, evenIfEmpty: true)
    pass.number(.pid, &pid, evenIfZero: true)
    pass.number(.uid, &user, evenIfZero: true)
  }
}

extension JournalLine {
  /// nil for an unknown request. Omits tasks that are not in the plan.
  package func request(plan: Plan) -> RequestEntry? {
    guard let id: RequestID = first(.id, { RequestID($0.text) }),
      let verb = first(.verb, { ControlAction(rawValue: $0.text) })
    else { return nil }
    var request = RequestEntry(id: id, verb: verb, requester: Requester(pid: 0, user: 0, name: ""))
    var isWhole = true
    for field in fields {
      let pass = FieldPass.read(field) { request.list(&$0, plan) }
      if !pass.isValid, field.key == .tasks { isWhole = false }
    }
    request.lacksTasks = request.tasks.isEmpty && !isWhole
    if !isWhole || request.fingerprints.count != request.tasks.count { request.fingerprints = [] }
    return request
  }
}

package struct ExtendEntry: Sendable, Equatable {
  /// Without `copy`, the run's folder keeps the manifest under this ID.
  package var id: RequestID
  package var requester: Requester
  /// `none` if the user added the tasks.
  package var generator = TaskID.none
  package var attempt: Int32 = 0
  /// 32 hexadecimal digits.
  package var segmentKey = ""
  package var taskCount: Int
  package var added: Int
  package var manifestPath = ""
  package var folder = ""
  package var files: [String] = []
  package var copy = ""

  package init(id: RequestID, requester: Requester, taskCount: Int, added: Int) {
    self.id = id
    self.requester = requester
    self.taskCount = taskCount
    self.added = added
  }

  mutating func list(_ pass: inout FieldPass) {
    pass.number(.attempt, &attempt)
    pass.text(.id, &id, { RequestID($0) }, \.text)
    requester.list(&pass)
    pass.text(.plan, &segmentKey, evenIfEmpty: true)
    pass.natural(.count, &taskCount, evenIfZero: true)
    pass.natural(.value, &added, evenIfZero: true)
    pass.text(.manifest, &manifestPath, evenIfEmpty: true)
    pass.text(.folder, &folder, evenIfEmpty: true)
    pass.texts(.file, &files)
    pass.text(.copy, &copy)
  }
}

extension JournalLine {
  var namedTask: String? { task.isEmpty ? nil : Field.text(task) }

  package func extend(plan: Plan) -> ExtendEntry? {
    guard let id: RequestID = first(.id, { RequestID($0.text) }) else { return nil }
    var entry = ExtendEntry(
      id: id, requester: Requester(pid: 0, user: 0, name: ""), taskCount: 0, added: 0)
    if let generator = plan.task(escapedName: task) { entry.generator = generator }
    read { entry.list(&$0) }
    return entry
  }

  package var taskCount: Int? {
    first(.count) { $0.natural > 0 ? Int($0.natural) : nil }
  }
}

/// The tasks of a generator leave the run, since it is tried again. From here on they have other
/// names (`PlanGrowth`), under which they are skipped.
package struct RetractEntry: Sendable, Equatable {
  package var generator: TaskID
  package var attempt: Int32
  package var requests: [String]
  package var count: Int

  package init(generator: TaskID, attempt: Int32, requests: [String], count: Int) {
    self.generator = generator
    self.attempt = attempt
    self.requests = requests
    self.count = count
  }

  mutating func list(_ pass: inout FieldPass) {
    pass.number(.attempt, &attempt)
    pass.texts(.dropped, &requests)
    pass.natural(.value, &count, evenIfZero: true)
  }
}

extension JournalLine {
  package func retract(plan: Plan) -> RetractEntry {
    var entry = RetractEntry(
      generator: plan.task(escapedName: task) ?? .none, attempt: 0, requests: [], count: 0)
    read { entry.list(&$0) }
    return entry
  }

  var retractedRequests: [String] {
    fields.lazy.filter { $0.key == .dropped }.map { $0.text }
  }
}

package struct NodeEntry: Sendable, Equatable {
  package var node: NodeID
  package var state: NodeState
  package var host: String
  /// 0 if unknown.
  package var cores: UInt64 = 0
  package var memoryBytes: UInt64 = 0
  package var gpus: UInt64 = 0
  package var incarnation = ""
  package var leaseMilliseconds: Int64 = 0
  /// The time until the node's allocation ends; nil for no limit.
  package var leftMilliseconds: Int64?
  package var detail = ""

  package init(_ node: NodeID, _ state: NodeState, host: String) {
    self.node = node
    self.state = state
    self.host = host
  }

  /// In thousandths, like all resources of a manifest. A journal may hold any number.
  package var gpuAmount: UInt64 {
    let (amount, overflow) = gpus.multipliedReportingOverflow(by: 1000)
    return overflow ? .max : amount
  }

  mutating func list(_ pass: inout FieldPass) {
    node.list(&pass)
    pass.text(.state, &state, NodeState.init(rawValue:), \.rawValue)
    pass.text(.host, &host, evenIfEmpty: true)
    pass.number(.cores, &cores)
    pass.number(.memory, &memoryBytes)
    pass.number(.gpus, &gpus)
    pass.text(.incarnation, &incarnation)
    pass.natural(.lease, &leaseMilliseconds)
    pass.natural(.until, &leftMilliseconds)
    pass.text(.detail, &detail)
  }
}

package enum NodeState: String, Sendable, CaseIterable {
  case joined
  /// Preempted, or its time is over: no task starts there.
  case leaving
  /// Too much was lost there: no task starts.
  case quarantined = "shunned"
  /// Used again, since no other node is left.
  case readmitted
  /// The connection is lost, but processes may still run: no task starts there.
  case silent
  case lost

  package var isInUse: Bool { self == .joined || self == .readmitted }
}

extension JournalLine {
  var node: NodeEntry? {
    guard let state = first(.state, { NodeState(rawValue: $0.text) }) else { return nil }
    var entry = NodeEntry(.local, state, host: "")
    read { entry.list(&$0) }
    return entry.node == .local ? nil : entry
  }
}
