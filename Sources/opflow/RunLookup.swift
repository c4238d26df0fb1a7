internal import OpflowBase
import OpflowCommandLine
internal import OpflowJournal
internal import OpflowPlan
import OpflowRuntime
import OpflowSystem

enum RunLookup {
  /// `--state-dir`, else the nearest `.opflow`, else within a task that of its run.
  static func state(_ arguments: ViewArguments) throws(CommandError) -> StateFolder {
    if let path = arguments.stateDirectory {
      guard Path.isDirectory(path) else {
        throw CommandError(.usage, "no runs: there is no folder \(CleanText.string(path))")
      }
      return StateFolder(path: try absolute(path))
    }
    if let state = StateFolder.nearest(to: try workingDirectory()) { return try trusted(state) }
    if let own = RunsAround.innermostFolder { return StateFolder(holding: own) }
    throw CommandError(
      .usage,
      "no runs: there is no folder \(StateFolder.name) here or above; `opflow run` starts a run, "
        + "-C or --state-dir names another folder")
  }

  /// `--state-dir`, else `.opflow` in the manifest's folder.
  static func state(
    _ arguments: ViewArguments, for manifest: ManifestFile
  ) throws(CommandError) -> StateFolder {
    if let path = arguments.stateDirectory { return StateFolder(path: try absolute(path)) }
    let isFile = manifest.realPath != ManifestFile.standardInput
    return try trusted(.beside(manifest: isFile ? manifest.realPath : "\(manifest.folder)/-"))
  }

  private static func trusted(_ state: StateFolder) throws(CommandError) -> StateFolder {
    try reading(state.expectTrusted())
    return state
  }

  /// nil names the newest run. A manifest's runs are in its own state folder.
  static func run(_ word: String?, _ arguments: ViewArguments) throws(CommandError) -> RunFolder {
    guard let word else { return try defaultRun(arguments) }
    if arguments.stateDirectory == nil, let own = RunsAround.innermostFolder,
      word == own.id.description
    {
      return own
    }
    let reference = ManifestFile.path(word)
    let state = try state(of: reference, arguments)
    do throws(RunFolderError) {
      return try state.run(reference)
    } catch {
      guard case .noSuchRun(let name) = error else { throw CommandError(error) }
      if NearestFile.isManifest(name), Path.exists(name), !Path.isDirectory(name) {
        let shown = CleanText.string(name)
        throw CommandError(
          .usage,
          "no runs of `\(shown)` in \(ShownPath(arguments).text(state.path));"
            + " `opflow run \(shown)` starts one")
      }
      throw CommandError(.usage, error.message + hint(name, state))
    }
  }

  /// Within a task the run of that task, else the newest live run, else the newest run. For a
  /// request (`isAsked`) several live runs are an error.
  static func defaultRun(
    _ arguments: ViewArguments, isAsked: Bool = false
  ) throws(CommandError) -> RunFolder {
    if let own = RunsAround.innermost {
      if arguments.stateDirectory == nil { return try run(own.description, arguments) }
      let folder = try state(arguments).folder(of: own)
      if Path.isDirectory(folder.path) { return folder }
    }
    let state = try state(arguments)
    let live = try reading(state.liveRuns())
    guard isAsked else {
      // One that has just begun has nothing to show.
      if let newest = live.first(where: \.hasBegun) { return newest }
      return try newestRun(arguments)
    }
    if live.count > 1 {
      let ids = live.prefix(5).map { $0.id.description }.joined(separator: ", ")
      throw CommandError(
        .usage,
        "\(live.count) runs are live here: \(ids)\(live.count > 5 ? ", …" : ""); name one with"
          + " `--run ID`")
    }
    if let only = live.first { return only }
    return try newestRun(arguments)
  }

  /// The error for a word that matches no task; names a newer run, which the user may mean.
  static func complaint(
    _ message: String, ofDefault run: RunFolder, _ arguments: Invocation
  ) -> CommandError {
    CommandError(.usage, newer(than: run, arguments).map { "\(message) (\($0))" } ?? message)
  }

  /// nil if the default run is the newest one or a run is named.
  static func newer(than run: RunFolder, _ arguments: Invocation) -> String? {
    guard arguments.run == nil, let newest = try? newestRun(arguments.view), newest.id > run.id
    else { return nil }
    return "opflow used the live run \(run.id); for the newest run, add `--run \(newest.id)`"
  }

  static func newestRun(_ arguments: ViewArguments) throws(CommandError) -> RunFolder {
    let state = try state(arguments)
    return try reading(state.run(nil))
  }

