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
    let manualCount: Int
    if arguments.tasks.isEmpty {
      let checked = try console.preparing { () throws(PreparationError) in
        try manifest.check(set: arguments.set, state: state)
      }
      console.show(checked.warnings)
      (taskCount, manualCount) = (checked.taskCount, checked.manualCount)
    } else {
      // What tasks are named by is found in a plan.
      let compiled = try console.preparing { () throws(PreparationError) in
        try manifest.compile(
          runID: ManifestFile.runIDOfCheck, set: arguments.set, maxParallel: nil, state: state)
      }
      console.show(compiled.warnings)
      let plan = try console.preparing { () throws(PreparationError) in
        let plan = try compiled.openPlan()
        try manifest.expectTasks(arguments.tasks, in: plan)
        return plan
      }
      taskCount = plan.taskCount
      manualCount = plan.tasks.count { plan.flags(TaskID($0)).contains(.manual) }
    }
    let tasks = taskCount == 1 ? "1 task" : "\(taskCount) tasks"
    let path = CleanText.string(manifest.displayPath)
    let manual = manualCount > 0 ? ", \(manualCount) of them manual" : ""
    try Console.write("\(path): \(tasks)\(manual), no mistakes\n")
    return ExitCode.success.rawValue
  }
}
