internal import OpflowCore
internal import OpflowSystem

/// Looks for the files that settled tasks say they made.
enum MissingOutputs {
  /// The downloads that succeeded and whose `to` is not there any more; nil for none. Only those
  /// that could be reused are looked for, one system call each.
  static func find(_ plan: Plan, _ history: RunModel) -> TaskSet? {
    var missing: TaskSet?
    for task in plan.downloadTasks where history[task].state.isTerminal {
      let target = String(decoding: plan.downloadTarget(task), as: UTF8.self)
      if isMissing(target) {
        missing = missing ?? TaskSet(taskCount: plan.taskCount)
        missing?.insert(task)
      }
    }
    return missing
  }

  /// Of a path that cannot be looked at, for lack of a permission for example, nothing is claimed.
  private static func isMissing(_ path: String) -> Bool {
    do throws(Errno) {
      _ = try Path.status(path)
      return false
    } catch {
      return error == .noSuchFile || error == .notADirectory
    }
  }
}
