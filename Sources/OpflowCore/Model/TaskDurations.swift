/// How long each task of a plan is taken to last.
///
/// What earlier runs say comes from their journals (`EarlierDurations`). A task that they do not know
/// is taken for the median of its matrix family, else of all that is known. Where nothing is known of
/// any task, each counts as one unit, so that paths are as long as they have tasks.
package struct TaskDurations: Sendable {
  /// By task, in microseconds; empty while nothing is known.
  private var microseconds: [Int64]
  /// By task; empty while nothing or everything is known.
  private var guessed: [Bool]
  /// What tasks are taken for that are added; nil before the first are.
  private var guessOfAdded: Int64?
  /// Tasks that an earlier run timed.
  package let knownCount: Int

  /// Nothing is known of any task.
  package static let unknown = TaskDurations(microseconds: [], guessed: [], knownCount: 0)

  /// The longest a task is taken for, so that sums over a plan stay within their type: a year.
  static let limitMicroseconds: Int64 = 365 * 86_400 * 1_000_000

  private init(microseconds: [Int64], guessed: [Bool], knownCount: Int) {
    self.microseconds = microseconds
    self.guessed = guessed
    self.knownCount = knownCount
  }

  /// - Parameter measured: by task, in microseconds; negative where nothing is known.
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
    // What people take to answer nobody can know.
    if plan.hasGates {
      for task in plan.tasks where plan.kind(TaskID(task)) == .approve {
        microseconds[task] = 0
        if !guessed.isEmpty { guessed[task] = false }
      }
    }
    // Of two tasks that take no time the one with the longer way behind it is still to start first.
    for task in plan.tasks {
      microseconds[task] = min(max(microseconds[task], 1), Self.limitMicroseconds)
    }
    self.init(microseconds: microseconds, guessed: guessed, knownCount: knownCount)
  }

  /// Tasks were added to the plan, of which nothing is known: each is taken for the median of the others.
  package mutating func grow(to plan: Plan) {
    let count = microseconds.count
    if count == 0 || count >= plan.taskCount { return }
    if guessed.isEmpty { guessed = [Bool](repeating: false, count: count) }
    // Once: there may be many thousands, and more are added again and again.
    let guess = guessOfAdded ?? microseconds.sorted()[count / 2]
    guessOfAdded = guess
    for task in count..<plan.taskCount {
      let isGate = plan.kind(TaskID(task)) == .approve
      microseconds.append(isGate ? 1 : guess)
      guessed.append(!isGate)
    }
  }

  /// Whether an earlier run timed any task; else `subscript` gives units, not microseconds.
  package var areKnown: Bool { knownCount > 0 }

  /// Microseconds, at least one; or one unit where nothing is known.
  @inline(__always)
  package subscript(task: TaskID) -> Int64 {
    microseconds.isEmpty ? 1 : microseconds[task.index]
  }

  /// Whether it is a guess, since no earlier run timed this task.
  package func isGuess(_ task: TaskID) -> Bool {
    if microseconds.isEmpty { return true }
    return guessed.isEmpty ? false : guessed[task.index]
  }
}

/// What a task that no earlier run knows is taken for.
private struct DurationGuess {
  private let median: Int64
  /// By the hash of the name before the bracket.
  private let families: [UInt64: Int64]

  init(measured: [Int64], plan: Plan) {
    median = Self.median(measured.filter { $0 >= 0 }) ?? 1
    // Only families that have a task nothing is known of.
    var members: [UInt64: [Int64]] = [:]
    for task in plan.tasks where measured[task] < 0 {
      if let family = Self.family(of: TaskID(task), plan: plan) { members[family] = [] }
    }
    if !members.isEmpty {
      for task in plan.tasks where measured[task] >= 0 {
        guard let family = Self.family(of: TaskID(task), plan: plan) else { continue }
        members[family]?.append(measured[task])
      }
    }
    families = members.compactMapValues(Self.median)
  }

  func microseconds(of task: TaskID, plan: Plan) -> Int64 {
    Self.family(of: task, plan: plan).flatMap { families[$0] } ?? median
  }

  private static func median(_ values: [Int64]) -> Int64? {
    values.isEmpty ? nil : values.sorted()[values.count / 2]
  }

  /// Of `build[arch=arm,os=linux]`, that of `build`; nil for a task outside any matrix.
  private static func family(of task: TaskID, plan: Plan) -> UInt64? {
    let name = plan.nameBytes(task)
    let end = name.position(of: UInt8(ascii: "["), from: 0)
    return end < name.count ? Hash.xxh3(name.part(0, end)) : nil
  }
}
