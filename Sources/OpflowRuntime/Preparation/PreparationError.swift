internal import OpflowBase
package import OpflowManifest
package import OpflowPlan
package import OpflowSystem

package enum PreparationError: Error {
  case unreadable(manifest: String, Errno)
  case diagnostics(ManifestError)
  case folder(RunFolderError)
  case noSuchTask(UnfitSelector, manifest: String, tasks: [String])
  case selection(SelectionError)
  /// A bug in opflow.
  case unsoundPlan(PlanError)
  /// The addition is too large, or a bug in opflow.
  case unfitAddition(GrownPlanError)
  /// No manifest of the run declares the generator's matrix: a bug in opflow.
  case noInstanceSource(String)
  /// Processes cannot be inspected, and so not started or ended safely.
  case noProcesses(String)
  /// The manifest has changed meanwhile.
  case secrets(SecretFaults)
  /// A `--set` value, which would be stored, contains a secret.
  case secretSet(name: String)
  case secretOn
  /// An option that names a run or tasks contains a secret.
  case secretNamed(option: String)
  case noDescriptors(Int, Errno)
  case noMemoryLimits(String)
  /// The manifest has changed meanwhile.
  case noTerminal(tasks: [String])
  /// Workers of an earlier session are, or may be, alive on these machines.
  case workersElsewhere([String])
  case noProgram(String, for: String)
  /// Slurm's controller does not answer; the output of `scontrol ping`.
  case noController(String)
  case taskAround(String)
  case survivors([Orphans.Survivor])
  case tooFewDevices(task: String, wanted: Int, there: Int)
}

func withFolder<Result: ~Copyable>(
  _ body: @autoclosure () throws(RunFolderError) -> Result
) throws(PreparationError) -> Result {
  try rethrowing(body()) { PreparationError.folder($0) }
}

extension RunsAround {
  static var here: RunsAround {
    RunsAround(Environment.value(variable), own: Environment.value(ownVariable))
  }

  /// True if this process is part of the run, or of a run nested in it.
  package static func isHere(_ run: RunID) -> Bool { here.contains(run) }

  package static var innermost: RunID? { Environment.value(ownVariable).flatMap { RunID($0) } }

  /// nil if unknown or moved.
  package static var innermostFolder: RunFolder? {
    guard let run = innermost, let path = Environment.value(folderVariable), path.hasPrefix("/"),
      Path.name(path) == run.description, Path.isDirectory(path)
    else { return nil }
    return RunFolder(id: run, path: path)
  }
}

extension TasksAround {
  static var here: TasksAround {
    TasksAround(
      Environment.value(variable), manifest: Environment.value(manifestVariable),
      task: Environment.value(TaskAround.variable))
  }
}

extension TaskAround {
  package static var here: TaskAround? {
    guard let run = RunsAround.innermost, let task = Environment.value(variable), !task.isEmpty
    else { return nil }
    return TaskAround(run: run, task: task)
  }

  /// Returns the task of `run` that contains this process, even through a nested run; nil if not
  /// visible.
  package static func here(of run: RunID) -> TaskAround? {
    if let here, here.run == run { return here }
    guard RunsAround.isHere(run) else { return nil }
    var current = ProcessID.own
    for _ in 0..<longestChain where current > 1 {
      guard let status = ProcessStatus.read(current) else { return nil }
      current = status.parent
      let environment = ProcessStatus.environment(of: current) ?? []
      // The task started the coordinator of the nested run.
      if let found = TaskAround(environment: environment), found.run == run { return found }
    }
    return nil
  }

  private static let longestChain = 4096

  /// nil at the first attempt: only nested runs of earlier attempts may be unfinished.
  package static var triedAgain: TaskAround? {
    guard let attempt = Environment.value("OPFLOW_ATTEMPT").flatMap({ Int($0) }), attempt > 1 else {
      return nil
    }
    return here
  }
}
