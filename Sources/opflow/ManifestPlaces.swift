import OpflowCore
import OpflowSystem

/// Where tasks stand, as the CI server knows their files: by paths from the folder that it has the repository
/// in.
enum ManifestPlaces {
  /// Nil for a task of a file that is outside of that folder. Only asked for what failed.
  @Sendable static func place(_ task: TaskID, in plan: Plan) -> (file: String, line: Int)? {
    guard let (path, line) = plan.place(of: task),
      let workspace = Environment.value("GITHUB_WORKSPACE") ?? (try? Path.workingDirectory()),
      let root = try? Path.real(workspace)
    else { return nil }
    let folder = root == "/" ? root : root + "/"
    return path.hasPrefix(folder) ? (String(path.dropFirst(folder.utf8.count)), line) : nil
  }
}
