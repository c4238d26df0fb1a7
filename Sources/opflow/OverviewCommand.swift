internal import OpflowBase
import OpflowCommandLine
internal import OpflowJournal
import OpflowManifest
internal import OpflowPlan
import OpflowRuntime
import OpflowSystem
internal import OpflowViews

enum OverviewCommand {
  /// Shows the nearest manifest, or help without one.
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    guard let path = try ManifestLookup.nearest() else {
      try Console.write(HelpText.program())
      return ExitCode.success.rawValue
    }
    return try show(try ManifestLookup.read(path), arguments, console)
  }

  static func performTasks(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    let manifest = try ManifestLookup.manifest(arguments.file, naming: arguments.tasks)
    return try show(manifest, arguments, console)
  }

  private static func show(
    _ manifest: ManifestFile, _ arguments: Invocation, _ console: Console
  ) throws(CommandError) -> Int32 {
    let compiled = try console.preparing(
      manifest.compile(runID: "overview", set: arguments.set, maxParallel: nil))
    console.show(compiled.warnings)
    let plan = try console.preparing { () throws(PreparationError) in
      let plan = try compiled.openPlan()
      try manifest.expectTasks(arguments.tasks, in: plan)
      return plan
    }
    let chosen = arguments.tasks.isEmpty ? nil : try? Selector.tasks(arguments.tasks, of: plan)
    if arguments.json {
      try Console.write(TasksJSON.text(plan, manifest: manifest.realPath, only: chosen))
      return ExitCode.success.rawValue
    }
    let state = try RunLookup.state(arguments.view, for: manifest)
    try Console.write(
      TasksView.text(
        plan, manifest: manifest.displayPath, only: chosen, newest: newest(manifest, state),
        nowMilliseconds: Clock.wallMilliseconds, color: console.colorsOutput))
    return ExitCode.success.rawValue
  }

  /// `opflow runs` reports runs that cannot be read.
  private static func newest(_ manifest: ManifestFile, _ state: StateFolder) -> RunStatus? {
    guard let folder = try? state.newestRun(ofManifest: manifest.realPath) else { return nil }
    return (try? ReadRun(folder))?.status
  }
}

enum CheckCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    let manifest = try ManifestLookup.manifest(arguments.file, naming: arguments.tasks)
    let state = try RunLookup.state(arguments.view, for: manifest)
    let taskCount: Int
    let manualCount: Int
    var mostDevices: (task: String, count: Int)?
    if arguments.tasks.isEmpty {
      let checked = try console.preparing(manifest.check(set: arguments.set, state: state))
      console.show(checked.warnings)
      (taskCount, manualCount) = (checked.taskCount, checked.manualCount)
      mostDevices = checked.mostDevices
    } else {
      // Selectors need a plan.
      let compiled = try console.preparing(
        manifest.compile(
          runID: ManifestFile.runIDOfCheck, set: arguments.set, maxParallel: nil, state: state))
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
    try Console.write("\(path): \(tasks)\(manual), no errors\n")
    return ExitCode.success.rawValue
  }
}
