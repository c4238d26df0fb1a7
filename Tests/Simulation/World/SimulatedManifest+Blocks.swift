import OpflowBase
import OpflowPlan

extension SimulatedManifest {
  /// Makes blocks of some tasks, after all else is decided.
  mutating func addBlocks(_ random: inout SplitMix64) {
    let services = Set(tasks.filter { $0.service != nil }.map(\.name))
    let read = Set(tasks.flatMap(\.valuesRead))
    for index in tasks.indices where random.chance(50) {
      let task = tasks[index]
      guard task.service == nil, !task.isDownload, !task.isApproval, !task.flags.contains(.finally),
        !task.makesInstances, !read.contains(task.name),
        !task.needs.contains(where: { services.contains($0.task) })
      else { continue }
      tasks[index].becomeBlock()
      if random.chance(15) { tasks[index].outliveItsEnd() }
    }
  }
}

extension SimulatedManifest.Task {
  fileprivate mutating func becomeBlock() {
    isExternal = true
    flags.subtract([.interactive])
    isChecked = false
    leaves = .nothing
    reads = nil
    leavesDescendants = false
    // Which ones a program has only it knows.
    demand.removeAll { $0.resource == 5 }
    // What it does is begun, or throws.
    if case .isRefused = behaviour { behaviour = .fails(1) }
  }

  /// It does not heed that its time is up, and is tried again.
  fileprivate mutating func outliveItsEnd() {
    (behaviour, ignoresStop) = (.hangs, true)
    if policy.timeoutMilliseconds == 0 { policy.timeoutMilliseconds = 50 }
    policy.retryMax = max(1, policy.retryMax)
    retryCodes = []
  }
}