  private static func hint(_ name: String, _ state: StateFolder) -> String {
    let newest = (try? state.run(nil)).flatMap { try? $0.openPlan() }
    if newest?.task(named: name) != nil {
      let (shown, typed) = (CleanText.string(name), QuotedWords.quoted(CleanText.string(name)))
      return
        "; `\(shown)` is a task: `opflow run \(typed)` runs it, `opflow logs \(typed)` shows its"
        + " output"
    }
    let runs = ((try? state.runs()) ?? []).map(\.description)
    if let nearest = NearestName.of(name, among: runs) { return "; did you mean `\(nearest)`?" }
    return NearestFile.hint(name, where: NearestFile.isManifest)
  }

  /// nil if no run matches.
  static func namedRun(
    _ reference: String, _ arguments: ViewArguments
  ) throws(CommandError) -> RunFolder? {
    let reference = ManifestFile.path(reference)
    guard let state = try? state(of: reference, arguments) else { return nil }
    return try reading { () throws(RunFolderError) -> RunFolder? in
      do throws(RunFolderError) {
        return try state.run(reference)
      } catch .noSuchRun {
        return nil
      }
    }
  }

  private static func state(
    of reference: String, _ arguments: ViewArguments
  ) throws(CommandError) -> StateFolder {
    if arguments.stateDirectory == nil, !Path.isDirectory(reference),
      let manifest = try? Path.real(reference)
    {
      return try trusted(.beside(manifest: manifest))
    }
    return try state(arguments)
  }

  static func reading<Result: ~Copyable>(
    _ body: @autoclosure () throws(RunFolderError) -> Result
  ) throws(CommandError) -> Result {
    try rethrowing(body()) { (error: RunFolderError) in CommandError(error) }
  }

  static func reading<Result: ~Copyable>(
    _ body: () throws(RunFolderError) -> Result
  ) throws(CommandError) -> Result {
    try reading(body())
  }

  static func workingDirectory() throws(CommandError) -> String {
    try rethrowing(Path.workingDirectory()) {
      CommandError($0 == .notUTF8 ? .usage : .io, "cannot work in this folder", $0)
    }
  }

  private static func absolute(_ path: String) throws(CommandError) -> String {
    if let real = try? Path.real(path) { return real }
    return path.hasPrefix("/") ? path : "\(try workingDirectory())/\(path)"
  }

  static func durations(_ open: OpenEntry, _ folder: RunFolder, _ plan: Plan) -> TaskDurations {
    StateFolder(holding: folder).durations(
      ofManifest: RunManifest(open, folder).realPath, plan: plan)
  }
}

enum OwnRun {
  /// Refuses a wait that would never end, since this process is part of the run or of `tasks`.
  /// `detail` is the refused action, such as `waiting for it`.
  static func refuseToAwait(
    _ folder: RunFolder, tasks: [TaskID]? = nil, of plan: Plan? = nil, _ detail: String
  ) throws(CommandError) {
    guard RunsAround.isHere(folder.id) else { return }
    let isWithin = RunsAround.innermost != folder.id
    guard let tasks, let plan else {
      throw CommandError(
        .held,
        "this command was started by \(isWithin ? "a run within " : "")a task of run"
          + " \(folder.id), so \(detail) would never end")
    }
    guard let name = TaskAround.here(of: folder.id)?.task, let own = plan.task(named: name),
      let waiting = tasks.first(where: { $0 == own }) ?? first(of: tasks, awaiting: own, in: plan)
    else { return }
    let why =
      waiting == own
      ? "" : ": \(CleanText.string(plan.nameString(waiting))) starts after this task"
    throw CommandError(
      .held,
      "this command was started by \(isWithin ? "a run within " : "")task \(CleanText.string(name))"
        + " of run \(folder.id), so \(detail) would never end\(why)")
  }

  /// Dependents start after a task has ended, and `finally` tasks after all others. A service is
  /// only awaited until it is ready.
  private static func first(of tasks: [TaskID], awaiting own: TaskID, in plan: Plan) -> TaskID? {
    if plan.isService(own) { return nil }
    let isLast = plan.flags(own).contains(.finally)
    if !isLast, let task = tasks.first(where: { plan.flags($0).contains(.finally) }) { return task }
    var found = TaskSet(taskCount: plan.taskCount)
    var open = [own]
    while let task = open.popLast() {
      for edge in plan.dependents(task) where found.insert(plan.dependent(edge)) {
        open.append(plan.dependent(edge))
      }
    }
    return tasks.first { found.contains($0) }
  }
}
