internal import OpflowCore
internal import OpflowSystem
internal import OpflowWorker

/// Looks for the files that settled tasks say they made.
enum MissingOutputs {
  /// The downloads that succeeded and whose `to` is not there any more, and the tasks that are not looked at by
  /// their contents and one of whose `outputs` is not there; nil for none. Only those that could be reused are
  /// looked for.
  static func find(
    _ plan: Plan, _ history: RunModel, network: NetworkFiles = NetworkFiles()
  ) -> TaskSet? {
    var missing = TaskSet(taskCount: plan.taskCount)
    for task in plan.downloadTasks where history[task].state.isTerminal {
      let target = String(decoding: plan.downloadTarget(task), as: UTF8.self)
      if isMissing(target, network) {
        missing.insert(task)
      }
    }
    if plan.declaresFiles {
      // Tasks mostly look into the same few folders.
      let folders = FolderMemory(network: network)
      for number in plan.tasks {
        let task = TaskID(number)
        guard plan.declaresOutputs(task), !plan.isChecked(task), history[task].state == .succeeded
        else { continue }
        if isMissingOutput(of: task, plan, folders, network) { missing.insert(task) }
      }
    }
    return missing.isEmpty ? nil : missing
  }

  private static func isMissingOutput(
    of task: TaskID, _ plan: Plan, _ folders: FolderMemory, _ network: NetworkFiles
  ) -> Bool {
    let folder = plan.string(plan.record(task).directory)
    return plan.outputs(of: task).contains { output in
      switch output {
      case .path(let path):
        return isMissing(
          path.hasPrefix("/") ? path : folder + "/" + path, network, followingLinks: false)
      case .glob(let pattern):
        guard case .success(let names) = FileNames.fitting(pattern, in: folder, folders: folders)
        else { return false }
        return names.isEmpty
      }
    }
  }

  /// Of a path that cannot be looked at, for lack of a permission for example, nothing is claimed.
  private static func isMissing(
    _ path: String, _ network: NetworkFiles, followingLinks: Bool = true
  ) -> Bool {
    if !isUnseen(path, followingLinks: followingLinks) { return false }
    let folder = Path.parent(of: path)
    guard network.have(folder: folder) else { return true }
    // What it remembers of the folder may be old: it looks anew when that is listed.
    _ = try? Path.names(in: folder)
    return isUnseen(path, followingLinks: followingLinks)
  }

  private static func isUnseen(_ path: String, followingLinks: Bool) -> Bool {
    do throws(Errno) {
      _ = followingLinks ? try Path.status(path) : try Path.linkStatus(path)
      return false
    } catch {
      return error == .noSuchFile || error == .notADirectory
    }
  }
}
