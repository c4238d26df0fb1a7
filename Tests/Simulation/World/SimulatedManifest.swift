internal import OpflowBase
package import OpflowPlan

/// A generated manifest: tasks with all kinds of policies, and the behaviour of their processes.
package struct SimulatedManifest: Sendable {
  package struct Task: Sendable {
    /// A client runs it, with this `behaviour`.
    var isExternal = false
    package var name: String
    package var needs: [(task: String, condition: NeedCondition)] = []
    package var flags: TaskFlags = []
    /// Half of the tasks with GPUs run on the coordinator's host.
    var isLocalWithDevices = false
    package var priority: Int16 = 0
    package var isDownload = false
    /// `behaviour` decides the answer.
    var isApproval = false
    package var policy = TaskPolicy(
      retryDelayMilliseconds: 50, retryMaxDelayMilliseconds: 400, stopGraceMilliseconds: 200)
    package var retryCodes: [Int32] = []
    package var allowedCodes: [Int32] = []
    package var demand: [DemandItem] = [DemandItem(resource: ResourceEntry.cpu, amount: 1)]
    /// It declares `inputs`.
    var isChecked = false
    /// Represents their contents; edits change it.
    var inputs: UInt64 = 1
    /// Represents the text of its script; edits change it.
    package var version: UInt64 = 1
    package var behaviour = Behaviour.succeeds
    /// The value that a success leaves.
    var leaves = SimulatedValue.nothing
    /// The dependency whose value decides its `if`.
    var decidedBy: String?
    /// The dependency whose value it reads when it starts.
    var reads: String?
    /// It makes the tasks of a batch as its matrix tasks.
    var makesInstances = false
    /// It does not end by itself; `behaviour` is ignored.
    var service: SimulatedService?
    var restarts = 0
    var ports = 0
    /// Only KILL ends it.
    package var ignoresStop = false
    /// It leaves descendants when it ends.
    package var leavesDescendants = false
  }

  package var tasks: [Task] = []
  /// Named resources, after the three built-in ones.
  package var resources: [(name: String, capacity: UInt64)] = []
  /// The index in `tasks` of each added batch's first task; empty if the run does not grow.
  var batchStarts: [Int] = []
  /// For each batch of matrix tasks, from 1, the task that makes it.
  var instanceMakers: [Int: String] = [:]
  /// For each batch that a task adds, from 1, this task.
  var generators: [Int: String] = [:]

  /// Compiles all tasks as one manifest.
  package func compile() throws(Finding) -> Plan {
    try Self.open(try compile(tasks.indices))
  }

  static func open(_ bytes: [UInt8], limit: Int? = nil) throws(Finding) -> Plan {
    do {
      let plan = try Plan(copying: bytes, limit: limit)
      try plan.validate()
      return plan
    } catch {
      throw Finding("the plan does not hold: \(error)")
    }
  }

  /// Compiles some tasks as a manifest of their own, which may need earlier tasks.
  func compile(_ range: Range<Int>) throws(Finding) -> [UInt8] {
    let (tasks, before) = (tasks[range], Set(self.tasks[..<range.lowerBound].map(\.name)))
    var builder = PlanBuilder()
    for (name, capacity) in [("cpu", 0), ("memory", 0), ("download", 0)] + resources {
      builder.resources.append(
        ResourceEntry(name: builder.intern(name), capacity: UInt64(capacity)))
    }
    let shell = builder.list([builder.intern("/bin/sh"), builder.intern("-ec")])
    var ids: [String: TaskID] = [:]
    for task in tasks {
      var entry = TaskEntry(
        name: builder.intern(task.name),
        kind: task.isApproval
          ? .approve
          : task.isExternal
            ? .block : task.isDownload ? .download : task.makesInstances ? .command : .shell
      )
      entry.flags = task.flags
      if task.makesInstances { entry.flags.formUnion([.emptyMatrix, .control]) }
      entry.priority = task.priority
      entry.record.script = builder.intern("version \(task.version)")
      entry.record.shell = shell
      if task.isDownload {
        let source = builder.intern("https://example.org/\(task.version)")
        entry.record.download = builder.download(
          DownloadEntry(target: builder.intern("/\(task.name)"), sources: builder.list([source])))
      }
      if task.service != nil {
        entry.flags.insert(.service)
        var service = ServiceEntry(.none)
        service.restarts = UInt32(task.restarts)
        service.ports = builder.list((0..<task.ports).map { builder.intern("p\($0)") })
        entry.record.service = builder.service(service)
      }
      if task.hasJobserver {
        entry.record.processes[.jobserver] = UInt64(JobserverStyle.ofMake.rawValue)
      }
      addLate(of: task, without: before, to: &entry, &builder)
      entry.record.directory = builder.intern("/")
      entry.record.processes.isLocal = task.isLocal
      var policy = task.policy
      policy.retryCodes = builder.codes(task.retryCodes)
      entry.policy = builder.policy(policy)
      entry.record.allowedCodes = builder.codes(task.allowedCodes)
      entry.demand = builder.demand(task.demand)
      entry.fingerprint = task.fingerprint
      ids[task.name] = builder.add(entry)
    }
    for task in tasks {
      for need in task.needs where !before.contains(need.task) {
        guard let id = ids[need.task] else { throw Finding("the manifest lacks \(need.task)") }
        builder.addNeed(id, on: need.condition)
      }
      for need in task.needs where before.contains(need.task) {
        builder.addOuterNeed(builder.intern(need.task), on: need.condition)
      }
      builder.endNeeds()
    }
    for task in tasks {
      if let id = task.reads.flatMap({ ids[$0] }) { builder.mark(id, .leavesValues) }
      if let id = task.decidedBy.flatMap({ ids[$0] }) {
        builder.mark(id, [.leavesValues, .decidesOthers])
      }
    }
    // Of several batches that begin there, the last one is not empty.
    if !range.isEmpty, let batch = batchStarts.lastIndex(of: range.lowerBound),
      let maker = instanceMakers[batch + 1]
    {
      builder.addMatrixGroup(
        builder.intern(maker), firstTask: TaskID(0), instanceCount: range.count,
        axes: [builder.intern("n")], values: tasks.map { builder.intern($0.name) })
    }
    for task in tasks where task.mayBeChecked {
      if let id = ids[task.name] { builder.declare(id, inputs: [], outputs: []) }
    }
    let manifest = ManifestEntry(
      name: builder.intern("imagined"), description: .empty, folder: builder.intern("/"),
      maxParallel: 0, maxFailures: 1, usesRunID: false)
    switch builder.finish(manifest: manifest, key: PlanKey(high: 1, low: UInt64(tasks.count))) {
    case .plan(let bytes): return bytes
    case .cycle: throw Finding("the manifest has a cycle")
    }
  }
}

