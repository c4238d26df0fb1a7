package import OpflowCore
internal import OpflowSystem

extension RunsAround {
  /// Those around this process.
  static var here: RunsAround {
    RunsAround(Environment.value(variable), own: Environment.value(ownVariable))
  }

  /// The run that this process is part of; nil for none.
  package static var innermost: RunID? { Environment.value(ownVariable).flatMap { RunID($0) } }
}

extension TaskAround {
  /// The task that this process is part of; nil for none.
  package static var here: TaskAround? {
    guard let run = RunsAround.innermost, let task = Environment.value("OPFLOW_TASK"), !task.isEmpty
    else { return nil }
    return TaskAround(run: run, task: task)
  }

  /// The same where the task was tried before: what it ran then may have been cut short.
  package static var triedAgain: TaskAround? {
    guard let attempt = Environment.value("OPFLOW_ATTEMPT").flatMap({ Int($0) }), attempt > 1 else {
      return nil
    }
    return here
  }
}
