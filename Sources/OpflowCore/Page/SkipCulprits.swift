/// What each failure of a run cost: the tasks that were skipped for want of it, however far down.
struct SkipCulprits {
  private var counts: [TaskID: Int] = [:]
  /// Those that were skipped for want of a task that is in the run.
  private(set) var total = 0

  init(_ status: RunStatus) {
    let plan = status.plan
    guard status.counts.skipped > 0 else { return }
    // By task: what it was skipped for want of, at the end of the chain.
    var roots = [TaskID](repeating: .none, count: plan.taskCount)
    for index in plan.topologicalOrder {
      let task = TaskID(index)
      guard status.included.contains(task), status.state(task) == .skipped,
        case .skipped(.upstream(let need)) = status.history[task].why, !need.isNone
      else { continue }
      let root = roots[need.index].isNone ? need : roots[need.index]
      roots[task.index] = root
      counts[root, default: 0] += 1
      total += 1
    }
  }

  func count(of task: TaskID) -> Int { counts[task] ?? 0 }
}
