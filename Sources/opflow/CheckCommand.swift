import OpflowCommandLine
import OpflowCore
import OpflowManifest
import OpflowRuntime

/// `opflow check`: reads and validates a manifest, runs nothing.
enum CheckCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    let manifest = try ManifestLookup.manifest(arguments.file, naming: arguments.tasks)
    let state = try RunLookup.state(arguments.view, for: manifest)
    let taskCount: Int
    if arguments.tasks.isEmpty {
      let checked = try console.preparing { () throws(PreparationError) in
        try manifest.check(set: arguments.set, state: state)
      }
      console.show(checked.warnings)
      taskCount = checked.taskCount
    } else {
      // What tasks are named by is found in a plan.
      let compiled = try console.preparing { () throws(PreparationError) in
        try manifest.compile(
          runID: ManifestFile.runIDOfCheck, set: arguments.set, maxParallel: nil, state: state)
      }
      console.show(compiled.warnings)
      try console.preparing { () throws(PreparationError) in
        try manifest.expectTasks(arguments.tasks, in: try compiled.openPlan())
      }
      taskCount = compiled.taskCount
    }
    let tasks = taskCount == 1 ? "1 task" : "\(taskCount) tasks"
    let path = CleanText.string(manifest.displayPath)
    try Console.write("\(path): \(tasks), no mistakes\n")
    return ExitCode.success.rawValue
  }
}
