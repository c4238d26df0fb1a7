/// What else is to be remembered of a task.
struct TaskMarks: OptionSet {
  var rawValue: UInt16
  /// `max_failures` does not hold it back.
  static let exempt = TaskMarks(rawValue: 1 << 0)
  /// Skipped because its needs could not be met; such a skip meets only `finished`.
  static let skippedUpstream = TaskMarks(rawValue: 1 << 1)
  /// A `finally` task that waits for one of its needs to have run in this drive.
  static let afterNeeds = TaskMarks(rawValue: 1 << 2)
  /// Ready, but nothing new starts: it is in no queue.
  static let held = TaskMarks(rawValue: 1 << 3)
  /// Waits for a retry's delay.
  static let delayed = TaskMarks(rawValue: 1 << 4)
  static let failsAtBegin = TaskMarks(rawValue: 1 << 5)
  static let skipsAtBegin = TaskMarks(rawValue: 1 << 6)
  /// A try of it came to an end in this drive, by itself or with its worker.
  static let ran = TaskMarks(rawValue: 1 << 7)
  /// An order about it waits to be decided: until then it does not start.
  static let fenced = TaskMarks(rawValue: 1 << 8)
  /// It was suspended by an order: it does not start, or stands still.
  static let onHold = TaskMarks(rawValue: 1 << 9)
  /// It runs, and an order cancelled it: whatever it ends with, it is not tried again.
  static let cancelling = TaskMarks(rawValue: 1 << 10)
}

/// The tasks and their needs: the state of each, how many needs of each are still open, and what
/// follows for others when one has ended. One entry of a column for each task, hot state only;
/// everything else is read from the plan.
struct TaskGraph {
  /// What followed for a task from the end of another.
  enum Change {
    /// It waits for nothing any more.
    case ready(TaskID)
    /// It was skipped for lack of that need.
    case skipped(TaskID, for: TaskID)
  }

  let plan: Plan
  private(set) var states: [UInt8]
  private var marks: [TaskMarks]
  /// Tasks whose end is of an earlier drive, and those that are no part of this one; nil for none.
  private(set) var endedBefore: TaskSet?
  private(set) var leftOut: TaskSet?
  /// Edges that are not met yet, and one more for a `finally` task until its phase.
  private var unmet: [Int32]
  /// What followed from ends and is still to be acted on, in order.
  private(set) var changes: [Change] = []
  /// Reused: what ended and is still to be told to its dependents.
  private var ended: [TaskID] = []
  /// Tasks that stay failed since an earlier drive, which has counted them.
  private(set) var earlierFailures = 0
  /// Tasks that `--only` or `--skip` leaves out of this drive and that are not done.
  private(set) var leftOpen = 0

  /// - Parameter initial: how each task enters; one entry a task.
  init(plan: Plan, initial: [InitialState]) {
    precondition(initial.count == plan.taskCount)
    self.plan = plan
    states = Array(repeating: TaskState.waiting.rawValue, count: plan.taskCount)
    marks = Array(repeating: [], count: plan.taskCount)
    unmet = Array(repeating: 0, count: plan.taskCount)
    for index in plan.tasks { enter(TaskID(index), as: initial[index]) }
  }

  private mutating func enter(_ task: TaskID, as initial: InitialState) {
    let index = task.index
    switch initial {
    case .run: break
    case .interrupted: marks[index] = .failsAtBegin
    case .skipOption: marks[index] = .skipsAtBegin
    case .afterNeeds: marks[index] = .afterNeeds
    case .skipOnce:
      marks[index] = .skipsAtBegin
      leftOpen += 1
    case .succeeded, .leftDone: states[index] = TaskState.succeeded.rawValue
    case .upToDate: states[index] = TaskState.upToDate.rawValue
    case .failedAllowed: states[index] = TaskState.failedAllowed.rawValue
    case .skipped, .excluded: states[index] = TaskState.skipped.rawValue
    case .skippedUpstream, .leftUpstream:
      states[index] = TaskState.skipped.rawValue
      marks[index] = .skippedUpstream
    case .failed, .leftFailed:
      states[index] = TaskState.failed.rawValue
      earlierFailures += 1
    case .leftOpen:
      states[index] = TaskState.skipped.rawValue
      leftOpen += 1
    }
    if initial.isLeftOut { Self.insert(task, into: &leftOut, plan) }
    if state(task).isTerminal { Self.insert(task, into: &endedBefore, plan) }
    unmet[index] = Int32(truncatingIfNeeded: plan.needs(task).count)
    if plan.flags(task).contains(.finally) { unmet[index] += 1 }
  }

