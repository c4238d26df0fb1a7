import OpflowPlan
import OpflowWire

/// Tokens of jobservers, as workers and tasks handle them.
extension SimulatedSession {
  /// True if the task may return a lent token: on request, or because it is unused.
  func mayGiveBack(_ tree: SimulatedTree) -> Bool {
    tree.exists && tree.lent > 0 && !tree.isStopped && !tree.isKilled
  }

  /// A worker reads a token message.
  mutating func takeTokens(_ task: TaskID, _ count: Int32, of worker: Int) throws(Finding) {
    guard let tree = workers[worker].commands.tree, tree.task == task, tree.exists else { return }
    if count < 0 {
      workers[worker].commands.tree?.owed = min(tree.lent, tree.owed - max(count, -tree.lent))
      return
    }
    workers[worker].commands.tree?.lent += count
    try oracle.stock.lend(count, to: task)
  }

  mutating func giveBackTokens(of worker: Int) {
    guard let tree = workers[worker].commands.tree, tree.lent > 0 else { return }
    let most = tree.owed > 0 ? tree.owed : tree.lent
    let count = 1 + Int32(random.below(Int(most)))
    workers[worker].commands.tree?.lent -= count
    workers[worker].commands.tree?.owed -= min(count, tree.owed)
    workers[worker].outbox.append(.tokens(tree.task, count))
    try? oracle.stock.lend(-count, to: tree.task)
  }

  /// Checks that a task with a jobserver was told the number of its own tokens before its start.
  func checkTokens(
    of task: TaskID, _ told: (task: TaskID, own: Int32)?
  ) throws(Finding) {
    guard plan.jobserver(of: task) != nil else { return }
    guard let told, told.task == task else {
      throw oracle.fault(task, "it starts, and its worker was not told of its tokens")
    }
    if let own = oracle.stock.ownTokens(of: task), own != told.own {
      throw oracle.fault(task, "it starts with \(told.own) tokens of its own, not \(own)")
    }
  }
}
