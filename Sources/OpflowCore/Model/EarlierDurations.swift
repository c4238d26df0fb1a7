/// How long tasks took in earlier runs: a fold over the ends in their journals, newest run first.
///
/// A task is the same one in two runs of a manifest when its id is the same, whatever became of its
/// definition: an edited command mostly takes about as long as the one before, and the order of the
/// tasks needs no more than that. The newest run that tells of a task counts, in it the last end;
/// a failure counts until a run is found in which the task went well.
package struct EarlierDurations {
  private let plan: Plan
  private var names = NameGuesses()
  /// By task, in microseconds; -1 where nothing is known.
  private var measured: [Int64]
  /// By task: the journal that `measured` comes from, and whether from a failure.
  private var sources: [Source]
  private var journal: UInt16 = 0
  /// Tasks that no journal has told a good end of.
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

  /// Whether older runs have nothing to add.
  package var isComplete: Bool { missing == 0 }

  /// What reading journals may cost before a run: in all, so many bytes a task of the plan and some for
  /// any. A task has two lines in a run, of 300 bytes together.
  package static func byteLimit(taskCount: Int) -> Int { (1 << 20) + taskCount * 512 }

  /// Takes in the ends that a journal tells, of a run older than those before. The bytes may begin
  /// anywhere in it: what is no intact line is passed over.
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
    // How long people took to answer says nothing of the next time.
    if plan.hasGates, plan.kind(task) == .approve { return }
    let fields = TransitionFields(line)
    // Nor does how long it took to copy what another run left.
    if fields.isRestored { return }
    // A time of zero is not written.
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
