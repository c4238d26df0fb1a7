package import OpflowPlan

/// The tasks of a session, by their initial states.
package struct DriveScope: Sendable {
  package private(set) var selected: TaskSet
  package private(set) var reused: TaskSet
  /// Interrupted by a crash; they must not run twice.
  package private(set) var stillFailed: TaskSet
  /// Outside the selection, failed or not ended.
  package private(set) var leftFailed: [TaskID] = []
  package private(set) var leftOpen: [TaskID] = []

  private(set) var stays: [TaskID] = []

  package init(_ initial: [InitialState]) {
    selected = TaskSet(taskCount: initial.count)
    reused = TaskSet(taskCount: initial.count)
    stillFailed = TaskSet(taskCount: initial.count)
    add(initial, from: 0)
  }

  /// - Parameter first: the number of the first added task.
  mutating func grow(_ initial: [InitialState], from first: Int) {
    let count = first + initial.count
    selected.grow(to: count)
    reused.grow(to: count)
    stillFailed.grow(to: count)
    add(initial, from: first)
  }

  mutating func takeBack(_ task: TaskID) { reused.remove(task) }

  mutating func leave(_ task: TaskID) { selected.remove(task) }

  private mutating func add(_ initial: [InitialState], from first: Int) {
    for (index, state) in initial.enumerated() {
      let task = TaskID(first + index)
      if !state.isLeftOut { selected.insert(task) }
      if state.isReused { reused.insert(task) }
      switch state {
      case .failed, .stillFailed: stillFailed.insert(task)
      case .stays: stays.append(task)
      case .leftFailed: leftFailed.append(task)
      case .leftUpstream, .leftOpen, .skipOnce: leftOpen.append(task)
      case .run, .recheck, .later, .laterAfterNeeds, .afterNeeds, .succeeded, .upToDate,
        .failedAllowed, .skipped, .unused, .skippedUpstream,
        .interrupted, .stillCancelled, .stillUpstream, .skipOption, .excluded, .leftDone:
        break
      }
    }
  }
}
