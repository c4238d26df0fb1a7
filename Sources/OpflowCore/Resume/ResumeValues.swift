extension ResumeDecision {
  /// Decides, and again as long as a task that is to run would read what is not there of one that keeps its
  /// result: that one then runs once more. Its values may be lost, or nobody was to read them when it ran,
  /// so that they were not kept.
  ///
  /// - Parameters:
  ///   - request: its `outputMissing` has those tasks too in the end.
  ///   - areThere: whether what a task left is still as it was. Asked of each once, and only of those that
  ///     left something.
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
      // Readers first: what runs once more reads, too.
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
            // As the reader stands, it has its end with what that left it. An `if` may be new.
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
