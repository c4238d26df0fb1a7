package import OpflowPlan

extension ResumeDecision {
  /// Decides until no task that runs reads missing values of a kept task: such a kept task reruns.
  /// Values may be lost, or not stored because no task read them.
  ///
  /// - Parameters:
  ///   - request: gets the tasks with missing values in `outputMissing`.
  ///   - areThere: whether a task's values are unchanged. Called at most once per task with values.
  package static func heedingValues(
    plan: Plan, history: RunModel, request: inout ResumeRequest, areThere: (TaskID) -> Bool
  ) -> ResumeDecision {
    guard plan.hasLateItems else {
      return ResumeDecision(plan: plan, history: history, request: request)
    }
    var asked: Set<TaskID> = []
    while true {
      let input = Input(plan: plan, history: history, request: request)
      var decision = ResumeDecision(deciding: input)
      var again: Set<TaskID> = []
      // Dependents first: a task that reruns reads values too.
      for index in plan.topologicalOrder.reversed() {
        let reader = TaskID(index)
        guard plan.flags(reader).contains(.readsValues),
          decision.mayStart(reader, input) || again.contains(reader)
        else { continue }
        for need in plan.valueSources(of: reader) {
          guard decision.keepsSuccess(need), asked.insert(need).inserted,
            !decision.willSkipByWish(need, input)
          else { continue }
          if let left = history.values.left[need] {
            if left.values.isEmpty || areThere(need) { continue }
          } else if !decision.starts(reader, input), !again.contains(reader),
            !history[reader].isChanged,
            plan.lateCondition(reader) == nil || history.state(reader) == .failedAllowed
          {
            // An unchanged reader got its result from the values; only a new `if` needs them again.
            continue
          }
          again.insert(need)
        }
      }
      if again.isEmpty {
        decision.forgetNeeds()
        return decision
      }
      var missing = request.outputMissing ?? TaskSet(taskCount: plan.taskCount)
      for task in again { missing.insert(task) }
      request.outputMissing = missing
    }
  }
}
