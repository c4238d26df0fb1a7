/// The properties of a task that the scheduler does not read, as a record in the file.
///
/// A new key of a task is a field here, with a check in `Plan.isSound` if it is a reference.
/// Numbers, sizes and flags for the worker are `ProcessRule`s, strings are `TaskText`s.
package struct PlanRecord: Hashable, Sendable, BitwiseCopyable {
  /// The script of a `shell` action, or the question of an approval.
  package var script = TextRef.empty
  /// An absolute path.
  package var directory = TextRef.empty
  /// The words of a `command` action.
  package var words: ListIndex = 0
  /// The index of a download's entry.
  package var download: UInt32 = 0
  /// The words before the script of a `shell` action.
  package var shell: ListIndex = 0
  /// The index of an `EnvironmentEntry`.
  package var environment: UInt32 = 0
  /// The list of exit codes that `allow_failure` covers.
  package var allowedCodes: UInt32 = 0
  /// The list of late items.
  package var late: UInt32 = 0
  /// The first line of the task in its file, from 1; 0 if unknown.
  package var line: UInt32 = 0
  /// A list with the path of the file; empty for the manifest itself.
  package var file: ListIndex = 0

  /// Strings that do not change what the task does.
  package var texts = TaskTexts()
  /// Limits and settings of its processes.
  package var processes = ProcessRules()

  package init() {}

  /// The index of a service's entry. It shares the field with `download`, since a service is never
  /// a download.
  package var service: UInt32 {
    get { download }
    set { download = newValue }
  }
}

/// One task for the builder: its scheduling properties and its record.
package struct TaskEntry: Sendable {
  package var name: TextRef
  package var kind: ActionKind
  package var flags: TaskFlags = []
  package var priority: Int16 = 0
  /// Indexes that the builder returned.
  package var policy: UInt32 = 0
  package var demand: UInt32 = 0
  package var fingerprint = Fingerprint(whole: 0, parts: 0)
  package var record = PlanRecord()

  package init(name: TextRef, kind: ActionKind) {
    self.name = name
    self.kind = kind
  }
}
