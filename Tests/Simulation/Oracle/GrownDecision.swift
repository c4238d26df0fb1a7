import OpflowJournal
import OpflowPlan

/// The decisions of a resume for the tasks of that time; tasks added since then run.
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