  private static func insert(_ task: TaskID, into set: inout TaskSet?, _ plan: Plan) {
    if set == nil { set = TaskSet(taskCount: plan.taskCount) }
    set?.insert(task)
  }

  // MARK: - States and marks

  func state(_ task: TaskID) -> TaskState {
    TaskState(rawValue: states[task.index]) ?? .waiting
  }

  /// The one place where a state changes.
  mutating func set(_ task: TaskID, _ next: TaskState) {
    let current = state(task)
    precondition(current.canBecome(next), "illegal transition from \(current) to \(next)")
    states[task.index] = next.rawValue
  }

  func has(_ mark: TaskMarks, _ task: TaskID) -> Bool { marks[task.index].contains(mark) }

  mutating func mark(_ task: TaskID, _ mark: TaskMarks) { marks[task.index].insert(mark) }

  mutating func unmark(_ task: TaskID, _ mark: TaskMarks) { marks[task.index].remove(mark) }

  func unmetNeeds(of task: TaskID) -> Int32 { unmet[task.index] }

  // MARK: - Ends

  /// Whether the drive's beginning settles the task by itself: its needs then decide nothing.
  func hasOwnFate(_ task: TaskID) -> Bool {
    !marks[task.index].isDisjoint(with: [.failsAtBegin, .skipsAtBegin])
      || plan.flags(task).contains(.conditionFalse)
  }

  /// It waits for nothing any more.
  mutating func becomeReady(_ task: TaskID) {
    set(task, .ready)
    marks[task.index].remove(.delayed)
  }

  /// Lets a task's end spread: needs met, needs that can no longer be met, and so on down. Iterative,
  /// so that a chain of a million skips is no deeper than one.
  ///
  /// - Parameter isStopping: what was to follow a task that a stop cut short waits for the resume, as
  ///   that task does.
  mutating func spread(from first: TaskID, isStopping: Bool) {
    ended.append(first)
    while let need = ended.popLast() {
      let needState = state(need)
      let isUpstream = marks[need.index].contains(.skippedUpstream)
      let isCutShort = needState == .cancelled && isStopping
      for edge in plan.dependents(need) {
        let dependent = TaskID(plan.dependentTargets[edge])
        // One that is between two tries has had all that it needs, whatever becomes of that since.
        guard state(dependent) == .waiting, !marks[dependent.index].contains(.delayed) else {
          continue
        }
        if isCutShort, !plan.flags(dependent).contains(.finally) { continue }
        if needState.meets(plan.dependentCondition(edge), skippedUpstream: isUpstream) {
          unmet[dependent.index] -= 1
          if unmet[dependent.index] == 0, !hasOwnFate(dependent) { release(dependent) }
        } else if !hasOwnFate(dependent) {
          skip(dependent, for: need)
        }
      }
    }
  }

  /// All needs of a task have their end.
  private mutating func release(_ task: TaskID) {
    if let idle = noNeedRan(task) {
      skip(task, for: idle)
    } else {
      becomeReady(task)
      changes.append(.ready(task))
    }
  }

  /// For lack of a need; it spreads with what else has ended.
  private mutating func skip(_ task: TaskID, for need: TaskID) {
    set(task, .skipped)
    marks[task.index].insert(.skippedUpstream)
    changes.append(.skipped(task, for: need))
    ended.append(task)
  }

  // MARK: - Trying again

  /// Takes tasks out of the end that this drive saw, to be tried again, and what was skipped for want of
  /// them. What waits for them waits anew; what ran after their end stays.
  ///
  /// - Parameter tasks: none of which lacks a need (`lacksNeed`).
  /// - Returns: what was skipped and waits again; in topological order.
  mutating func reopen(_ tasks: [TaskID]) -> [TaskID] {
    for task in tasks { reopen(task) }
    var back: [TaskID] = []
    for task in skippedForWant(of: tasks) where !lacksNeed(task) {
      reopen(task)
      back.append(task)
    }
    for task in tasks + back {
      for edge in plan.dependents(task) {
        let dependent = TaskID(plan.dependentTargets[edge])
        if isPending(dependent) { countNeeds(of: dependent) }
      }
    }
    for task in tasks + back {
      countNeeds(of: task)
      if unmet[task.index] == 0 { release(task) }
    }
    return back
  }

  private mutating func reopen(_ task: TaskID) {
    precondition(state(task).mayBeRetried, "a task was to be retried that is \(state(task))")
    states[task.index] = TaskState.waiting.rawValue
    marks[task.index].subtract([.skippedUpstream, .failsAtBegin, .onHold, .cancelling])
  }

