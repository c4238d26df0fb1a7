package import OpflowPlan
internal import OpflowSystem

extension RunsAround {
  static var here: RunsAround {
    RunsAround(Environment.value(variable), own: Environment.value(ownVariable))
  }

  /// This process is part of that run, or of one nested in it.
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

extension PreparationError {
  /// Throws the first task to run that already contains this process.
  static func expectNotAround(
    _ plan: @autoclosure () throws(PreparationError) -> Plan, of manifest: String,
    _ initial: @autoclosure () -> [InitialState]
  ) throws(PreparationError) {
    let around = TasksAround.here
    // Manifests from standard input cannot be told apart.
    if around.isEmpty || manifest == ManifestFile.standardInput { return }
    let (plan, initial) = (try plan(), initial())
    for task in plan.tasks.lazy.map({ TaskID($0) })
    where [.run, .afterNeeds].contains(initial[task.index]) {
      let name = plan.nameString(task)
      if around.contains(name, of: manifest) { throw .taskAround(name) }
    }
  }
}

extension TaskAround {
  /// The task that contains this process.
  package static var here: TaskAround? {
    guard let run = RunsAround.innermost, let task = Environment.value(variable), !task.isEmpty
    else { return nil }
    return TaskAround(run: run, task: task)
  }

  /// The task of `run` that contains this process, even through a nested run; nil if it is not
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

  /// Only if this is not its first attempt: nested runs of an earlier one may be unfinished.
  package static var triedAgain: TaskAround? {
    guard let attempt = Environment.value("OPFLOW_ATTEMPT").flatMap({ Int($0) }), attempt > 1 else {
      return nil
    }
    return here
  }
}
