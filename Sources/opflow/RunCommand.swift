import OpflowCore
import OpflowManifest
import OpflowRuntime
import OpflowSystem

/// `opflow run` and `opflow plan`: a new run of a manifest, or the forecast of one.
enum RunCommand {
  static func perform(_ arguments: RunArguments) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    let manifest = try ManifestFile(arguments.file, naming: arguments.tasks)
    let state = try RunLookup.state(arguments.view, for: manifest)
    if arguments.resumesNewest, let run = try resumable(manifest, state, arguments) {
      return try ResumeCommand.resume(run, manifest: manifest, arguments, console)
    }
    return try start(manifest, state, arguments, console)
  }

  /// The run that `--resume` goes on with; nil where it starts anew.
  private static func resumable(
    _ manifest: ManifestFile, _ state: StateFolder, _ arguments: RunArguments
  ) throws(CommandError) -> RunFolder? {
    try RunLookup.reading { () throws(RunFolderError) -> RunFolder? in
      guard let folder = try state.newestRun(ofManifest: manifest.realPath) else { return nil }
      try RunFolderLock.expectFree(folder)
      // Not with its plan, which another opflow may have made: the resume sees to that.
      let history = try folder.readRunHistory()
      let isSame = history.set == arguments.set && history.tasks == arguments.tasks
      return isSame && history.close?.state != .succeeded ? folder : nil
    }
  }

  private static func start(
    _ manifest: ManifestFile, _ state: StateFolder, _ arguments: RunArguments, _ console: Console
  ) throws(CommandError) -> Int32 {
    let now = Clock.wallMilliseconds
    let random = UInt16.random(in: 0 ... .max)
    let expected = try RunLookup.reading { () throws(RunFolderError) in
      RunID.next(after: try state.runs().first, nowMilliseconds: now, random: random)
    }
    var prepared = try PreparedPlan(
      manifest, state, runID: expected.description, arguments, console)
    let initial = try initialStates(arguments, &prepared, manifest)
    if arguments.isDryRun {
      return try forecast(try prepared.open(), manifest, state, initial, arguments, console)
    }

    try Drive.expectProcesses()
    let warnings = try unfinished(manifest, state)
    let folder = try RunLookup.reading { () throws(RunFolderError) in
      try state.makeRun(nowMilliseconds: now, random: random)
    }
    let lock = try RunLookup.reading { () throws(RunFolderError) in
      try RunFolderLock.take(folder)
    }
    if folder.id != expected, prepared.isOfOneRun {
      // Another process was faster, and expressions hold the run's id.
      prepared = try PreparedPlan(
        manifest, state, runID: folder.id.description, arguments, console)
    }
    let journal = try RunLookup.reading { () throws(RunFolderError) in
      try JournalFile.create(folder.journal)
    }
    let plan = try RunLookup.reading { () throws(RunFolderError) in
      try folder.write(manifest: manifest.bytes)
      return try prepared.place(in: folder)
    }
    var open = OpenEntry(
      run: folder.id.description, planKey: prepared.key.description, opflowVersion: Version.text,
      manifestPath: manifest.realPath, folder: manifest.folder)
    open.set = arguments.set
    open.tasks = arguments.tasks
    open.only = arguments.only
    open.skip = arguments.skip
    open.environment = prepared.environment
    open.stateFolder = state.path
    var drive = Drive(folder, plan, arguments, console, initial: initial)
    drive.opening = [.open(open)]
    drive.warnings = warnings
    drive.durations = state.durations(ofManifest: manifest.realPath, plan: plan)
    return try drive.perform(journal, holding: lock)
  }

  private static func forecast(
    _ plan: Plan, _ manifest: ManifestFile, _ state: StateFolder,
    _ initial: [InitialState], _ arguments: RunArguments, _ console: Console
  ) throws(CommandError) -> Int32 {
    let view = PlanView(
      plan: plan, options: SchedulerOptions(arguments, plan), initial: initial,
      attempts: [Int32](repeating: 0, count: plan.taskCount), reasons: [],
      durations: state.durations(ofManifest: manifest.realPath, plan: plan),
      capacities: arguments.capacities.map { UInt64($0) }, color: console.colorsOutput)
    try view.write { bytes throws(CommandError) in try Console.write(bytes) }
    return ExitCode.success.rawValue
  }

  private static func initialStates(
    _ arguments: RunArguments, _ prepared: inout PreparedPlan, _ manifest: ManifestFile
  ) throws(CommandError) -> [InitialState] {
    if arguments.tasks.isEmpty, arguments.only.isEmpty, arguments.skip.isEmpty {
      return [InitialState](repeating: .run, count: prepared.taskCount)
    }
    let plan = try prepared.open()
    try NamedTasks.check(arguments.tasks, of: plan, from: manifest)
    do throws(UsageError) {
      let selection = try Selection(
        tasks: arguments.tasks, only: arguments.only, skip: arguments.skip, of: plan)
      return plan.tasks.map { selection.initialState(TaskID($0)) }
    } catch {
      throw CommandError(error)
    }
  }

  /// What is to be said of the newest run of the same manifest, when that did not end.
  private static func unfinished(
    _ manifest: ManifestFile, _ state: StateFolder
  ) throws(CommandError) -> [String] {
    guard let newest = try? state.newestRun(ofManifest: manifest.realPath),
      // Before the journal: a run that ends meanwhile is taken for running, never for interrupted.
      let isHeld = try? RunFolderLock.isHeld(newest), let history = try? newest.readRunHistory()
    else { return [] }
    switch history.state(isHeld: isHeld) {
    case .running: return ["run \(newest.id) of this manifest is still running"]
    case .interrupted, .cancelled:
      return [
        "the newest run of this manifest, \(newest.id), did not end; this one starts anew. "
          + "`opflow resume \(newest.id)` would have continued it"
      ]
    case .succeeded, .failed: return []
    }
  }
}
