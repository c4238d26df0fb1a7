internal import OpflowPlan

extension TaskGraph {
  /// Dependencies are exempt too; returns the newly exempt tasks.
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
