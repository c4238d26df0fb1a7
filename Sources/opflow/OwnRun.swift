import OpflowCore
import OpflowRuntime

/// The run that this process is part of, as a task of it.
enum OwnRun {
  /// Refuses to wait for the end of what this process is part of, which waits for this process.
  ///
  /// - Parameters:
  ///   - tasks: what is waited for; nil for the run.
  ///   - what: is not to be done, as `to wait for it`.
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
      "this is \(isWithin ? "run by " : "")task \(CleanText.string(name)) of run \(folder.id): \(what) would never end"
    )
  }
}
