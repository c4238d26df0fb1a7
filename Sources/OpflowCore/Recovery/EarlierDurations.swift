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
    missing = plan.taskCount
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
    var position = 0
    while position < bytes.count {
      let end = bytes.position(of: Field.lineFeed, from: position)
      if Self.mayBeEnd(bytes, position, end), let line = JournalLine(bytes.part(position, end)) {
        apply(line)
      }
      position = end + 1
    }
  }

  package func durations() -> TaskDurations { TaskDurations(measured: measured, plan: plan) }

  /// A look at the event before the checksum is worth its time: most lines tell no end.
  @inline(__always)
  private static func mayBeEnd(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ end: Int) -> Bool {
    guard end - start > 12 else { return false }
    let sequenceEnd = bytes.position(of: Field.tab, from: start + 9)
    // Milliseconds have 13 digits from 2001 to 2286.
    var timeEnd = sequenceEnd + 14
    guard timeEnd + 2 < end else { return false }
    if bytes[timeEnd] != Field.tab {
      timeEnd = bytes.position(of: Field.tab, from: sequenceEnd + 1)
      guard timeEnd + 2 < end else { return false }
    }
    let first = bytes[timeEnd + 1]
    return first == UInt8(ascii: "f")
      || first == UInt8(ascii: "s") && bytes[timeEnd + 2] == UInt8(ascii: "u")
  }

  private mutating func apply(_ line: JournalLine) {
    guard case .transition(let event) = line.event, event == .success || event == .failure,
      let task = names.task(line.task, plan: plan)
    else { return }
    var wall: Int64 = -1
    var isFailure = event == .failure
    for field in line.fields {
      if field.key.equals("wall") {
        wall = field.natural
      } else if isFailure, field.key.equals("allowed") {
        isFailure = !field.value.equals("1")
      }
      if wall >= 0, !isFailure { break }
    }
    if wall >= 0 { note(task, wall, isFailure: isFailure) }
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
