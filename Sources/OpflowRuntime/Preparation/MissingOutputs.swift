internal import OpflowCore
internal import OpflowSystem
internal import OpflowWorker

/// Looks for the files that settled tasks say they made.
struct MissingOutputs {
  private let network: NetworkFiles
  /// Looked at anew once: that asks a file server for the whole of a folder.
  private var refreshed: Set<String> = []

  /// The downloads that succeeded and whose `to` is not there any more, and the tasks that are not looked at by
  /// their contents and one of whose `outputs` is not there; nil for none. Only those that could be reused are
  /// looked for.
  static func find(
    _ plan: Plan, _ history: RunModel, network: NetworkFiles = NetworkFiles()
  ) -> TaskSet? {
    var outputs = MissingOutputs(network: network)
    var missing = TaskSet(taskCount: plan.taskCount)
    for task in plan.downloadTasks where history[task].state.isTerminal {
      let target = String(decoding: plan.downloadTarget(task), as: UTF8.self)
      if outputs.areMissing(at: target) {
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
        if outputs.areMissing(of: task, plan, folders) { missing.insert(task) }
      }
    }
    return missing.isEmpty ? nil : missing
  }

  private mutating func areMissing(
    of task: TaskID, _ plan: Plan, _ folders: FolderMemory
  ) -> Bool {
    let folder = plan.string(plan.record(task).directory)
    return plan.outputs(of: task).contains { output in
      switch output {
      case .path(let path):
        return areMissing(
          at: path.hasPrefix("/") ? path : folder + "/" + path, followingLinks: false)
      case .glob(let pattern):
        guard
          case .success(let names) = FileNames.fitting(
            pattern, in: folder, folders: folders, keepsLinks: true)
        else { return false }
        return names.isEmpty
      }
    }
  }

  /// Of a path that cannot be looked at, for lack of a permission for example, nothing is claimed.
  private mutating func areMissing(at path: String, followingLinks: Bool = true) -> Bool {
    if !Self.isUnseen(path, followingLinks: followingLinks) { return false }
    let folder = Path.parent(of: path)
    guard refreshed.insert(folder).inserted, network.have(folder: folder) else { return true }
    NetworkFiles.refresh(folder: folder)
    return Self.isUnseen(path, followingLinks: followingLinks)
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
