import OpflowCore

/// A plan of tasks that need each other as said, for tests of journal, recovery and resume.
struct TestPlan {
  struct Task {
    var name: String
    var needs: [(String, NeedCondition)] = []
    var flags: TaskFlags = []
    var fingerprint: UInt64 = 1
  }

  struct Unsound: Error {}

  static func make(_ tasks: [Task]) throws -> Plan {
    var builder = PlanBuilder()
    let policy = builder.policy(TaskPolicy())
    var ids: [String: TaskID] = [:]
    for task in tasks {
      var entry = TaskEntry(name: builder.intern(task.name), kind: .shell)
      entry.flags = task.flags
      entry.policy = policy
      entry.fingerprint = Fingerprint(whole: task.fingerprint, parts: task.fingerprint & 255)
      ids[task.name] = builder.add(entry)
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

  static func make(names: [String]) throws -> Plan {
    try make(names.map { Task(name: $0) })
  }
}

extension Plan {
  func id(_ name: String) throws -> TaskID {
    guard let id = task(named: name) else { throw TestPlan.Unsound() }
    return id
  }
}

extension OpenEntry {
  static let example = OpenEntry(
    run: "20260101-000000-abcd", planKey: String(repeating: "0", count: 32), opflowVersion: "0.1.0",
    manifestPath: "/home/someone/opflow.yaml", folder: "/home/someone")
}
