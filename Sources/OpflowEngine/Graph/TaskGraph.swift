internal import OpflowPlan

/// The states of tasks, their unmet dependencies, and the propagation of ends.
struct TaskGraph {
  enum Change {
    case ready(TaskID)
    case skipped(TaskID, for: TaskID)
    case kept(TaskID)
    /// `none` for a `finally` task.
    case taken(TaskID, for: TaskID)
  }

  private struct Standing {
    var state = TaskState.waiting
    var marks: TaskMarks = []
    /// Includes one for a `finally` task before its phase.
    var unmet: Int32 = 0
  }

  private(set) var plan: Plan
  private var standings: Table<Standing>
  /// Not part of this session.
  private(set) var endedBefore: TaskSet?
  private(set) var leftOut: TaskSet?
  private(set) var changes = Table<Change>()
  private var ended = Table<TaskID>()
  /// Counted by their session.
  private(set) var earlierFailures = 0
  private(set) var earlierCancelled = 0
  /// May be retried though they ended in an earlier session.
  private var goneOnWith: TaskSet?
  /// Unfinished tasks left out by `--only` or `--skip`.
  private(set) var leftOpen = 0
  private var results: [TaskID: EarlierResult] = [:]
  /// They keep earlier results unless a task starts.
  var finallyThatMayKeep: [TaskID] = []
  private var isFinallyOpen = false
  var wasReopened = false
  /// Tasks that changed since `takeMoved`; empty without services.
  private var moved: [TaskID] = []
  private(set) var runningServices = 0

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
    case .stays:
      standings[index].state = .running
      runningServices += 1
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

  /// Dependents of generators also wait for new matrix tasks. Returns true if there are any.
  mutating func awaitInstances(from first: Int) -> Bool {
    guard plan.hasMadeInstances else { return false }
    var hasInstances = false
    for index in 0..<first where plan.makesInstances(TaskID(index)) {
      guard let instances = plan.instances(madeBy: TaskID(index)), instances.lowerBound >= first
      else { continue }
      hasInstances = true
      for edge in plan.dependents(TaskID(index)) {
        let dependent = plan.dependent(edge)
        if dependent.index < first, state(dependent) == .waiting { countNeeds(of: dependent) }
      }
    }
    return hasInstances
  }

  /// Ignores services that may be reopened. Returns tasks with a failed dependency, and that
  /// dependency.
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

  var states: [TaskState] { standings.indices.map { standings[$0].state } }

  @inline(__always)
  func state(_ task: TaskID) -> TaskState { standings[task.index].state }

  /// States change only here and in `takeBack`.
  @inline(__always)
  mutating func set(_ task: TaskID, _ next: TaskState) {
    let current = state(task)
    precondition(current.canBecome(next), "illegal transition from \(current) to \(next)")
    standings[task.index].state = next
    if plan.hasServices { noteMove(of: task, from: current, to: next) }
  }

  private mutating func noteMove(of task: TaskID, from current: TaskState, to next: TaskState) {
    moved.append(task)
    guard plan.isService(task) else { return }
    runningServices += (next.isRunning ? 1 : 0) - (current.isRunning ? 1 : 0)
  }

  var hasMoved: Bool { !moved.isEmpty }

  mutating func takeMoved() -> [TaskID] {
    defer { moved.removeAll() }
    return moved
  }

  func has(_ mark: TaskMarks, _ task: TaskID) -> Bool { standings[task.index].marks.contains(mark) }

  mutating func mark(_ task: TaskID, _ mark: TaskMarks) { standings[task.index].marks.insert(mark) }

  mutating func unmark(_ task: TaskID, _ mark: TaskMarks) {
    standings[task.index].marks.remove(mark)
  }

  func unmetNeeds(of task: TaskID) -> Int32 { standings[task.index].unmet }

  /// For requests and services only.
  mutating func takeBack(_ task: TaskID) {
    precondition(
      state(task).mayBeRetried || plan.isService(task),
      "cannot retry a task that is \(state(task))")
    standings[task.index].state = .waiting
    standings[task.index].marks.subtract([
      .skippedUpstream, .failsAtBegin, .onHold, .cancelling, .checked, .kept, .offered,
      .unused,
    ])
  }

  mutating func forgetEarlierEnd(of task: TaskID) { endedBefore?.remove(task) }

  /// Returns true if the task ended in an earlier session.
  mutating func uncountEarlierEnd(of task: TaskID) -> Bool {
    guard goneOnWith?.contains(task) == true else { return false }
    goneOnWith?.remove(task)
    if state(task) == .failed { earlierFailures -= 1 }
    if state(task) == .cancelled { earlierCancelled -= 1 }
    return true
  }

