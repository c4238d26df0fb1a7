internal import OpflowBase
import OpflowCommandLine
import OpflowManifest
internal import OpflowPlan
import OpflowRuntime

/// Suggests `opflow run` if an unknown command is a task, as in make, just and task.
enum TaskAsCommand {
  static func helped(_ error: UsageError) -> UsageError {
    guard let unknown = error.unknownCommand, let plan = plan() else { return error }
    let shown = CleanText.string(unknown.word)
    let nearest: String?
    do throws(UnfitSelector) {
      _ = try Selector.tasks([unknown.word], of: plan)
      return UsageError("unknown command \(shown); it is a task: `opflow run \(shown)`")
    } catch {
      nearest = error.nearest
    }
    if unknown.isForeign { return error }
    if let task = nearest {
      let other = unknown.nearest.map { ", or `opflow \($0)`" } ?? ""
      return UsageError(
        "unknown command \(shown); did you mean `opflow run \(CleanText.string(task))`\(other)?")
    }
    guard unknown.nearest == nil else { return error }
    return UsageError(
      "unknown command \(shown), and no task of that name; `opflow tasks` shows the tasks")
  }

  private static func plan() -> Plan? {
    guard let path = (try? ManifestLookup.nearest()) ?? nil,
      let manifest = try? ManifestLookup.read(path),
      let compiled = try? manifest.compile(
        runID: ManifestFile.runIDOfCheck, set: [], maxParallel: nil)
    else { return nil }
    return try? compiled.openPlan()
  }
}
