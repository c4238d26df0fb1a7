/// What a drive of a run is about, as its tasks enter it.
package struct DriveScope: Sendable {
  /// The tasks that this drive is about, the reused ones among them.
  package private(set) var selected: TaskSet
  /// Tasks whose earlier result is taken over.
  package private(set) var reused: TaskSet
  /// Tasks that stay failed, since a crash interrupted them and they must not run twice.
  package private(set) var stillFailed: TaskSet
  /// Tasks that this drive leaves out and that failed before, or are not done.
  private(set) var leftFailed: [TaskID] = []
  private(set) var leftOpen: [TaskID] = []

  /// Services that the drive before left up.
  private(set) var stays: [TaskID] = []

  /// - Parameter initial: how each task enters the drive.
  package init(_ initial: [InitialState]) {
    selected = TaskSet(taskCount: initial.count)
    reused = TaskSet(taskCount: initial.count)
    stillFailed = TaskSet(taskCount: initial.count)
    add(initial, from: 0)
  }

  /// The plan has tasks more.
  ///
  /// - Parameters:
  ///   - initial: how each of them enters the drive.
  ///   - first: the number of the first.
  mutating func grow(_ initial: [InitialState], from first: Int) {
    let count = first + initial.count
    selected.grow(to: count)
    reused.grow(to: count)
    stillFailed.grow(to: count)
    add(initial, from: first)
  }

  /// The drive takes a task out of the end that it took over.
  mutating func takeBack(_ task: TaskID) { reused.remove(task) }

  /// It is no part of the drive any more.
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
