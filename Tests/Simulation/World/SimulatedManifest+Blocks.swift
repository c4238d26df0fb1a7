import OpflowBase
import OpflowPlan

extension SimulatedManifest {
  /// Makes some tasks external, after all other choices.
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
    // Only a client knows its GPUs.
    demand.removeAll { $0.resource == 5 }
    // An external task begins, or fails.
    if case .isRefused = behaviour { behaviour = .fails(1) }
  }

  /// Makes a task that ignores its timeout and is retried.
  fileprivate mutating func outliveItsEnd() {
    (behaviour, ignoresStop) = (.hangs, true)
    if policy.timeoutMilliseconds == 0 { policy.timeoutMilliseconds = 50 }
    policy.retryMax = max(1, policy.retryMax)
    retryCodes = []
  }
}
