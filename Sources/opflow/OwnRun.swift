internal import OpflowBase
internal import OpflowPlan
import OpflowRuntime

enum OwnRun {
  /// Refuses a wait that would never end, since this process is part of the run or of `tasks`.
  /// `what` is the refused action, such as `to wait for it`.
  static func refuseToAwait(
    _ folder: RunFolder, tasks: [TaskID]? = nil, of plan: Plan? = nil, _ what: String
  ) throws(CommandError) {
    guard RunsAround.isHere(folder.id) else { return }
    let isWithin = RunsAround.innermost != folder.id
    guard let tasks, let plan else {
      throw CommandError(
        .held,
        "this is \(isWithin ? "run by " : "")a task of run \(folder.id): \(what) would never end")
    }
    guard let name = TaskAround.here(of: folder.id)?.task, let own = plan.task(named: name),
      tasks.contains(own)
    else { return }
    throw CommandError(
      .held,
      "this is \(isWithin ? "run by " : "")task \(CleanText.string(name)) of run \(folder.id): "
        + "\(what) would never end"
    )
  }
}
