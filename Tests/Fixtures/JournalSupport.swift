import OpflowBase
package import OpflowJournal
package import OpflowPlan

/// A plan of tasks with dependencies, for tests of journal, recovery and resume.
package struct TestPlan {
  package struct Task {
    package var name: String
    package var needs: [(String, NeedCondition)] = []
    package var flags: TaskFlags = []
    package var fingerprint: UInt64 = 1
    package var isService = false
    /// The dependency whose value is its `if`.
    package var decidedBy: String?
    /// It declares inputs.
    package var isChecked = false

    package init(
      name: String, needs: [(String, NeedCondition)] = [], flags: TaskFlags = [],
      fingerprint: UInt64 = 1, isService: Bool = false, decidedBy: String? = nil,
      isChecked: Bool = false
    ) {
      self.name = name
      self.needs = needs
      self.flags = flags
      self.fingerprint = fingerprint
      self.isService = isService
      self.decidedBy = decidedBy
      self.isChecked = isChecked
    }
  }

  package struct Unsound: Error {}

  package static func make(_ tasks: [Task]) throws -> Plan {
    var builder = PlanBuilder()
    let policy = builder.policy(TaskPolicy())
    var ids: [String: TaskID] = [:]
    for task in tasks {
      var entry = TaskEntry(name: builder.intern(task.name), kind: .shell)
      entry.flags = task.flags
      entry.policy = policy
      entry.fingerprint = Fingerprint(whole: task.fingerprint, parts: task.fingerprint & 255)
      if task.isService {
        entry.flags.insert(.service)
        entry.record.service = builder.service(ServiceEntry(.none))
      }
      if let place = task.needs.firstIndex(where: { $0.0 == task.decidedBy }) {
        builder.decide(&entry, byNeed: place)
      }
      let id = builder.add(entry)
      ids[task.name] = id
      if task.isChecked { builder.declare(id, inputs: [], outputs: []) }
    }
    for task in tasks {
      for (need, condition) in task.needs {
        guard let id = ids[need] else { throw Unsound() }
        builder.addNeed(id, on: condition)
      }
      builder.endNeeds()
    }
    let manifest = ManifestEntry(
      name: .empty, description: .empty, folder: .empty, maxParallel: 0, maxFailures: 1,
      usesRunID: false)
    switch builder.finish(manifest: manifest, key: PlanKey(high: 1, low: 2)) {
    case .plan(let bytes): return try Plan(copying: bytes)
    case .cycle: throw Unsound()
    }
  }

  package static func make(names: [String]) throws -> Plan {
    try make(names.map { Task(name: $0) })
  }
}

extension Plan {
  package func id(_ name: String) throws -> TaskID {
    guard let id = task(named: name) else { throw TestPlan.Unsound() }
    return id
  }
}

extension OpenEntry {
  package static let example = OpenEntry(
    run: "20260101-000000-abcd", planKey: String(repeating: "0", count: 32), opflowVersion: "0.1.0",
    manifestPath: "/srv/project/opflow.yaml", folder: "/srv/project")
}

/// Journal bytes like those of a run.
package struct JournalText {
  package let plan: Plan
  package var encoder = JournalEncoder()
  /// Advances by a millisecond per line.
  private var now: Int64 = 1_700_000_000_000
  /// The offset of each line, and the end.
  package private(set) var offsets = [0]

  package init(_ plan: Plan) {
    self.plan = plan
    append(.open(.example))
  }

  package var bytes: [UInt8] { encoder.bytes }

  package mutating func append(_ entry: JournalEntry) {
    encoder.append(entry, at: now, plan: plan)
    now += 1
    offsets.append(encoder.bytes.count)
  }

  package mutating func append(_ transition: Transition) { append(.transition(transition)) }

  package mutating func start(_ name: String, attempt: Int32 = 1) throws {
    append(Transition(.start, try plan.id(name), attempt: attempt))
  }

  package mutating func success(_ name: String, attempt: Int32 = 1) throws {
    var transition = Transition(.success, try plan.id(name), attempt: attempt)
    transition.outcome = Outcome(status: .success)
    transition.fingerprint = plan.fingerprint(transition.task)
    append(transition)
  }

  package mutating func failure(
    _ name: String, attempt: Int32 = 1, exit code: Int32 = 1, reason: EndReason? = nil,
    allowed: Bool = false
  ) throws {
    var transition = Transition(.failure, try plan.id(name), attempt: attempt)
    transition.outcome = Outcome(status: .exit(code), reason: reason)
    transition.allowed = allowed
    if allowed { transition.fingerprint = plan.fingerprint(transition.task) }
    append(transition)
  }

  package mutating func run(_ names: String...) throws {
    for name in names {
      try start(name)
      try success(name)
    }
  }

  package mutating func skip(_ name: String, _ reason: SkipReason) throws {
    append(Transition(.skip(reason), try plan.id(name)))
  }

  /// Adds another session that makes these tasks pending again.
  package mutating func resume(_ retracted: (String, RerunReason)...) throws {
    var entry = ResumeEntry(planKey: "", opflowVersion: "0.1.0")
    entry.retracted = retracted.count
    append(.resume(entry))
    for (name, reason) in retracted {
      append(Transition(.resume(reason), try plan.id(name)))
    }
  }
}

extension RunModel {
  package static func read(_ bytes: [UInt8], _ plan: Plan) throws -> RunModel {
    try bytes.withUnsafeBytes { try RunModel.read($0, plan: plan).history }
  }

  /// Returns the tasks that succeeded according to the journal.
  package func successes(_ plan: Plan) -> Set<String> {
    Set(
      plan.tasks.filter { self[TaskID($0)].state == .succeeded }.map { plan.nameString(TaskID($0)) }
    )
  }
}

extension TransitionEvent {
  package static func example(_ kind: TransitionKind) -> TransitionEvent {
    switch kind {
    case .start: .start
    case .success: .success
    case .failure: .failure
    case .retry: .retry
    case .skip: .skip(.upstream(TaskID(1)))
    case .cancel: .cancel
    case .interrupt: .interrupt
    case .pause: .pause
    case .proceed: .proceed
    case .resume: .resume(.changed(.needs))
    case .fresh: .fresh
    case .ready: .ready
    case .stopping: .stopping
    }
  }
}

package func taskSet(_ plan: Plan, _ names: String...) throws -> TaskSet {
  var set = TaskSet(taskCount: plan.taskCount)
  for name in names { set.insert(try plan.id(name)) }
  return set
}

/// Returns a resume's decision after a journal.
///
/// - Parameter newPlan: the plan of the resume; nil for that of the journal.
package func decide(
  _ plan: Plan, readWith newPlan: Plan? = nil, request: ResumeRequest = ResumeRequest(),
  _ write: (inout JournalText) throws -> Void
) throws -> ResumeDecision {
  var journal = JournalText(plan)
  try write(&journal)
  let plan = newPlan ?? plan
  return ResumeDecision(
    plan: plan, history: try RunModel.read(journal.bytes, plan), request: request)
}
