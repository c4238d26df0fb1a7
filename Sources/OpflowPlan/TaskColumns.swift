internal import OpflowBase

/// A plan's tasks while they are collected.
struct TaskColumns {
  private(set) var name: [TextRef] = []
  private var kind: [UInt8] = []
  private var flags: [UInt16] = []
  private var priority: [Int16] = []
  private var policy: [UInt32] = []
  private var demand: [UInt32] = []
  private var fingerprint: [Fingerprint] = []
  private var record: [PlanRecord] = []

  mutating func reserve(_ count: Int) {
    name.reserveCapacity(count)
    kind.reserveCapacity(count)
    flags.reserveCapacity(count)
    priority.reserveCapacity(count)
    policy.reserveCapacity(count)
    demand.reserveCapacity(count)
    fingerprint.reserveCapacity(count)
    record.reserveCapacity(count)
  }

  mutating func append(_ task: TaskEntry) {
    name.append(task.name)
    kind.append(task.kind.rawValue)
    flags.append(task.flags.rawValue)
    priority.append(task.priority)
    policy.append(task.policy)
    demand.append(task.demand)
    fingerprint.append(task.fingerprint)
    record.append(task.record)
  }

  mutating func mark(_ task: TaskID, _ marks: TaskFlags) { flags[task.index] |= marks.rawValue }

  func isService(_ task: Int) -> Bool {
    TaskFlags(rawValue: flags[task]).contains(.service)
  }

  func service(_ task: Int) -> Int { Int(record[task].service) }

  func fingerprint(_ task: Int) -> Fingerprint { fingerprint[task] }

  /// Mixes in the definitions of the task's services.
  mutating func combine(_ task: Int, with digest: UInt64) {
    fingerprint[task].whole = Hash.combine(fingerprint[task].whole, digest)
    fingerprint[task].parts ^= (digest & 255) << (Fingerprint.Part.needs.rawValue * 8)
  }

  /// One by one: a million tasks must not be in memory twice.
  mutating func move(to writer: inout PlanWriter) {
    writer.move(.taskName, &name)
    writer.move(.taskKind, &kind)
    writer.move(.taskFlags, &flags)
    writer.move(.taskPriority, &priority)
    writer.move(.taskPolicy, &policy)
    writer.move(.taskDemand, &demand)
    writer.move(.taskFingerprint, &fingerprint)
    writer.move(.taskRecord, &record)
  }
}
