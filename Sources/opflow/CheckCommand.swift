internal import OpflowBase
import OpflowCommandLine
import OpflowManifest
internal import OpflowPlan
import OpflowRuntime
import OpflowSystem

enum CheckCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    let manifest = try ManifestLookup.manifest(arguments.file, naming: arguments.tasks)
    let state = try RunLookup.state(arguments.view, for: manifest)
    let taskCount: Int
    let manualCount: Int
    var mostDevices: (task: String, count: Int)?
    if arguments.tasks.isEmpty {
      let checked = try console.preparing { () throws(PreparationError) in
        try manifest.check(set: arguments.set, state: state)
      }
      console.show(checked.warnings)
      (taskCount, manualCount) = (checked.taskCount, checked.manualCount)
      mostDevices = checked.mostDevices
    } else {
      // Selectors need a plan.
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
      if let most = plan.tasks.lazy.map({ TaskID($0) }).max(by: {
        plan.gpuCount(of: $0) < plan.gpuCount(of: $1)
      }) {
        mostDevices = (plan.nameString(most), plan.gpuCount(of: most))
      }
    }
    // The manifest may be meant for another machine.
    let there = GraphicsProcessors.names.count
    if let (task, wanted) = mostDevices, wanted > there {
      let error = PreparationError.tooFewDevices(task: task, wanted: wanted, there: there)
      console.warn(CommandError(error, colored: false).message)
    }
    let tasks = taskCount == 1 ? "1 task" : "\(taskCount) tasks"
    let path = CleanText.string(manifest.displayPath)
    let manual = manualCount > 0 ? ", \(manualCount) of them manual" : ""
    try Console.write("\(path): \(tasks)\(manual), no mistakes\n")
    return ExitCode.success.rawValue
  }
}
