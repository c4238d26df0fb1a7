/// The properties of a task that the scheduler does not read.
///
/// A new key is a field here, with a check in `Plan.isSound` if it is a reference. Numbers, sizes
/// and flags for the worker are `ProcessRule`s, strings are `TaskText`s.
package struct PlanRecord: Hashable, Sendable, BitwiseCopyable {
  /// The script of a `shell` action, or the question of an approval.
  package var script = TextRef.empty
  /// Absolute.
  package var directory = TextRef.empty
  package var words: ListIndex = 0
  package var download: UInt32 = 0
  /// The words before the script.
  package var shell: ListIndex = 0
  package var environment: UInt32 = 0
  package var allowedCodes: UInt32 = 0
  package var late: UInt32 = 0
  /// In its file, from 1; 0 if unknown.
  package var line: UInt32 = 0
  /// A list with the path; empty for the manifest itself.
  package var file: ListIndex = 0

  /// Do not change what the task does.
  package var texts = TaskTexts()
  package var processes = ProcessRules()

  package init() {}

  /// Shares the field with `download`, since a service is never a download.
  package var service: UInt32 {
    get { download }
    set { download = newValue }
  }
}

/// One task for the builder.
package struct TaskEntry: Sendable {
  package var name: TextRef
  package var kind: ActionKind
  package var flags: TaskFlags = []
  package var priority: Int16 = 0
  package var policy: UInt32 = 0
  package var demand: UInt32 = 0
  package var fingerprint = Fingerprint(whole: 0, parts: 0)
  package var record = PlanRecord()

  package init(name: TextRef, kind: ActionKind) {
    self.name = name
    self.kind = kind
  }
}
