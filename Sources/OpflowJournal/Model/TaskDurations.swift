internal import OpflowBase
package import OpflowPlan

/// The expected duration of each task, from earlier runs (`EarlierDurations`). An unknown task gets
/// the median of its matrix, else of all known tasks. Without known tasks, each takes one unit.
package struct TaskDurations: Sendable {
  /// Per task; empty if no task is known.
  private var microseconds: [Int64]
  /// Per task; empty if no task or all tasks are known.
  private var guessed: [Bool]
  private var guessOfAdded: Int64?
  package let knownCount: Int

  package static let unknown = TaskDurations(microseconds: [], guessed: [], knownCount: 0)

  /// A year per task, so that sums do not overflow.
  package static let limitMicroseconds: Int64 = 365 * 86_400 * 1_000_000

  private init(microseconds: [Int64], guessed: [Bool], knownCount: Int) {
    self.microseconds = microseconds
    self.guessed = guessed
    self.knownCount = knownCount
  }

  /// `measured` is negative if unknown.
  package init(measured: [Int64], plan: Plan) {
    precondition(measured.count == plan.taskCount)
    let knownCount = measured.count { $0 >= 0 }
    if knownCount == 0 {
      self = .unknown
      return
    }
    var microseconds = measured
    var guessed: [Bool] = []
    if knownCount < measured.count {
      guessed = measured.map { $0 < 0 }
      let guess = DurationGuess(measured: measured, plan: plan)
      for task in plan.tasks where measured[task] < 0 {
        microseconds[task] = guess.microseconds(of: TaskID(task), plan: plan)
      }
    }
    // A person's response time is unknown.
    if plan.hasApprovals {
      for task in plan.tasks where plan.kind(TaskID(task)) == .approve {
        microseconds[task] = 0
        if !guessed.isEmpty { guessed[task] = false }
      }
    }
    // Of two tasks without duration, the one with the longer path after it starts first.
    for task in plan.tasks {
      microseconds[task] = min(max(microseconds[task], 1), Self.limitMicroseconds)
    }
    self.init(microseconds: microseconds, guessed: guessed, knownCount: knownCount)
  }

  package mutating func grow(to plan: Plan) {
    let count = microseconds.count
    if count == 0 || count >= plan.taskCount { return }
    if guessed.isEmpty { guessed = [Bool](repeating: false, count: count) }
    // Computed once, since tasks may be added often.
    let guess = guessOfAdded ?? microseconds.sorted()[count / 2]
    guessOfAdded = guess
    for task in count..<plan.taskCount {
      let isApproval = plan.kind(TaskID(task)) == .approve
      microseconds.append(isApproval ? 1 : guess)
      guessed.append(!isApproval)
    }
  }

  package var areKnown: Bool { knownCount > 0 }

  /// At least 1.
  @inline(__always) package subscript(task: TaskID) -> Int64 {
    microseconds.isEmpty ? 1 : microseconds[task.index]
  }

  package func isGuess(_ task: TaskID) -> Bool {
    if microseconds.isEmpty { return true }
    return guessed.isEmpty ? false : guessed[task.index]
  }
}

private struct DurationGuess {
  private let median: Int64
  private let matrixGroups: [UInt64: Int64]

  init(measured: [Int64], plan: Plan) {
    median = Self.median(measured.filter { $0 >= 0 }) ?? 1
    var members: [UInt64: [Int64]] = [:]
    for task in plan.tasks where measured[task] < 0 {
      if let matrixGroup = Self.matrixGroup(of: TaskID(task), plan: plan) {
        members[matrixGroup] = []
      }
    }
    if !members.isEmpty {
      for task in plan.tasks where measured[task] >= 0 {
        guard let matrixGroup = Self.matrixGroup(of: TaskID(task), plan: plan) else { continue }
        members[matrixGroup]?.append(measured[task])
      }
    }
    matrixGroups = members.compactMapValues(Self.median)
  }

  func microseconds(of task: TaskID, plan: Plan) -> Int64 {
    Self.matrixGroup(of: task, plan: plan).flatMap { matrixGroups[$0] } ?? median
  }

  private static func median(_ values: [Int64]) -> Int64? {
    values.isEmpty ? nil : values.sorted()[values.count / 2]
  }

  private static func matrixGroup(of task: TaskID, plan: Plan) -> UInt64? {
    let name = plan.nameBytes(task)
    let end = name.position(of: UInt8(ascii: "["), from: 0)
    return end < name.count ? Hash.xxh3(name.part(0, end)) : nil
  }
}

/// The durations of tasks in earlier runs, read newest run first. Matched by ID: an edited command
/// usually takes about as long. The last end in the newest run counts; a failure only until a
/// success is found.
package struct EarlierDurations {
  private let plan: Plan
  private var names = NameGuesses()
  /// Per task; -1 if unknown.
  private var measured: [Int64]
  /// Per task: the journal of `measured`, and whether the task failed.
  private var sources: [Source]
  private var journal: UInt16 = 0
  /// Tasks without a success so far.
  private var missing: Int

  private struct Source: Equatable {
    var journal: UInt16 = 0
    var isFailure = true
  }

  package init(plan: Plan) {
    self.plan = plan
    measured = [Int64](repeating: -1, count: plan.taskCount)
    sources = [Source](repeating: Source(), count: plan.taskCount)
    missing = plan.taskCount - plan.approvalCount
  }

  /// Older runs cannot add anything.
  package var isComplete: Bool { missing == 0 }

  /// Bounds what is read before a run. A task has two lines in a run, about 300 bytes.
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
    if plan.hasApprovals, plan.kind(task) == .approve { return }
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
