extension Plan {
  /// Validates the tasks that were added since `earlier`, which is validated.
  package func validate(grownFrom earlier: Plan) throws(PlanError) {
    guard earlier.taskCount <= taskCount,
      earlier.written.outerEdges.count <= written.outerEdges.count
    else { throw .section(.taskName) }
    let added = earlier.taskCount..<taskCount
    for index in added {
      let task = TaskID(index)
      try validate(task)
      guard self.task(named: nameBytes(task)) == task else { throw .reference(.nameTable) }
      guard added.contains(Int(written.order[index])) else { throw .reference(.topologicalOrder) }
      try validateNeeds(of: task)
      let edges = try row(
        .dependentOffsets, written.dependentOffsets, index, end: written.dependentTargets.count)
      for edge in edges where !added.contains(Int(written.dependentTargets[edge])) {
        throw .reference(.dependentTargets)
      }
    }
    for place in earlier.written.outerEdges.count..<written.outerEdges.count {
      let edge = written.outerEdges[place]
      // So that a chain ends.
      guard added.contains(Int(edge.dependent)), edge.next == 0 || Int(edge.next) > place + 1
      else { throw .reference(.outerEdges) }
    }
  }

  private func validateNeeds(of task: TaskID) throws(PlanError) {
    let edges = try row(
      .needOffsets, written.needOffsets, task.index, end: written.needTargets.count)
    for edge in edges {
      let target = Int(written.needTargets[edge])
      guard tasks.contains(target), target != task.index,
        let condition = NeedCondition(rawValue: written.needConditions[edge])
      else { throw .reference(.needTargets) }
      try validateNeed(of: task, for: TaskID(target), on: condition)
    }
  }
}
