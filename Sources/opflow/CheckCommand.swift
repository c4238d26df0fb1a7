import OpflowCommandLine
import OpflowCore
import OpflowManifest
import OpflowSystem

/// `opflow check`: reads and validates a manifest, runs nothing.
enum CheckCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    let manifest = try ManifestFile(arguments.file, naming: arguments.tasks)
    let compiled = try manifest.compile(
      runID: "check", set: arguments.set, maxParallel: nil, console: console,
      wantsPlan: !arguments.tasks.isEmpty,
      state: try RunLookup.state(arguments.view, for: manifest))
    console.show(compiled.warnings)
    if !arguments.tasks.isEmpty {
      let plan = try CompiledPlan.open(compiled.planBytes)
      try NamedTasks.check(arguments.tasks, of: plan, from: manifest)
    }
    let tasks = compiled.taskCount == 1 ? "1 task" : "\(compiled.taskCount) tasks"
    let path = CleanText.string(manifest.displayPath)
    try Console.write("\(path): \(tasks), no mistakes\n")
    return ExitCode.success.rawValue
  }
}
