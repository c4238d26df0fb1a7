internal import OpflowBase
import OpflowCommandLine
internal import OpflowJournal
internal import OpflowPlan
import OpflowRuntime
import OpflowSystem

enum WaitCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    _ = try Console.enter(arguments.view)
    let folder = try RunLookup.run(arguments.run, arguments.view)
    let tells = arguments.verbose || Terminal.isTerminal(Terminal.standardError)
    if arguments.waitsFor.isEmpty { return try waitForRun(folder, arguments, tells: tells) }
    return try waitForTasks(folder, arguments, tells: tells)
  }

  // MARK: - Runs

  private static func waitForRun(
    _ folder: RunFolder, _ arguments: Invocation, tells: Bool
  ) throws(CommandError) -> Int32 {
    try OwnRun.refuseToAwait(folder, "waiting for it")
    var watch = RunPoller(folder, watching: [])
    var isTold = !tells
    while true {
      let isHeld = try RunLookup.reading(RunFolderLock.isHeld(folder))
      if isHeld {
        if !isTold { tell("run \(folder.id)\(owner(of: folder))") }
        isTold = true
        try RunLookup.reading(watch.wait())
        continue
      }
      let history = try RunLookup.reading(folder.readRunHistory())
      if let close = history.close { return close.exitCode }
      // It died, unless a resume began between the two checks or a client will continue it.
      let goesOn = try RunLookup.reading(ClientsLock.goesOn(folder))
      if !goesOn { return died(folder, on: history.on, arguments) }
      // There is no event for that.
      try RunLookup.reading(watch.wait())
    }
  }

  private static func owner(of folder: RunFolder) -> String {
    RunFolderLock.holder(folder).map { " (\($0))" } ?? ""
  }

  private static func tell(_ detail: String) { Console.complain("opflow: waiting for \(detail)\n") }

  static func died(_ folder: RunFolder, on: [String], _ arguments: Invocation) -> Int32 {
    let resume = CommandText.resume(folder, on: on, arguments.view)
    Console.complain(
      "opflow: run \(folder.id) died: its opflow process is gone and recorded no end; to continue:"
        + " \(resume)\n")
    return ExitCode.died.rawValue
  }

  // MARK: - Tasks

  private static func waitForTasks(
    _ folder: RunFolder, _ arguments: Invocation, tells: Bool
  ) throws(CommandError) -> Int32 {
    var run = try RunLookup.reading(FollowedRun(folder))
    var watch = RunPoller(folder, watching: [folder.path])
    var tasks: [TaskID] = []
    var plan: Plan?
    // Tasks that vanished from the plan may be added again while the run is live.
    var lost: CommandError?
    var isTold = !tells
    while true {
      let began = Clock.monotonicNanoseconds
      try RunLookup.reading(run.look())
      // The plan was replaced, or tasks were added or retracted.
      if run.plan !== plan {
        lost = nil
        do throws(CommandError) {
          tasks = try chosen(run, arguments)
        } catch {
          if plan == nil { throw error }
          lost = error
        }
        plan = run.plan
        if lost == nil {
          try OwnRun.refuseToAwait(folder, tasks: tasks, of: run.plan, "waiting for it")
        }
      }
      if let lost {
        guard run.isHeld else { throw lost }
        try pause(since: began, &watch)
        continue
      }
      let end = run.model.end(of: tasks)
      switch run.isBeginning ? .open(count: tasks.count, first: tasks[0]) : end {
      case .good: return ExitCode.success.rawValue
      case .failed: return ExitCode.taskFailed.rawValue
      case .cancelled: return ExitCode.cancelled.rawValue
      case .open(let count, let first):
        let name = CleanText.string(run.plan.nameString(first))
        let others = count == 1 ? "" : count == 2 ? " and 1 other" : " and \(count - 1) others"
        guard try isAlive(run) else { return unended(name + others, run, arguments) }
        if !isTold { tell("\(name)\(others) of run \(folder.id)\(owner(of: folder))") }
        isTold = true
      }
      try pause(since: began, &watch)
    }
  }

  private static func chosen(
    _ run: FollowedRun, _ arguments: Invocation
  ) throws(CommandError) -> [TaskID] {
    let plan = run.plan
    let scope = RunScope.of(run.model, plan)
    var chosen = TaskSet(taskCount: plan.taskCount)
    for selector in arguments.waitsFor {
      let named = try rethrowing(Selector.tasks([selector], of: plan)) { (error: UnfitSelector) in
        RunLookup.complaint(error.message(of: "--for"), ofDefault: run.folder, arguments)
      }
      var isAny = false
      for task in plan.tasks.lazy.map({ TaskID($0) }) where named.contains(task) {
        guard scope?.contains(task) ?? true else { continue }
        chosen.insert(task)
        isAny = true
      }
      if !isAny {
        throw RunLookup.complaint(
          "--for: `\(CleanText.string(selector))` is not part of run \(run.folder.id), so waiting "
            + "for it would never end", ofDefault: run.folder, arguments)
      }
    }
    return plan.tasks.lazy.map { TaskID($0) }.filter { chosen.contains($0) }
  }

  private static func isAlive(_ run: FollowedRun) throws(CommandError) -> Bool {
    if run.isHeld { return true }
    if run.model.close != nil { return false }
    return try RunLookup.reading(ClientsLock.goesOn(run.folder))
  }

  private static func unended(
    _ names: String, _ run: FollowedRun, _ arguments: Invocation
  ) -> Int32 {
    guard let close = run.model.close else {
      return died(run.folder, on: run.model.on, arguments)
    }
    Console.complain(
      "opflow: run \(run.folder.id) has ended (\(close.state.rawValue)), but \(names) did not end"
        + " in it\n")
    return close.exitCode == 0 ? ExitCode.taskFailed.rawValue : close.exitCode
  }

  /// A run of a million tasks must not occupy a processor.
  private static func pause(since began: Int64, _ watch: inout RunPoller) throws(CommandError) {
    let rest = max(20_000_000, 9 * (Clock.monotonicNanoseconds - began))
    try rethrowing(PollSet.pause(nanoseconds: rest)) { CommandError(.io, "cannot wait", $0) }
    try RunLookup.reading(watch.wait())
  }
}