/// The value `v` of a task.
package enum SimulatedValue: CaseIterable, Sendable {
  case nothing, yes, no
  /// Depends on the task's version and inputs.
  case either

  func text(_ number: UInt64) -> String? {
    switch self {
    case .nothing: nil
    case .yes: "true"
    case .no: "false"
    case .either: number % 2 == 0 ? "true" : "false"
    }
  }
}

extension SimulatedManifest {
  private func addLate(
    of task: Task, without before: Set<String>, to entry: inout TaskEntry,
    _ builder: inout PlanBuilder
  ) {
    var items: [LateItem] = []
    func steps(_ need: String) -> ListIndex? {
      // Dependencies in the same batch come first.
      let own = task.needs.filter { !before.contains($0.task) }
      guard let place = own.firstIndex(where: { $0.task == need }) else { return nil }
      return builder.steps([
        LateStep(.value, text: builder.intern("v"), first: place, count: 1)
      ])
    }
    if let program = task.decidedBy.flatMap(steps) {
      items.append(LateItem(.condition, program: program))
      entry.flags.insert(.lateCondition)
    }
    if let program = task.reads.flatMap(steps) {
      entry.record.environment = builder.environment([
        EnvironmentItem(name: builder.intern("V"), value: builder.intern("${{ }}"))
      ])
      items.append(LateItem(.environment, program: program))
    }
    if items.isEmpty { return }
    entry.flags.insert(.readsValues)
    entry.record.late = builder.late(items)
  }
}

