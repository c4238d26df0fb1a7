internal import OpflowBase
package import OpflowPlan

/// The durations of tasks in earlier runs, read newest run first.
///
/// Tasks are matched by ID: an edited command usually takes about as long. The last end in the
/// newest run counts; a failure only until a success is found.
package struct EarlierDurations {
  private let plan: Plan
  private var names = NameGuesses()
  /// Per task, in microseconds; -1 if unknown.
  private var measured: [Int64]
  /// Per task: the journal of `measured`, and whether the task failed.
  private var sources: [Source]
  private var journal: UInt16 = 0
  /// Without a success so far.
  private var missing: Int

  private struct Source: Equatable {
    var journal: UInt16 = 0
    var isFailure = true
  }

  package init(plan: Plan) {
    self.plan = plan
    measured = [Int64](repeating: -1, count: plan.taskCount)
    sources = [Source](repeating: Source(), count: plan.taskCount)
    missing = plan.taskCount - plan.gateCount
  }

  /// Older runs cannot add anything.
  package var isComplete: Bool { missing == 0 }

  /// For reading journals before a run. A task has two lines in a run, about 300 bytes.
  package static func byteLimit(taskCount: Int) -> Int { (1 << 20) + taskCount * 512 }

  /// The bytes may begin anywhere in an older journal.
  package mutating func read(_ bytes: UnsafeRawBufferPointer) {
    journal += 1
    guard let bytes = ByteWindow(bytes) else { return }
    var position = 0
    var numbers = LineNumbers()
    while position < bytes.count {
      var end = position
      if let line = JournalLine(in: bytes, at: position, end: &end, &numbers) { apply(line) }
      position = end + 1
    }
  }

  package func durations() -> TaskDurations { TaskDurations(measured: measured, plan: plan) }

  private mutating func apply(_ line: JournalLine) {
    guard case .transition(let event) = line.event, event == .success || event == .failure,
      let task = names.task(of: line, plan: plan)
    else { return }
    // A person's response time is not predictable.
    if plan.hasGates, plan.kind(task) == .approve { return }
    let fields = TransitionFields(line)
    if fields.isRestored { return }
    guard fields.end.usage.wallMicroseconds > 0 else { return }
    note(task, fields.end.usage.wallMicroseconds, isFailure: event == .failure && !fields.allowed)
  }

  private mutating func note(_ task: TaskID, _ wall: Int64, isFailure: Bool) {
    let source = sources[task.index]
    let isNewer = measured[task.index] < 0 || source.journal == journal
    guard isNewer && (!isFailure || source.isFailure) || source.isFailure && !isFailure else {
      return
    }
    if source.isFailure, !isFailure { missing -= 1 }
    measured[task.index] = wall
    sources[task.index] = Source(journal: journal, isFailure: isFailure)
  }
}
