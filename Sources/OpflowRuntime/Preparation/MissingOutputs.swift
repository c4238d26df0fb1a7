internal import OpflowBase
internal import OpflowJournal
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWorker

struct MissingOutputs {
  private let network: NetworkFiles
  /// Listed again, once each, since that is expensive on a file server.
  private var refreshed: Set<String> = []

  /// Finished downloads without `to`, and successful tasks without content checks that lack one of
  /// their `outputs`; nil for none.
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

  /// A path that cannot be checked, for lack of permission for example, does not count as missing.
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
