package import OpflowPlan
internal import OpflowSystem

package struct RunLogs {
  private let folder: String
  private let names: Set<String>

  package init(_ run: RunFolder) {
    folder = run.logs
    names = Set((try? Path.names(in: run.logs)) ?? [])
  }

  /// nil for a task that printed nothing.
  package func path(of task: TaskID, in plan: Plan) -> String? {
    let name = LogName.of(plan.nameBytes(task))
    return names.contains(name) ? "\(folder)/\(name)" : nil
  }
}