  /// A ready task waits again if `count` is not 0.
  mutating func setUnmet(_ count: Int32, of task: TaskID) {
    standings[task.index].unmet = count
    if count > 0, state(task) == .ready || state(task) == .checking {
      set(task, .waiting)
      standings[task.index].marks.subtract([.held, .checked, .offered])
    }
  }

  mutating func noteFinallyOpen() { isFinallyOpen = true }

  mutating func meetOne(of task: TaskID) { standings[task.index].unmet -= 1 }

  // MARK: - Ends

  /// True if the beginning or an earlier result may settle the task.
  func hasOwnFate(_ task: TaskID) -> Bool {
    Self.haveOwnFate(standings[task.index].marks, plan.flags(task)) || has(.mayKeep, task)
  }

  private static func haveOwnFate(_ marks: TaskMarks, _ flags: TaskFlags) -> Bool {
    !marks.isDisjoint(with: [.failsAtBegin, .skipsAtBegin, .cancelling])
      || flags.contains(.conditionFalse)
  }

  mutating func becomeReady(_ task: TaskID) {
    set(task, .ready)
    standings[task.index].marks.remove(.delayed)
  }

  /// Propagates an end. Iterative: a chain of skips may have a million tasks.
  ///
  /// - Parameters:
  ///   - isStopping: True to leave dependents of cancelled tasks to a resume.
  ///   - isFinally: True to leave pending tasks of the main phase as they are.
  mutating func spread(from first: TaskID, isStopping: Bool, isFinally: Bool) {
    ended.append(first)
    spread(isStopping: isStopping, isFinally: isFinally)
  }

  mutating func spreadSkips() { spread(isStopping: false, isFinally: false) }

