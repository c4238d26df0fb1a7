internal import OpflowPlan
import OpflowSystem

enum ManifestPlaces {
  /// Relative to the CI server's repository folder; nil outside. Only called for failed tasks.
  @Sendable static func place(_ task: TaskID, in plan: Plan) -> (file: String, line: Int)? {
    guard let (path, line) = plan.place(of: task),
      let workspace = Environment.value("GITHUB_WORKSPACE") ?? (try? Path.workingDirectory()),
      let root = try? Path.real(workspace)
    else { return nil }
    let folder = root == "/" ? root : root + "/"
    return path.hasPrefix(folder) ? (String(path.dropFirst(folder.utf8.count)), line) : nil
  }
}
