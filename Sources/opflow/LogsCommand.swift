import OpflowCommandLine
import OpflowCore
import OpflowRuntime
import OpflowSystem

/// `opflow logs`: shows the output of tasks.
enum LogsCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    let (run, words) = try find(arguments)
    let tasks = try tasks(words, run.plan)
    if arguments.follows, run.isHeld {
      try OwnRun.refuseToAwait(
        run.folder, tasks: words.isEmpty ? nil : tasks, of: run.plan,
        "to follow what it prints itself")
      var follower = LogFollower(
        run, tasks, endsWithTasks: !words.isEmpty, color: console.colorsOutput)
      try follower.follow()
    } else {
      var shown = ShownLogs(
        run, labels: tasks.count > 1 ? .headers : .none, color: console.colorsOutput)
      for task in tasks where shown.exists(task) {
        try shown.show(task)
        try shown.end(task)
      }
      if !words.isEmpty { tellOfInteractive(tasks.filter { !shown.exists($0) }, run.plan) }
    }
    return ExitCode.success.rawValue
  }

  private static func tellOfInteractive(_ tasks: [TaskID], _ plan: Plan) {
    for task in tasks where plan.flags(task).contains(.interactive) {
      let name = CleanText.string(plan.nameString(task))
      Console.complain(
        "opflow: \(name) is interactive: the terminal had what it printed, no log\n")
    }
  }

  /// A word that is not a task may name the run.
  private static func find(
    _ arguments: Invocation
  ) throws(CommandError) -> (run: ReadRun, words: [String]) {
    if arguments.run != nil || arguments.tasks.isEmpty {
      return (try read(RunLookup.run(arguments.run, arguments.view)), arguments.tasks)
    }
    let newest: ReadRun?
    var complaint: CommandError?
    do throws(CommandError) {
      newest = try read(RunLookup.run(nil, arguments.view))
    } catch {
      (newest, complaint) = (nil, error)
    }
    for (index, word) in arguments.tasks.enumerated() {
      if let newest, (try? Selector.tasks([word], of: newest.plan)) != nil { continue }
      if let folder = try RunLookup.namedRun(word, arguments.view) {
        var others = arguments.tasks
        others.remove(at: index)
        return (try read(folder), others)
      }
    }
    guard let newest else { throw complaint ?? CommandError(.internal, "no run was looked for") }
    return (newest, arguments.tasks)
  }

  private static func read(_ folder: RunFolder) throws(CommandError) -> ReadRun {
    try RunLookup.reading { () throws(RunFolderError) in try ReadRun(folder) }
  }

  private static func tasks(
    _ selectors: [String], _ plan: Plan
  ) throws(CommandError) -> [TaskID] {
    let all = plan.tasks.map { TaskID($0) }
    if selectors.isEmpty { return all }
    do throws(UnfitSelector) {
      let set = try Selector.tasks(selectors, of: plan)
      return all.filter { set.contains($0) }
    } catch {
      let names = Array(plan.foldedNames.prefix(ManifestFile.mostTasksTold + 1))
      let list = CommandError.list(of: names) ?? ""
      throw CommandError(
        .usage,
        error.message(of: "logs")
          + (error.nearest == nil ? ", and no run is named so\(list)" : ""))
    }
  }
}
