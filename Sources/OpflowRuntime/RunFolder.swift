package import OpflowCore
internal import OpflowSystem

package struct RunFolder: Sendable {
  package let path: String
  package init(path: String) { self.path = path }
  var workerLogPath: String { path + "/worker.log" }
  func logPath(of task: TaskID, in plan: Plan) -> String {
    path + "/logs/" + LogName.of(plan.nameBytes(task))
  }
}