extension Plan {
  /// True if a missing value of the task reads as the empty string: a matrix has one line per value
  /// left.
  func readsAsEmpty(_ need: TaskID) -> Bool { matrixGroup(of: need) != nil }
}

/// The behaviour of a service.
package enum SimulatedService: Sendable {
  /// It becomes ready at some time, and runs until it is stopped.
  case serves
  case neverReady
  case endsBeforeReady(Int32)
  /// Ends after it was ready, up to this attempt. In an undisturbed session it serves.
  case endsInUse(attempt: Int32, code: Int32)

  /// It ends by itself at some time.
  var mayEnd: Bool {
    if case .endsInUse = self { true } else { false }
  }

  /// It becomes ready.
  var isSound: Bool {
    switch self {
    case .serves, .endsInUse: true
    case .neverReady, .endsBeforeReady: false
    }
  }
}

/// How a task's process ends if it is not stopped.
package enum Behaviour: Sendable {
  case succeeds
  case fails(Int32)
  /// Fails with this code up to this attempt.
  case failsThrough(attempt: Int32, code: Int32)
  case crashes(signal: Int32)
  /// It cannot be started.
  case isRefused
  /// It ends when it is stopped or times out.
  case hangs

  /// Returns how an attempt ends by itself; nil if it does not.
  package func status(attempt: Int32) -> ExitStatus? {
    switch self {
    case .succeeds: .success
    case .fails(let code): .exit(code)
    case .failsThrough(let last, let code): .exit(attempt <= last ? code : 0)
    case .crashes(let signal): .signal(signal)
    case .isRefused, .hangs: nil
    }
  }
}

extension SimulatedManifest.Task {
  /// A summary for a user who replays a seed.
  var brief: String {
    let needs = needs.map { "\($0.task):\($0.condition)" }.joined(separator: ",")
    let how = service.map { "service \($0) restarts=\(restarts)" } ?? "\(behaviour)"
    return "\(name) needs=[\(needs)] flags=\(flags.rawValue) retry=\(policy.retryMax) \(how)"
  }

  /// The value that it leaves, or nil.
  var value: String? { leaves.text(version &+ inputs) }

  /// Every ninth task runs on the coordinator's host.
  var isLocal: Bool {
    let sum = name.utf8.reduce(0) { $0 + Int($1) }
    return sum % 9 == 4 || isLocalWithDevices && wantsDevices && sum % 2 == 0
  }

  /// Every seventh task has its own GPUs.
  var wantsDevices: Bool { name.utf8.reduce(0) { $0 + Int($1) } % 7 == 3 }

  /// Every third task that can have a jobserver has one.
  var hasJobserver: Bool {
    !isDownload && !isApproval && !isExternal && service == nil
      && demand.contains { $0.resource == ResourceEntry.cpu && $0.amount > 0 }
      && name.utf8.reduce(0) { $0 + Int($1) } % 3 == 0
  }

  var valuesRead: [String] { [decidedBy, reads].compactMap { $0 } }

  func values(keepsTexts: Bool) -> [TaskValue] {
    value.map { [TaskValue(name: "v", text: Array($0.utf8), keepsText: keepsTexts)] } ?? []
  }

  package var fingerprint: Fingerprint {
    var hasher = FingerprintHasher()
    hasher.add(version)
    hasher.end(.run)
    for need in needs { hasher.add(Hash.xxh3(Array(need.task.utf8))) }
    hasher.end(.needs)
    hasher.add(reads == nil ? 0 : 1)
    hasher.end(.env)
    return hasher.finish()
  }
}

/// A violated promise.
package struct Finding: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}