  /// It did not begin in this drive and has no end.
  func isPending(_ task: TaskID) -> Bool {
    let state = state(task)
    return (state == .waiting || state == .ready)
      && marks[task.index].isDisjoint(with: [.ran, .delayed])
  }

  /// Counts its needs anew. One that was ready waits again where one of them is open.
  private mutating func countNeeds(of task: TaskID) {
    var open: Int32 = plan.flags(task).contains(.finally) ? 1 : 0
    for edge in plan.needs(task) where !state(TaskID(plan.needTargets[edge])).isTerminal {
      open += 1
    }
    unmet[task.index] = open
    if open > 0, state(task) == .ready {
      set(task, .waiting)
      marks[task.index].remove(.held)
    }
  }

  /// Whether one of its needs has an end that rules it out.
  func lacksNeed(_ task: TaskID) -> Bool {
    plan.needs(task).contains { edge in
      let need = TaskID(plan.needTargets[edge])
      return state(need).isTerminal
        && !state(need).meets(
          plan.needCondition(edge), skippedUpstream: marks[need.index].contains(.skippedUpstream))
    }
  }

  /// What was skipped in this drive for want of these tasks, directly or by others of them; in
  /// topological order.
  func skippedForWant(of tasks: [TaskID]) -> [TaskID] {
    var found: Set<TaskID> = []
    var open = tasks
    while let task = open.popLast() {
      for edge in plan.dependents(task) {
        let dependent = TaskID(plan.dependentTargets[edge])
        guard state(dependent) == .skipped, marks[dependent.index].contains(.skippedUpstream),
          endedBefore?.contains(dependent) != true, found.insert(dependent).inserted
        else { continue }
        open.append(dependent)
      }
    }
    if found.isEmpty { return [] }
    return plan.topologicalOrder.lazy.map { TaskID($0) }.filter { found.contains($0) }
  }

  /// Whether a `finally` task waits for its turn.
  var hasOpenFinally: Bool {
    plan.tasks.contains {
      plan.flags(TaskID($0)).contains(.finally) && state(TaskID($0)) == .waiting
    }
  }

  /// All changes have been acted on.
  mutating func removeChanges() { changes.removeAll(keepingCapacity: true) }

  /// The first need of a `finally` task of named tasks none of whose needs ran, once all of them have
  /// their end; nil for others.
  private func noNeedRan(_ task: TaskID) -> TaskID? {
    guard marks[task.index].contains(.afterNeeds) else { return nil }
    let needs = plan.needs(task)
    let ran = needs.contains { marks[Int(plan.needTargets[$0])].contains(.ran) }
    return ran ? nil : needs.first.map { TaskID(plan.needTargets[$0]) }
  }

  /// Lets `finally` tasks go. A need of theirs that never ran meets `finished`, since the others
  /// are at their end, and nothing else.
  mutating func openFinally() {
    for position in 0..<plan.taskCount {
      let task = TaskID(plan.topologicalOrder[position])
      guard plan.flags(task).contains(.finally), state(task) == .waiting else { continue }
      var missed = TaskID.none
      for edge in plan.needs(task) {
        let need = TaskID(plan.needTargets[edge])
        if state(need).isTerminal || plan.flags(need).contains(.finally) { continue }
        if plan.needCondition(edge) == .finished {
          unmet[task.index] -= 1
        } else {
          missed = need
        }
      }
      if !missed.isNone {
        skip(task, for: missed)
        if let first = ended.popLast() { spread(from: first, isStopping: false) }
        continue
      }
      unmet[task.index] -= 1
      guard unmet[task.index] == 0 else { continue }
      release(task)
      if let first = ended.popLast() { spread(from: first, isStopping: false) }
    }
  }

  // MARK: - Exemption from `max_failures`

  /// `max_failures` no longer holds back a task, nor anything that it needs.
  ///
  /// - Returns: those that it held back until now.
  mutating func exempt(_ first: TaskID) -> [TaskID] {
    guard needsExemption(first) else { return [] }
    var exempted: [TaskID] = []
    var open = [first]
    marks[first.index].insert(.exempt)
    while let task = open.popLast() {
      exempted.append(task)
      for edge in plan.needs(task) {
        let need = TaskID(plan.needTargets[edge])
        if needsExemption(need) {
          marks[need.index].insert(.exempt)
          open.append(need)
        }
      }
    }
    return exempted
  }

  /// `max_failures` holds back whatever it did at first.
  mutating func endExemption() {
    for index in marks.indices { marks[index].remove(.exempt) }
  }

  private func needsExemption(_ task: TaskID) -> Bool {
    !marks[task.index].contains(.exempt) && !state(task).isTerminal
  }
}
