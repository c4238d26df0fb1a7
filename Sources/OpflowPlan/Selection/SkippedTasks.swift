extension Plan {
  /// Skipped whatever happens: by `--skip`, by a false `if`, because of such a dependency, or as a
  /// `finally` task of named tasks without a dependency that can run.
  package func skippedFromTheStart(_ initial: [InitialState]) -> TaskSet {
    var skipped = TaskSet(taskCount: taskCount)
    var upstream = TaskSet(taskCount: taskCount)
    for position in 0..<taskCount {
      let task = TaskID(topologicalOrder[position])
      switch initial[task.index] {
      case .run, .recheck, .later, .afterNeeds, .laterAfterNeeds: break
      case .skipOption, .skipOnce:
        skipped.insert(task)
        continue
      case .succeeded, .upToDate, .failedAllowed, .skipped, .unused, .skippedUpstream, .interrupted,
        .failed, .stillFailed, .stillCancelled, .stillUpstream, .excluded, .leftDone, .leftFailed,
        .leftUpstream, .leftOpen, .stays:
        continue
      }
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
      } else if initial[task.index] == .afterNeeds,
        !needs(task).contains(where: { edge in
          let need = TaskID(needTargets[edge])
          return initial[need.index].mayStart && !skipped.contains(need)
        })
      {
        skipped.insert(task)
        upstream.insert(task)
      }
    }
    return skipped
  }
}
