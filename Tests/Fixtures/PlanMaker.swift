import OpflowBase
package import OpflowPlan

/// A plan for tests: tasks and dependencies by name.
package struct PlanMaker {
  package struct Task {
    package var name: String
    package var needs: [(String, NeedCondition)] = []
    /// Dependencies on tasks that are not in this segment.
    package var outerNeeds: [(String, NeedCondition)] = []
    package var flags: TaskFlags = []
    package var priority: Int16 = 0
    package var policy = TaskPolicy()
    package var retryCodes: [Int32] = []
    package var allowed: [Int32] = []
    package var demand: [(UInt32, UInt64)] = [(0, 1)]
    package var script = "true"
    package var kind = ActionKind.shell
    /// nil for a task that declares none.
    package var inputs: [InputEntry]?
    package var outputs: [OutputEntry] = []
    package var service: ServiceEntry?
    package var isLocal = false
    package var jobserver: JobserverStyle?
    /// The dependency whose value is its `if`.
    package var decidedBy: String?
  }

  package var tasks: [Task] = []
  /// Names of matrices, with their tasks, which must be consecutive.
  package var matrixGroups: [(name: String, instances: [String])] = []
  package var resources: [(String, UInt64)] = []

  package init(
    tasks: [Task] = [], matrixGroups: [(name: String, instances: [String])] = [],
    resources: [(String, UInt64)] = []
  ) {
    self.tasks = tasks
    self.matrixGroups = matrixGroups
    self.resources = resources
  }

  package mutating func add(
    _ name: String, needs: [String] = [], on: NeedCondition = .success,
    _ change: (inout Task) -> Void = { _ in }
  ) {
    var task = Task(name: name)
    task.needs = needs.map { ($0, on) }
    change(&task)
    tasks.append(task)
  }

  package mutating func addService(
    _ name: String, needs: [String] = [], restarts: UInt32 = 0,
    _ change: (inout Task) -> Void = { _ in }
  ) {
    add(name, needs: needs) {
      var service = ServiceEntry(.none)
      service.restarts = restarts
      $0.service = service
      $0.demand = []
      change(&$0)
    }
  }

  /// Adds a task that makes the tasks of the matrix with its name.
  package mutating func addInstanceMaker(_ name: String, needs: [String] = []) {
    add(name, needs: needs) {
      $0.kind = .command
      $0.flags = [.emptyMatrix, .control]
    }
  }

  /// Adds a matrix with its tasks.
  package mutating func addMatrixGroup(
    _ name: String, instances: [String], _ change: (inout Task) -> Void = { _ in }
  ) {
    matrixGroups.append((name, instances))
    for instance in instances { add(instance, needs: []) { change(&$0) } }
  }

  package mutating func addDownload(_ name: String) {
    add(name) {
      $0.kind = .download
      $0.demand = [(2, 1)]
    }
  }

  package func make() throws -> Plan {
    let plan = try Plan(copying: bytes())
    try plan.validate()
    return plan
  }

  /// - Parameter change: adds to the builder.
  package func bytes(_ change: (inout PlanBuilder) -> Void = { _ in }) throws -> [UInt8] {
    var builder = PlanBuilder()
    for (name, capacity) in [("cpu", 0), ("memory", 0), ("download", 0)] + resources {
      builder.resources.append(
        ResourceEntry(name: builder.intern(name), capacity: UInt64(capacity)))
    }
    var ids: [String: TaskID] = [:]
    for task in tasks {
      var entry = TaskEntry(name: builder.intern(task.name), kind: task.kind)
      entry.flags = task.flags
      entry.priority = task.priority
      entry.record.script = builder.intern(task.script)
      entry.record.shell = builder.list([builder.intern("/bin/sh"), builder.intern("-ec")])
      entry.record.directory = builder.intern("/")
      entry.record.processes.isLocal = task.isLocal
      if let style = task.jobserver { entry.record.processes[.jobserver] = UInt64(style.rawValue) }
      if task.kind == .download {
        let sources = builder.list([builder.intern("http://localhost/\(task.name)")])
        let target = builder.intern("/\(task.name)")
        entry.record.download = builder.download(DownloadEntry(target: target, sources: sources))
      }
      if let service = task.service {
        entry.flags.insert(.service)
        entry.record.service = builder.service(service)
      }
      var policy = task.policy
      policy.retryCodes = builder.codes(task.retryCodes)
      entry.policy = builder.policy(policy)
      entry.record.allowedCodes = builder.codes(task.allowed)
      entry.demand = builder.demand(
        task.demand.map { DemandItem(resource: $0.0, amount: $0.1) })
      var hasher = FingerprintHasher()
      hasher.add(UInt64(Hash.xxh3(Array(task.script.utf8))))
      hasher.end(.run)
      entry.fingerprint = hasher.finish()
      if let place = task.needs.firstIndex(where: { $0.0 == task.decidedBy }) {
        builder.decide(&entry, byNeed: place)
      }
      let id = builder.add(entry)
      ids[task.name] = id
      builder.declare(
        id, inputs: task.inputs?.map { Self.item($0, &builder) },
        outputs: task.outputs.map { Self.item($0, &builder) })
    }
    for task in tasks {
      for (need, condition) in task.needs {
        guard let id = ids[need] else { throw Problem.unknownNeed(need) }
        builder.addNeed(id, on: condition)
      }
      for (need, condition) in task.outerNeeds {
        builder.addOuterNeed(builder.intern(need), on: condition)
      }
      builder.endNeeds()
    }
    for (name, instances) in matrixGroups {
      builder.addMatrixGroup(
        builder.intern(name), firstTask: ids[instances[0]] ?? .none, instanceCount: instances.count,
        axes: [builder.intern("n")], values: instances.map { builder.intern($0) })
    }
    change(&builder)
    let manifest = ManifestEntry(
      name: builder.intern("test"), description: .empty, folder: builder.intern("/"),
      maxParallel: 0, maxFailures: 1, usesRunID: false)
    switch builder.finish(manifest: manifest, key: PlanKey(high: 1, low: 2)) {
    case .plan(let bytes): return bytes
    case .cycle(let cycle): throw Problem.cycle(cycle)
    }
  }

  private static func item(_ input: InputEntry, _ builder: inout PlanBuilder) -> DeclaredItem {
    switch input {
    case .path(let path): DeclaredItem(.path, text: builder.intern(path))
    case .glob(let pattern): DeclaredItem(.glob, text: builder.intern(pattern))
    case .environment(let name): DeclaredItem(.environment, text: builder.intern(name))
    case .command(let words):
      DeclaredItem(words: builder.list(words.map { builder.intern($0) }))
    }
  }

  private static func item(_ output: OutputEntry, _ builder: inout PlanBuilder) -> DeclaredItem {
    switch output {
    case .path(let path): DeclaredItem(.path, text: builder.intern(path))
    case .glob(let pattern): DeclaredItem(.glob, text: builder.intern(pattern))
    }
  }

  package enum Problem: Error { case unknownNeed(String), cycle([TaskID]) }
}

extension PlanBuilder {
  /// Makes the value of a dependency the `if` of a task.
  ///
  /// - Parameter place: the index among the task's dependencies.
  package mutating func decide(_ entry: inout TaskEntry, byNeed place: Int) {
    let program = steps([LateStep(.value, text: intern("v"), first: place, count: 1)])
    entry.record.late = late([LateItem(.condition, program: program)])
    entry.flags.formUnion([.lateCondition, .readsValues])
  }
}
