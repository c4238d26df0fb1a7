/// What a plan holds of a task besides what it is scheduled by: one record of fixed size as it stands
/// in the file, filled by who compiles the task and read by who runs or shows it.
///
/// A key of a task comes to be a field here, with a line in `Plan.isSound` where it refers to
/// something.
package struct PlanRecord: Hashable, Sendable, BitwiseCopyable {
  /// The script of a `shell` action; of an `approve` action, the question.
  package var script = TextRef.empty
  /// Absolute.
  package var directory = TextRef.empty
  package var description = TextRef.empty
  /// The words of a `command` action.
  package var words: ListIndex = 0
  /// What a `download` action fetches: a number that the builder gave.
  package var download: UInt32 = 0
  /// The words before the script of a `shell` action.
  package var shell: ListIndex = 0
  /// Environment list.
  package var environment: UInt32 = 0
  /// Code list: exit codes that are failures which `allow_failure` covers.
  package var allowedCodes: UInt32 = 0
  package var tags: ListIndex = 0
  /// Names of those that it may know.
  package var secrets: ListIndex = 0
  /// What is evaluated when the task starts: a number that the builder gave.
  package var late: UInt32 = 0
  /// Of the manifest, or of the file that it includes and that the task stands in: where it begins, from 1; 0
  /// where that is not known.
  package var line: UInt32 = 0
  /// That file, as the one text of a list; empty for the manifest itself.
  package var file: ListIndex = 0

  /// What its processes are given, and held to: `JobserverStyle` in the lowest two bits, then whether they are to be
  /// on the coordinator's machine, and in the others the limit of memory in units of 128 KiB; 0 for none of each.
  private(set) var processes: UInt32 = 0

  package init() {}

  /// `JobserverStyle` of a task that has one; 0 for none.
  package var jobserver: UInt32 {
    get { processes & 3 }
    set { processes = processes & ~3 | newValue & 3 }
  }

  /// What it and all that it starts may use, in bytes; 0 for no limit. Kept rounded up, and at most 64 TiB.
  package var memoryLimitBytes: UInt64 {
    get { UInt64(processes >> 3) * Self.memoryUnitBytes }
    set {
      let (units, rest) = newValue.quotientAndRemainder(dividingBy: Self.memoryUnitBytes)
      let count = min(units + (rest > 0 ? 1 : 0), UInt64(UInt32.max >> 3))
      processes = processes & 7 | UInt32(count) << 3
    }
  }

  private static let memoryUnitBytes: UInt64 = 1 << 17

  /// `local: true`: it runs on the coordinator's machine wherever others do.
  package var isLocal: Bool {
    get { processes & 4 != 0 }
    set { processes = processes & ~4 | (newValue ? 4 : 0) }
  }

  /// How a service comes to be ready: a number that the builder gave. No service is a download, so that one
  /// field is enough.
  package var service: UInt32 {
    get { download }
    set { download = newValue }
  }
}

/// One task as it goes into a plan: what it is scheduled by, and the record of the rest.
package struct TaskEntry: Sendable {
  package var name: TextRef
  package var kind: ActionKind
  package var flags: TaskFlags = []
  package var priority: Int16 = 0
  /// Numbers that the builder gave.
  package var policy: UInt32 = 0
  package var demand: UInt32 = 0
  package var fingerprint = Fingerprint(whole: 0, parts: 0)
  package var record = PlanRecord()

  package init(name: TextRef, kind: ActionKind) {
    self.name = name
    self.kind = kind
  }
}
