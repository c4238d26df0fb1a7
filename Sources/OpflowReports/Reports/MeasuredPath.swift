internal import OpflowCore

/// The critical path by measured durations.
struct MeasuredPath {
  /// In the order of execution; may be empty.
  let tasks: [TaskID]
  let microseconds: Int64

  init(_ status: RunStatus) {
    let (plan, history) = (status.plan, status.history)
    let ran = plan.tasks.lazy.map { TaskID($0) }.filter {
      status.included.contains($0) && history[$0].attempts > 0
    }
    var measured = [Int64](repeating: -1, count: plan.taskCount)
    for task in ran { measured[task.index] = max(1, history[task].wallMicroseconds) }
    let durations = TaskDurations(measured: measured, plan: plan)
    tasks = CriticalPath(plan: plan, starts: Array(ran), durations: durations).tasks
    microseconds = tasks.reduce(0) { $0.plus(history[$1].wallMicroseconds) }
  }
}