  private mutating func spread(isStopping: Bool, isFinally: Bool) {
    while !ended.isEmpty {
      let need = ended.removeLast()
      let (needState, needMarks) = (standings[need.index].state, standings[need.index].marks)
      let isUpstream = needMarks.contains(.skippedUpstream)
      let meetsSuccess = needState.meets(.success, skippedUpstream: isUpstream)
      let isCutShort = needState == .cancelled && isStopping
      let wasOffered = needMarks.contains(.offered)
      // A service that has not ended is available to its users.
      let isOffer = !needState.isTerminal
      if isOffer { standings[need.index].marks.insert(.offered) }
      for edge in plan.dependents(need) {
        let dependent = plan.dependent(edge)
        let standing = standings[dependent.index]
        // A task between two attempts has all its dependencies.
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

  /// Returns true if a task keeps its result; false if a check must decide.
  private mutating func keepsOrTakesBack(_ task: TaskID, isIdle: Bool) -> Bool {
    // A false `if` comes before any file check.
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

  func isToBeOffered(_ task: TaskID) -> Bool {
    plan.isService(task) && !standings[task.index].marks.contains(.offered)
  }

  /// Services have no result to keep, but a task may have been skipped for one.
  private func firstNeedNotKept(of task: TaskID) -> TaskID? {
    let lackedService = results[task]?.isSkippedUpstream ?? false
    for edge in plan.needs(task) {
      let need = TaskID(plan.needTargets[edge])
      if !isKept(need), lackedService || !plan.isService(need) { return need }
    }
    return nil
  }

  private func standsWithoutService(_ task: TaskID) -> Bool {
    mayKeepWithoutService(task) && (waitsForResults(task) || firstNeedNotKept(of: task) == nil)
  }

  private func mayKeepWithoutService(_ task: TaskID) -> Bool {
    has(.mayKeep, task) && !plan.isChecked(task) && !plan.flags(task).contains(.finally)
  }

  private func waitsForResults(_ task: TaskID) -> Bool {
    plan.needs(task).contains {
      let need = TaskID(plan.needTargets[$0])
      return !plan.isService(need) && !state(need).isTerminal
    }
  }

  private func serviceLacked(by task: TaskID) -> TaskID? {
    guard plan.hasServices, mayKeepWithoutService(task) else { return nil }
    return plan.services(neededBy: task).first {
      state($0).isTerminal
        && !state($0).meets(.success, skippedUpstream: has(.skippedUpstream, $0))
    }
  }

  func isLeftWithoutService(_ task: TaskID) -> Bool {
    serviceLacked(by: task) != nil && waitsForResults(task)
  }

  private func isKept(_ task: TaskID) -> Bool {
    standings[task.index].marks.contains(.kept) || endedBefore?.contains(task) == true
  }

  private mutating func keep(_ task: TaskID) {
    let result = results[task]
    set(task, result?.state ?? .succeeded)
    standings[task.index].marks.remove(.mayKeep)
    standings[task.index].marks.insert(.kept)
    if result?.isSkippedUpstream == true { standings[task.index].marks.insert(.skippedUpstream) }
    changes.append(.kept(task))
    ended.append(task)
  }

  func result(of task: TaskID) -> EarlierResult? { results[task] }

  mutating func skip(_ task: TaskID, for need: TaskID) {
    // A task that `--skip` left out lacks its dependencies for the first time. A service's end
    // changes no result.
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

  /// Returns the first dependency of a `finally` task of named tasks, if none ran.
  private func noNeedRan(_ task: TaskID) -> TaskID? {
    guard standings[task.index].marks.contains(.afterNeeds) else { return nil }
    let needs = plan.needs(task)
    let ran = needs.contains { edge in
      let need = TaskID(plan.needTargets[edge])
      return standings[need.index].marks.contains(.ran)
        || plan.isService(need) && state(need).isRunning
    }
    return ran ? nil : needs.first.map { TaskID(plan.needTargets[$0]) }
  }

  mutating func removeChanges() { changes.removeAll() }
}

struct TaskMarks: OptionSet {
  var rawValue: UInt16
  /// Not held back by `max_failures`.
  static let exempt = TaskMarks(rawValue: 1 << 0)
  /// Skipped for a dependency; meets only `finished`.
  static let skippedUpstream = TaskMarks(rawValue: 1 << 1)
  /// A `finally` task that runs only if a dependency ran in this session.
  static let afterNeeds = TaskMarks(rawValue: 1 << 2)
  /// Ready, but in no queue since it may not start.
  static let held = TaskMarks(rawValue: 1 << 3)
  static let delayed = TaskMarks(rawValue: 1 << 4)
  static let failsAtBegin = TaskMarks(rawValue: 1 << 5)
  static let skipsAtBegin = TaskMarks(rawValue: 1 << 6)
  /// An attempt has ended in this session.
  static let ran = TaskMarks(rawValue: 1 << 7)
  /// A pending request keeps the task from starting.
  static let fenced = TaskMarks(rawValue: 1 << 8)
  static let onHold = TaskMarks(rawValue: 1 << 9)
  /// Cancelled by a request while it ran; at the beginning: in the previous session.
  static let cancelling = TaskMarks(rawValue: 1 << 10)
  /// The next attempt needs no up-to-date check, or had one.
  static let checked = TaskMarks(rawValue: 1 << 11)
  static let mayKeep = TaskMarks(rawValue: 1 << 12)
  /// For a service: its dependencies are met, so users may start.
  static let offered = TaskMarks(rawValue: 1 << 14)
  static let unused = TaskMarks(rawValue: 1 << 15)
  static let kept = TaskMarks(rawValue: 1 << 13)
}

extension TaskGraph {
  /// Also exempts dependencies; returns the newly exempt tasks.
  mutating func exempt(_ first: TaskID) -> [TaskID] {
    guard needsExemption(first) else { return [] }
    var exempted: [TaskID] = []
    var open = [first]
    mark(first, .exempt)
    while let task = open.popLast() {
      exempted.append(task)
      for edge in plan.needs(task) {
        let need = TaskID(plan.needTargets[edge])
        if needsExemption(need) {
          mark(need, .exempt)
          open.append(need)
        }
      }
    }
    return exempted
  }

  mutating func endExemption() {
    for index in plan.tasks { unmark(TaskID(index), .exempt) }
  }

  private func needsExemption(_ task: TaskID) -> Bool {
    !has(.exempt, task) && !state(task).isTerminal
  }
}

extension TaskGraph {
  var hasOpenFinally: Bool {
    plan.tasks.contains {
      plan.flags(TaskID($0)).contains(.finally) && state(TaskID($0)) == .waiting
    }
  }

  /// Takes the `finally` tasks that must run because this task starts; those with `afterNeeds` only
  /// after their dependencies.
  mutating func takeFinallyDue(after task: TaskID) -> [TaskID] {
    let due = finallyThatMayKeep.filter { (finally) in
      !has(.afterNeeds, finally)
        || plan.needs(finally).contains { TaskID(plan.needTargets[$0]) == task }
    }
    if !due.isEmpty { finallyThatMayKeep.removeAll { due.contains($0) } }
    return due
  }

  /// A dependency that never ran meets only `finished`.
  mutating func openFinally() {
    defer { noteFinallyOpen() }
    for position in 0..<plan.taskCount {
      let task = TaskID(plan.topologicalOrder[position])
      guard plan.flags(task).contains(.finally), state(task) == .waiting else { continue }
      var missed = TaskID.none
      for edge in plan.needs(task) {
        let need = TaskID(plan.needTargets[edge])
        if state(need).isTerminal || plan.flags(need).contains(.finally) || has(.offered, need) {
          continue
        }
        if plan.needCondition(edge) == .finished {
          meetOne(of: task)
        } else {
          missed = need
        }
      }
      if !missed.isNone {
        skip(task, for: missed)
        spreadSkips()
        continue
      }
      meetOne(of: task)
      guard unmetNeeds(of: task) == 0 else { continue }
      release(task)
      spreadSkips()
    }
  }
}
