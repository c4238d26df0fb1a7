extension Plan {
  /// The tasks to be run that are skipped whatever becomes of others: their `if` is false, or what they
  /// need is skipped for that, in a way that does not do for them.
  package func skippedFromTheStart(_ initial: [InitialState]) -> TaskSet {
    var skipped = TaskSet(taskCount: taskCount)
    var upstream = TaskSet(taskCount: taskCount)
    for position in 0..<taskCount {
      let task = TaskID(topologicalOrder[position])
      guard initial[task.index] == .run || initial[task.index] == .afterNeeds else { continue }
      if flags(task).contains(.conditionFalse) {
        skipped.insert(task)
      } else if needs(task).contains(where: { edge in
        let need = TaskID(needTargets[edge])
        return skipped.contains(need)
          && !TaskState.skipped.meets(
            needCondition(edge), skippedUpstream: upstream.contains(need))
      }) {
        skipped.insert(task)
        upstream.insert(task)
      }
    }
    return skipped
  }
}
