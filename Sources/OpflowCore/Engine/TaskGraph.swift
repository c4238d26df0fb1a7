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
    /// It keeps the result of an earlier drive.
    case kept(TaskID)
    /// It does not, since that need ran again; `none` for a `finally` task.
    case taken(TaskID, for: TaskID)
  }

  /// How a task stands.
  private struct Standing {
    var state = TaskState.waiting
    var marks: TaskMarks = []
    /// Edges that are not met yet, and one more for a `finally` task until its phase.
    var unmet: Int32 = 0
  }

  private(set) var plan: Plan
  /// By task. One record each, so that all there is to say of one comes with a single look.
  private var standings: Table<Standing>
  /// Tasks whose end is of an earlier drive, and those that are no part of this one; nil for none.
  private(set) var endedBefore: TaskSet?
  private(set) var leftOut: TaskSet?
  /// What followed from ends and is still to be acted on, in order.
  private(set) var changes = Table<Change>()
  /// Reused: what ended and is still to be told to its dependents.
  private var ended = Table<TaskID>()
  /// Tasks that stay failed since an earlier drive, which has counted them.
  private(set) var earlierFailures = 0
  private(set) var earlierCancelled = 0
  /// Those that may be retried though they ended in an earlier drive.
  private var goneOnWith: TaskSet?
  /// Tasks that `--only` or `--skip` leaves out of this drive and that are not done.
  private(set) var leftOpen = 0
  /// What tasks have that may come to keep it.
  private var results: [TaskID: EarlierResult] = [:]
  /// `finally` tasks that keep what they have unless something starts.
  var finallyThatMayKeep: [TaskID] = []
  /// They were let go: what of the main part never ran has met their needs of it, or has not.
  private var isFinallyOpen = false
  /// An order took something out of its end.
  var wasReopened = false

  /// - Parameters:
  ///   - initial: how each task enters; one entry a task.
  ///   - results: what those have that may come to keep it.
  init(plan: Plan, initial: [InitialState], results: [TaskID: EarlierResult]) {
    precondition(initial.count == plan.taskCount)
    self.plan = plan
    standings = Table(repeating: Standing(), count: plan.taskCount)
    self.results = results
    for index in plan.tasks { enter(TaskID(index), as: initial[index]) }
  }

  private mutating func enter(_ task: TaskID, as initial: InitialState) {
    if initial != .run { note(initial, of: task) }
    standings[task.index].unmet = Int32(truncatingIfNeeded: plan.needs(task).count)
    if plan.flags(task).contains(.finally) {
      standings[task.index].unmet += 1
      if standings[task.index].marks.contains(.mayKeep) { finallyThatMayKeep.append(task) }
    }
  }

  private mutating func note(_ initial: InitialState, of task: TaskID) {
    let index = task.index
    switch initial {
    case .run: break
    case .interrupted: standings[index].marks = .failsAtBegin
    case .skipOption: standings[index].marks = .skipsAtBegin
    case .recheck, .later: standings[index].marks = .mayKeep
    case .laterAfterNeeds: standings[index].marks = [.mayKeep, .afterNeeds]
    case .afterNeeds: standings[index].marks = .afterNeeds
    case .skipOnce:
      standings[index].marks = .skipsAtBegin
      leftOpen += 1
    case .stays: standings[index].state = .running
    case .succeeded, .leftDone: standings[index].state = .succeeded
    case .upToDate: standings[index].state = .upToDate
    case .failedAllowed: standings[index].state = .failedAllowed
    case .skipped, .excluded: standings[index].state = .skipped
    case .unused:
      standings[index].state = .skipped
      standings[index].marks = .unused
    case .skippedUpstream, .leftUpstream, .stillUpstream:
      standings[index].state = .skipped
      standings[index].marks = .skippedUpstream
    case .failed, .leftFailed, .stillFailed:
      standings[index].state = .failed
      earlierFailures += 1
    case .stillCancelled:
      standings[index].state = .cancelled
      earlierCancelled += 1
    case .leftOpen:
      standings[index].state = .skipped
      leftOpen += 1
    }
    if initial.isLeftOut { Self.insert(task, into: &leftOut, plan) }
    switch initial {
    case .stillFailed, .stillCancelled, .stillUpstream: Self.insert(task, into: &goneOnWith, plan)
    default: if state(task).isTerminal { Self.insert(task, into: &endedBefore, plan) }
    }
  }

  /// Tasks were added to the plan.
  ///
  /// - Parameter initial: how each of them enters.
  mutating func grow(to plan: Plan, initial: [InitialState]) {
    let first = self.plan.taskCount
    precondition(first + initial.count == plan.taskCount)
    self.plan = plan
    standings.append(repeating: Standing(), count: initial.count)
    endedBefore?.grow(to: plan.taskCount)
    leftOut?.grow(to: plan.taskCount)
    goneOnWith?.grow(to: plan.taskCount)
    for (place, state) in initial.enumerated() { enter(TaskID(first + place), as: state) }
  }

  /// Has what waits for tasks that have made legs wait for these as well.
  ///
  /// - Parameter first: the number of the first task that was added.
  /// - Returns: whether legs were.
  mutating func awaitLegs(from first: Int) -> Bool {
    guard plan.hasMadeLegs else { return false }
    var hasLegs = false
    for index in 0..<first where plan.makesLegs(TaskID(index)) {
      guard let legs = plan.legs(madeBy: TaskID(index)), legs.lowerBound >= first else { continue }
      hasLegs = true
      for edge in plan.dependents(TaskID(index)) {
        let dependent = plan.dependent(edge)
        if dependent.index < first, state(dependent) == .waiting { countNeeds(of: dependent) }
      }
    }
    return hasLegs
  }

  /// Meets the needs of tasks from a number on for those before it, as far as these have their end. What may be taken
  /// out of it for them (`servicesToReopen`) has none yet.
  ///
  /// - Returns: those that lack one of them, with that.
  mutating func meetNeeds(from first: Int) -> [TaskID: TaskID] {
    var lacking: [TaskID: TaskID] = [:]
    for index in first..<plan.taskCount {
      let task = TaskID(index)
      for edge in plan.needs(task) {
        let need = TaskID(plan.needTargets[edge])
        if need.index >= first || isOver(need) { continue }
        let state = state(need)
        if state.isTerminal {
          let isMet = state.meets(
            plan.needCondition(edge), skippedUpstream: has(.skippedUpstream, need))
          if isMet { meetOne(of: task) } else if lacking[task] == nil { lacking[task] = need }
        } else if has(.offered, need) {
          meetOne(of: task)
        }
      }
    }
    return lacking
  }

  private static func insert(_ task: TaskID, into set: inout TaskSet?, _ plan: Plan) {
    if set == nil { set = TaskSet(taskCount: plan.taskCount) }
    set?.insert(task)
  }

  // MARK: - States and marks

  /// Of all tasks.
  var states: [TaskState] { standings.indices.map { standings[$0].state } }

  @inline(__always)
  func state(_ task: TaskID) -> TaskState { standings[task.index].state }

  /// The one place where a state changes.
  @inline(__always)
  mutating func set(_ task: TaskID, _ next: TaskState) {
    let current = state(task)
    precondition(current.canBecome(next), "illegal transition from \(current) to \(next)")
    standings[task.index].state = next
  }

  func has(_ mark: TaskMarks, _ task: TaskID) -> Bool { standings[task.index].marks.contains(mark) }

  mutating func mark(_ task: TaskID, _ mark: TaskMarks) { standings[task.index].marks.insert(mark) }

  mutating func unmark(_ task: TaskID, _ mark: TaskMarks) {
    standings[task.index].marks.remove(mark)
  }

  func unmetNeeds(of task: TaskID) -> Int32 { standings[task.index].unmet }

  /// Takes a task out of its end, which an order alone may do.
  mutating func takeBack(_ task: TaskID) {
    precondition(
      state(task).mayBeRetried || plan.isService(task),
      "a task was to be retried that is \(state(task))"
    )
    standings[task.index].state = .waiting
    standings[task.index].marks.subtract([
      .skippedUpstream, .failsAtBegin, .onHold, .cancelling, .checked, .kept, .offered,
      .unused,
    ])
  }

  /// Its end is of this drive, or to be.
  mutating func forgetEarlierEnd(of task: TaskID) { endedBefore?.remove(task) }

  /// A task that failed or was cancelled is about to be retried.
  ///
  /// - Returns: whether that was in an earlier drive, for which it counts no more.
  mutating func uncountEarlierEnd(of task: TaskID) -> Bool {
    guard goneOnWith?.contains(task) == true else { return false }
    goneOnWith?.remove(task)
    if state(task) == .failed { earlierFailures -= 1 }
    if state(task) == .cancelled { earlierCancelled -= 1 }
    return true
  }

  /// Counts anew what a task waits for. One that was ready waits again where that is anything.
  mutating func setUnmet(_ count: Int32, of task: TaskID) {
    standings[task.index].unmet = count
    if count > 0, state(task) == .ready || state(task) == .checking {
      set(task, .waiting)
      standings[task.index].marks.subtract([.held, .checked, .offered])
    }
  }

  /// From here on the end of what never ran before the `finally` tasks counts for none of them.
  mutating func noteFinallyOpen() { isFinallyOpen = true }

  /// One of the things that a task waits for is there; nobody acts on that yet.
  mutating func meetOne(of task: TaskID) { standings[task.index].unmet -= 1 }

  // MARK: - Ends

  /// Whether the drive's beginning settles a task by itself, or what it has may.
  func hasOwnFate(_ task: TaskID) -> Bool {
    Self.haveOwnFate(standings[task.index].marks, plan.flags(task)) || has(.mayKeep, task)
  }

  /// Whether the drive's beginning settles a task by itself: its needs then decide nothing.
  private static func haveOwnFate(_ marks: TaskMarks, _ flags: TaskFlags) -> Bool {
    !marks.isDisjoint(with: [.failsAtBegin, .skipsAtBegin, .cancelling])
      || flags.contains(.conditionFalse)
  }

  /// It waits for nothing any more.
  mutating func becomeReady(_ task: TaskID) {
    set(task, .ready)
    standings[task.index].marks.remove(.delayed)
  }

  /// Lets a task's end spread: needs met, needs that can no longer be met, and so on down. Iterative,
  /// so that a chain of a million skips is no deeper than one.
  ///
  /// - Parameters:
  ///   - isStopping: what was to follow a task that a stop cut short waits for the resume, as that task does.
  ///   - isFinally: what of the main part has no end yet is left as it is; so it is where a service ends that
  ///     `finally` tasks had.
  mutating func spread(from first: TaskID, isStopping: Bool, isFinally: Bool) {
    ended.append(first)
    spread(isStopping: isStopping, isFinally: isFinally)
  }

  /// The same from what was just skipped, where anything was.
  mutating func spreadSkips() { spread(isStopping: false, isFinally: false) }

  private mutating func spread(isStopping: Bool, isFinally: Bool) {
    while !ended.isEmpty {
      let need = ended.removeLast()
      let (needState, needMarks) = (standings[need.index].state, standings[need.index].marks)
      let isUpstream = needMarks.contains(.skippedUpstream)
      let meetsSuccess = needState.meets(.success, skippedUpstream: isUpstream)
      let isCutShort = needState == .cancelled && isStopping
      let wasOffered = needMarks.contains(.offered)
      // A service: what needs it waits for nothing more of it.
      let isOffer = !needState.isTerminal
      if isOffer { standings[need.index].marks.insert(.offered) }
      for edge in plan.dependents(need) {
        let dependent = plan.dependent(edge)
        let standing = standings[dependent.index]
        // One that is between two tries has had all that it needs, whatever becomes of that since.
        let waits =
          standing.state == .waiting
          ? !standing.marks.contains(.delayed) : wasOffered && standing.state == .ready
        guard waits else { continue }
        let flags = plan.flags(dependent)
        let isLast = flags.contains(.finally)
        if isCutShort || isFinally, !isLast { continue }
        if isLast, isFinallyOpen, !wasOffered, !plan.flags(need).contains(.finally) { continue }
        let condition = plan.dependentCondition(edge)
        let isMet =
          isOffer
          || (condition == .success
            ? meetsSuccess : needState.meets(condition, skippedUpstream: isUpstream))
        let hasOwnFate = Self.haveOwnFate(standing.marks, flags)
        if isMet {
          if wasOffered { continue }
          standings[dependent.index].unmet = standing.unmet - 1
          if hasOwnFate { continue }
          if standing.unmet == 1 {
            release(dependent)
          } else if plan.hasServices, let lacked = serviceLacked(by: dependent),
            !waitsForResults(dependent)
          {
            skip(dependent, for: lacked)
          }
        } else if !hasOwnFate {
          skip(dependent, for: need)
        }
      }
    }
  }

  /// All needs of a task have their end.
  mutating func release(_ task: TaskID) {
    let idle = noNeedRan(task)
    if standings[task.index].marks.contains(.mayKeep), keepsOrTakesBack(task, isIdle: idle != nil) {
      return
    }
    if let idle {
      skip(task, for: idle)
    } else {
      becomeReady(task)
      changes.append(.ready(task))
      if plan.hasServices, isToBeOffered(task) { ended.append(task) }
    }
  }

  /// Decides whether a task keeps the result of an earlier drive, unless that is for its check to say.
  ///
  /// - Returns: whether it does.
  private mutating func keepsOrTakesBack(_ task: TaskID, isIdle: Bool) -> Bool {
    // Its `if`, which was false, came before any look at files.
    let wasRuledOut = results[task].map { $0.state == .skipped && !$0.isSkippedUpstream } ?? false
    if plan.isChecked(task), !isIdle, !wasRuledOut { return false }
    let isFinally = plan.flags(task).contains(.finally)
    let culprit = isFinally ? nil : firstNeedNotKept(of: task)
    if isFinally ? isIdle : culprit == nil {
      keep(task)
      return true
    }
    changes.append(.taken(task, for: culprit ?? .none))
    return false
  }

  /// A service that is to count as there, and does not yet.
  func isToBeOffered(_ task: TaskID) -> Bool {
    plan.isService(task) && !standings[task.index].marks.contains(.offered)
  }

  /// Services aside, which are no results; but one that a task was skipped for is there now.
  private func firstNeedNotKept(of task: TaskID) -> TaskID? {
    let lackedService = results[task]?.isSkippedUpstream ?? false
    for edge in plan.needs(task) {
      let need = TaskID(plan.needTargets[edge])
      if !isKept(need), lackedService || !plan.isService(need) { return need }
    }
    return nil
  }

  /// Whether a task that lacks a service may keep its result all the same, as far as is known: that is no result, and
  /// the task may not have to start.
  private func standsWithoutService(_ task: TaskID) -> Bool {
    mayKeepWithoutService(task) && (waitsForResults(task) || firstNeedNotKept(of: task) == nil)
  }

  private func mayKeepWithoutService(_ task: TaskID) -> Bool {
    has(.mayKeep, task) && !plan.isChecked(task) && !plan.flags(task).contains(.finally)
  }

  /// Whether any of its needs that leave a result has no end.
  private func waitsForResults(_ task: TaskID) -> Bool {
    plan.needs(task).contains {
      let need = TaskID(plan.needTargets[$0])
      return !plan.isService(need) && !state(need).isTerminal
    }
  }

  /// A service without which a task waits to see whether it keeps its result; nil where there is none.
  private func serviceLacked(by task: TaskID) -> TaskID? {
    guard plan.hasServices, mayKeepWithoutService(task) else { return nil }
    return plan.services(neededBy: task).first {
      state($0).isTerminal
        && !state($0).meets(.success, skippedUpstream: has(.skippedUpstream, $0))
    }
  }

  /// Whether it waits though a need of it has an end that does not meet it.
  func isLeftWithoutService(_ task: TaskID) -> Bool {
    serviceLacked(by: task) != nil && waitsForResults(task)
  }

  private func isKept(_ task: TaskID) -> Bool {
    standings[task.index].marks.contains(.kept) || endedBefore?.contains(task) == true
  }

  /// It keeps the result of an earlier drive; that spreads with what else has ended.
  private mutating func keep(_ task: TaskID) {
    let result = results[task]
    set(task, result?.state ?? .succeeded)
    standings[task.index].marks.remove(.mayKeep)
    standings[task.index].marks.insert(.kept)
    if result?.isSkippedUpstream == true { standings[task.index].marks.insert(.skippedUpstream) }
    changes.append(.kept(task))
    ended.append(task)
  }

  /// What a task has of an earlier drive.
  func result(of task: TaskID) -> EarlierResult? { results[task] }

  /// For lack of a need; it spreads with what else has ended.
  mutating func skip(_ task: TaskID, for need: TaskID) {
    // What `--skip` left out before lacks its needs for the first time. A service is no result, so that its end is
    // no other one.
    if standings[task.index].marks.contains(.mayKeep), results[task]?.isSkippedUpstream == true,
      isKept(need) || plan.isService(need)
    {
      return keep(task)
    }
    if plan.isService(need), standsWithoutService(task) {
      if !waitsForResults(task) { keep(task) }
      return
    }
    set(task, .skipped)
    standings[task.index].marks.insert(.skippedUpstream)
    changes.append(.skipped(task, for: need))
    ended.append(task)
  }

  /// The first need of a `finally` task of named tasks none of whose needs ran, once all of them have
  /// their end; nil for others.
  private func noNeedRan(_ task: TaskID) -> TaskID? {
    guard standings[task.index].marks.contains(.afterNeeds) else { return nil }
    let needs = plan.needs(task)
    let ran = needs.contains { edge in
      let need = TaskID(plan.needTargets[edge])
      // A service that others had stays up for it.
      return standings[need.index].marks.contains(.ran)
        || plan.isService(need) && state(need).isRunning
    }
    return ran ? nil : needs.first.map { TaskID(plan.needTargets[$0]) }
  }

  /// All changes have been acted on.
  mutating func removeChanges() { changes.removeAll() }
}
