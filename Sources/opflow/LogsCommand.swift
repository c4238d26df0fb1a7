internal import OpflowBase
import OpflowCommandLine
internal import OpflowPlan
import OpflowRuntime
import OpflowSystem
internal import OpflowViews

enum LogsCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    let (run, words) = try find(arguments)
    let tasks = try tasks(words, run, arguments)
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
      if !words.isEmpty {
        let silent = tasks.filter { !shown.exists($0) }
        tellOfInteractive(silent, run.plan)
        if silent.count == tasks.count, let newer = RunLookup.newer(than: run.folder, arguments) {
          Console.complain("opflow: logs: no output. \(newer)\n")
        }
      }
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
    let byDefault: ReadRun?
    var complaint: CommandError?
    do throws(CommandError) {
      byDefault = try read(RunLookup.run(nil, arguments.view))
    } catch {
      (byDefault, complaint) = (nil, error)
    }
    for (index, word) in arguments.tasks.enumerated() {
      if let byDefault, (try? Selector.tasks([word], of: byDefault.plan)) != nil { continue }
      if let folder = try RunLookup.namedRun(word, arguments.view) {
        var others = arguments.tasks
        others.remove(at: index)
        return (try read(folder), others)
      }
    }
    guard let run = byDefault else {
      throw complaint ?? CommandError(.internal, "no run was looked for")
    }
    return (run, arguments.tasks)
  }

  private static func read(_ folder: RunFolder) throws(CommandError) -> ReadRun {
    try RunLookup.reading { () throws(RunFolderError) in try ReadRun(folder) }
  }

  private static func tasks(
    _ selectors: [String], _ run: ReadRun, _ arguments: Invocation
  ) throws(CommandError) -> [TaskID] {
    let plan = run.plan
    let all = plan.tasks.map { TaskID($0) }
    if selectors.isEmpty { return all }
    do throws(UnfitSelector) {
      let set = try Selector.tasks(selectors, of: plan)
      return all.filter { set.contains($0) }
    } catch {
      let names = Array(plan.foldedNames.prefix(ManifestFile.mostTasksTold + 1))
      let list = CommandError.list(of: names) ?? ""
      throw RunLookup.complaint(
        error.message(of: "logs")
          + (error.nearest == nil ? ", and no run is named so\(list)" : ""),
        ofDefault: run.folder, arguments)
    }
  }
}
