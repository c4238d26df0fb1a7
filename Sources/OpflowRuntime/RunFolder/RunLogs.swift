package import OpflowCore
internal import OpflowSystem

/// The logs that a run has.
package struct RunLogs {
  private let folder: String
  private let names: Set<String>

  package init(_ run: RunFolder) {
    folder = run.logs
    // Where the folder cannot be read no task has a log that anybody could look at.
    names = Set((try? Path.names(in: run.logs)) ?? [])
  }

  /// Absolute; nil for a task that printed nothing.
  package func path(of task: TaskID, in plan: Plan) -> String? {
    let name = LogName.of(plan.nameBytes(task))
    return names.contains(name) ? "\(folder)/\(name)" : nil
  }
}
