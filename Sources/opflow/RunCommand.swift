import OpflowCommandLine
import OpflowCore
import OpflowManifest
import OpflowRuntime
import OpflowSystem

/// `opflow run` and `opflow plan`: a new run of a manifest, or the forecast of one.
enum RunCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    let manifest = try ManifestFile(arguments.file, naming: arguments.tasks)
    let state = try RunLookup.state(arguments.view, for: manifest)
    if arguments.resumesNewest { return try resumeOrStart(manifest, state, arguments, console) }
    return try start(
      NewRun(manifest, state, arguments, console), manifest, state, arguments, console,
      releasing: nil)
  }

  /// `run --resume`: from the look for the run to its lock nobody else chooses one here.
  private static func resumeOrStart(
    _ manifest: ManifestFile, _ state: StateFolder, _ arguments: Invocation, _ console: Console
  ) throws(CommandError) -> Int32 {
    // Where there are no runs yet, a mistake of the manifest leaves no folder behind.
    var new: NewRun?
    if !state.isThere { new = try NewRun(manifest, state, arguments, console) }
    var choice: StateFolderLock?
    if !arguments.isDryRun {
      choice = try RunLookup.reading { () throws(RunFolderError) in
        try StateFolderLock.take(state) { holder in
          let name = holder.map { "process \($0)" } ?? "another process"
          console.warn("\(name) is about to run or resume something here; waiting for it")
        }
      }
    }
    if let run = try resumable(manifest, state, arguments) {
      return try ResumeCommand.resume(
        run, manifest: manifest, arguments, console, releasing: choice)
    }
    let started: NewRun
    if let early = new.take() {
      started = early
    } else {
      started = try NewRun(manifest, state, arguments, console)
    }
    return try start(started, manifest, state, arguments, console, releasing: choice)
  }

  /// The run that `--resume` goes on with, the newest of the same manifest, values and tasks; nil where
  /// it starts anew.
  private static func resumable(
    _ manifest: ManifestFile, _ state: StateFolder, _ arguments: Invocation
  ) throws(CommandError) -> RunFolder? {
    try RunLookup.reading { () throws(RunFolderError) -> RunFolder? in
      let newest = try state.newestRun(ofManifest: manifest.realPath) {
        $0.wasBegun(
          set: arguments.set, tasks: arguments.tasks, only: arguments.only, skip: arguments.skip)
      }
      guard let folder = newest else { return nil }
      try RunFolderLock.expectFree(folder)
      // Not with its plan, which another opflow may have made: the resume sees to that.
      let history = try folder.readRunHistory()
      return history.close?.state != .succeeded ? folder : nil
    }
  }

  /// - Parameter choice: released when the first line of the run tells others of it.
  private static func start(
    _ new: consuming NewRun, _ manifest: ManifestFile, _ state: StateFolder,
    _ arguments: Invocation, _ console: Console, releasing choice: consuming StateFolderLock?
  ) throws(CommandError) -> Int32 {
    if arguments.isDryRun {
      let plan = try new.prepared.open()
      return try forecast(
        plan, manifest, state, new.initial, owesFinally: new.owesFinally, arguments, console)
    }

    try Drive.expectProcesses()
    let warnings = try unfinished(manifest, state)
    let folder = try RunLookup.reading { () throws(RunFolderError) in
      try state.makeRun(nowMilliseconds: new.nowMilliseconds, random: new.random)
    }
    let lock = try RunLookup.reading { () throws(RunFolderError) in
      try RunFolderLock.take(folder)
    }
    if folder.id != new.expected, new.prepared.isOfOneRun {
      // Another process was faster, and expressions hold the run's id.
      new.prepared = try PreparedPlan(
        manifest, state, runID: folder.id.description, arguments, console)
    }
    var journal = try RunLookup.reading { () throws(RunFolderError) in
      try JournalFile.create(folder.journal)
    }
    let plan = try RunLookup.reading { () throws(RunFolderError) in
      try folder.write(manifest: manifest.bytes)
      return try new.prepared.place(in: folder)
    }
    var open = OpenEntry(
      run: folder.id.description, planKey: new.prepared.key.description,
      opflowVersion: Version.text,
      manifestPath: manifest.realPath, folder: manifest.folder)
    open.set = arguments.set
    open.tasks = arguments.tasks
    open.only = arguments.only
    open.skip = arguments.skip
    open.environment = new.prepared.environment
    open.stateFolder = state.path
    do throws(Errno) {
      try journal.write(.open(open), at: Clock.wallMilliseconds, plan: plan)
    } catch {
      throw CommandError(.io, "cannot write \(folder.journal)", error)
    }
    _ = consume choice
    var drive = Drive(folder, plan, arguments, console, initial: new.initial)
    drive.owesFinally = new.owesFinally
    drive.warnings = warnings
    drive.durations = state.durations(ofManifest: manifest.realPath, plan: plan)
    return try drive.perform(journal, holding: lock)
  }

  private static func forecast(
    _ plan: Plan, _ manifest: ManifestFile, _ state: StateFolder, _ initial: [InitialState],
    owesFinally: Bool, _ arguments: Invocation, _ console: Console
  ) throws(CommandError) -> Int32 {
    let view = PlanView(
      plan: plan, options: SchedulerOptions(arguments, plan), initial: initial,
      attempts: [Int32](repeating: 0, count: plan.taskCount), reasons: [],
      durations: state.durations(ofManifest: manifest.realPath, plan: plan),
      capacities: arguments.capacities.map { UInt64($0) }, owesFinally: owesFinally,
      color: console.colorsOutput)
    try view.write { bytes throws(CommandError) in try Console.write(bytes) }
    return ExitCode.success.rawValue
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

/// A run that is to begin, as far as that is known before there is a folder for it.
private struct NewRun {
  let nowMilliseconds = Clock.wallMilliseconds
  let random = UInt16.random(in: 0 ... .max)
  /// The id that the run will have, unless another process is faster.
  let expected: RunID
  var prepared: PreparedPlan
  /// How each task enters the scheduler.
  let initial: [InitialState]
  /// See `ResumeDecision`.
  let owesFinally: Bool

  init(
    _ manifest: ManifestFile, _ state: StateFolder, _ arguments: Invocation, _ console: Console
  ) throws(CommandError) {
    let (now, random) = (nowMilliseconds, random)
    expected = try RunLookup.reading { () throws(RunFolderError) in
      RunID.next(after: try state.runs().first, nowMilliseconds: now, random: random)
    }
    prepared = try PreparedPlan(
      manifest, state, runID: expected.description, arguments, console)
    (initial, owesFinally) = try Self.initialStates(arguments, &prepared, manifest)
  }

  private static func initialStates(
    _ arguments: Invocation, _ prepared: inout PreparedPlan, _ manifest: ManifestFile
  ) throws(CommandError) -> (initial: [InitialState], owesFinally: Bool) {
    if [arguments.tasks, arguments.only, arguments.skip, arguments.rerun].allSatisfy(\.isEmpty) {
      return ([InitialState](repeating: .run, count: prepared.taskCount), false)
    }
    let plan = try prepared.open()
    try NamedTasks.check(arguments.tasks, of: plan, from: manifest)
    do throws(SelectionError) {
      let selection = try Selection(
        tasks: arguments.tasks, only: arguments.only, skip: arguments.skip, of: plan)
      try selection.expectSomething(of: plan)
      // Of `run --resume`, which found nothing to continue: all its tasks run.
      if !arguments.rerun.isEmpty { _ = try Selection.tasks("--rerun", arguments.rerun, plan) }
      let initial = plan.tasks.map { selection.initialState(TaskID($0)) }
      return (initial, selection.namedFinally != nil)
    } catch {
      throw CommandError(error)
    }
  }
}
