/// What a plan holds of its tasks, while they are collected: a column for each thing that they are
/// scheduled by, and the records of the rest.
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

  /// The number of what a service has besides.
  func service(_ task: Int) -> Int { Int(record[task].service) }

  func fingerprint(_ task: Int) -> Fingerprint { fingerprint[task] }

  /// Makes a task's fingerprint one of its needs' definitions too.
  mutating func combine(_ task: Int, with digest: UInt64) {
    fingerprint[task].whole = Hash.combine(fingerprint[task].whole, digest)
    fingerprint[task].parts ^= (digest & 255) << (Fingerprint.Part.needs.rawValue * 8)
  }

  /// Moves the columns into the file: with a million tasks they are not to be there twice.
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
