/// What a plan holds of a task besides what it is scheduled by: one record of fixed size as it stands
/// in the file, filled by who compiles the task and read by who runs or shows it.
///
/// A key of a task comes to be a field here, with a line in `Plan.isSound` where it refers to
/// something; one that its worker heeds, and that is a number, a size or a yes or no, a `ProcessRule`, and one that is a
/// text or several a `TaskText`.
package struct PlanRecord: Hashable, Sendable, BitwiseCopyable {
  /// The script of a `shell` action; of an `approve` action, the question.
  package var script = TextRef.empty
  /// Absolute.
  package var directory = TextRef.empty
  /// The words of a `command` action.
  package var words: ListIndex = 0
  /// What a `download` action fetches: a number that the builder gave.
  package var download: UInt32 = 0
  /// The words before the script of a `shell` action.
  package var shell: ListIndex = 0
  /// A number that the builder gave.
  package var environment: UInt32 = 0
  /// Code list: exit codes that are failures which `allow_failure` covers.
  package var allowedCodes: UInt32 = 0
  /// What is evaluated when the task starts: a number that the builder gave.
  package var late: UInt32 = 0
  /// Of the manifest, or of the file that it includes and that the task stands in: where it begins, from 1; 0
  /// where that is not known.
  package var line: UInt32 = 0
  /// That file, as the one text of a list; empty for the manifest itself.
  package var file: ListIndex = 0

  /// What it says in texts that are no part of what it does.
  package var texts = TaskTexts()
  /// What its processes are given, and held to.
  package var processes = ProcessRules()

  package init() {}

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
