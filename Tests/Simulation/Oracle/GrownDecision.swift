import OpflowJournal
import OpflowPlan

/// What a resume decided of the tasks that there were then; what was added since runs.
struct GrownDecision {
  let first: ResumeDecision
  let taskCount: Int

  init(_ first: ResumeDecision, taskCount: Int) {
    self.first = first
    self.taskCount = taskCount
  }

  subscript(task: TaskID) -> ResumeDecision.Verdict {
    task.index < taskCount ? first[task] : .run(.new)
  }
}
