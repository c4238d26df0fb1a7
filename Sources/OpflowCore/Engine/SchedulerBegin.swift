extension Scheduler {
  /// Settles what needs no run, lets all settled tasks meet the needs of others, and makes ready
  /// what waits for nothing. In topological order, so that each task sees its needs settled.
  mutating func begin(into actions: inout [EngineStep]) {
    precondition(phase == .begin, "a drive begins once")
    phase = .main
    // What is skipped below spreads by itself, so only these are still to be announced.
    let settledBefore = stateByte
    for position in 0..<plan.taskCount {
      let task = TaskID(plan.topologicalOrder[position])
      let mark = marks[task.index]
      if settledBefore[task.index] != TaskState.waiting.rawValue {
        if state(task) == .failed { exemptFailureEdges(of: task) }
        resolveDependents(of: task, into: &actions)
      } else if state(task) != .waiting {
        continue
      } else if mark.contains(.failsAtBegin) {
        var transition = Transition(.failure, task, reason: .interrupted)
        transition.attempt = attempt[task.index]
        settle(task, as: .failed, transition, into: &actions)
      } else if mark.contains(.skipsAtBegin) {
        settle(task, as: .skipped, Transition(.skip(.skipOption), task), into: &actions)
      } else if plan.flags(task).contains(.conditionFalse) {
        settle(task, as: .skipped, Transition(.skip(.condition), task), into: &actions)
      } else if unmet[task.index] == 0 {
        becomeReady(task)
      }
    }
  }

  /// Journals a task's end and lets it spread: needs met, needs that can no longer be met, and so
  /// on down. Iterative, so that a chain of a million skips is no deeper than one.
  mutating func settle(
    _ task: TaskID, as next: TaskState, _ transition: Transition,
    into actions: inout [EngineStep]
  ) {
    set(task, next)
    actions.append(.tell(.transition(transition)))
    if next == .failed { countFailure(of: task, into: &actions) }
    resolveDependents(of: task, into: &actions)
  }

  private mutating func resolveDependents(of first: TaskID, into actions: inout [EngineStep]) {
    endedTasks.append(first)
    while let need = endedTasks.popLast() {
      let needState = state(need)
      let isUpstream = marks[need.index].contains(.skippedUpstream)
      // What was to follow a task that a stop cut short waits for the resume, as that task does.
      let isCutShort = needState == .cancelled && stopCause != nil
      for edge in plan.dependents(need) {
        let dependent = TaskID(plan.dependentTargets[edge])
        guard state(dependent) == .waiting else { continue }
        if isCutShort, !plan.flags(dependent).contains(.finally) { continue }
        if needState.meets(plan.dependentCondition(edge), skippedUpstream: isUpstream) {
          unmet[dependent.index] -= 1
          if unmet[dependent.index] == 0, !hasOwnFate(dependent) {
            if let idle = noNeedRan(dependent) {
              skip(dependent, for: idle, into: &actions)
            } else {
              becomeReady(dependent)
            }
          }
        } else if !hasOwnFate(dependent) {
          skip(dependent, for: need, into: &actions)
        }
      }
    }
  }

  /// For lack of a need; it spreads with what else has ended.
  private mutating func skip(
    _ task: TaskID, for need: TaskID, into actions: inout [EngineStep]
  ) {
    set(task, .skipped)
    marks[task.index].insert(.skippedUpstream)
    actions.append(.tell(.transition(Transition(.skip(.upstream(need)), task))))
    endedTasks.append(task)
  }

  /// The first need of a `finally` task of named tasks none of whose needs ran, once all of them have
  /// their end; nil for others.
  func noNeedRan(_ task: TaskID) -> TaskID? {
    guard marks[task.index].contains(.afterNeeds) else { return nil }
    let needs = plan.needs(task)
    let ran = needs.contains { marks[Int(plan.needTargets[$0])].contains(.ran) }
    return ran ? nil : needs.first.map { TaskID(plan.needTargets[$0]) }
  }

  /// Whether `begin` will settle the task by itself: its needs then decide nothing.
  private func hasOwnFate(_ task: TaskID) -> Bool {
    !marks[task.index].isDisjoint(with: [.failsAtBegin, .skipsAtBegin])
      || plan.flags(task).contains(.conditionFalse)
  }

  mutating func becomeReady(_ task: TaskID) {
    set(task, .ready)
    marks[task.index].remove(.delayed)
    if mayStart(task) {
      enqueue(task)
    } else {
      marks[task.index].insert(.held)
    }
  }

  mutating func enqueue(_ task: TaskID) {
    ready.push(ranking.rank[task.index], demand: Int(plan.demand[task.index]))
  }

  /// Whether the task may start at all in the phase that the run is in.
  func mayStart(_ task: TaskID) -> Bool {
    if isKilled || stopCause == .ioError { return false }
    switch phase {
    case .begin, .main:
      return stopCause == nil && (!isHalted || marks[task.index].contains(.exempt))
    case .finally: return plan.flags(task).contains(.finally)
    case .done: return false
    }
  }
}
