import OpflowCommandLine
import OpflowCore
import OpflowRuntime
import OpflowSystem

/// A drive of a run, new or further, as the command line wants it.
struct Drive {
  private let folder: RunFolder
  private let plan: Plan
  private let arguments: Invocation
  private let console: Console
  private let initial: [InitialState]
  var attempts: [Int32]
  var isResumed = false
  var opening: [JournalEntry] = []
  var warnings: [String] = []
  /// See `ResumeDecision`.
  var owesFinally = false
  var durations = TaskDurations.unknown

  init(
    _ folder: RunFolder, _ plan: Plan, _ arguments: Invocation, _ console: Console,
    initial: [InitialState]
  ) {
    self.folder = folder
    self.plan = plan
    self.arguments = arguments
    self.console = console
    self.initial = initial
    attempts = [Int32](repeating: 0, count: plan.taskCount)
  }

  /// Call it before there is a run: without /proc nothing can be started, and nothing ended.
  static func expectProcesses() throws(CommandError) {
    guard let obstacle = ProcessStatus.obstacle else { return }
    throw CommandError(.io, "cannot find the processes of tasks: \(obstacle)")
  }

  /// Drives the run to its end. The lock is held until then.
  func perform(
    _ journal: consuming JournalFile, holding lock: consuming RunFolderLock
  ) throws(CommandError) -> Int32 {
    var request = DriveRequest(
      folder: folder, plan: plan, runID: folder.id.description,
      options: SchedulerOptions(arguments, plan), durability: arguments.durability,
      initial: initial, attempts: attempts, opening: opening, progress: progress,
      heading: heading)
    request.warnings = warnings
    request.owesFinally = owesFinally
    request.durations = durations
    do throws(CoordinatorError) {
      let code = try Coordinator.drive(request, journal: journal)
      _ = consume lock
      return code
    } catch {
      // Not as other complaints are told: nobody may be there who reads it.
      let complaint = CommandError(.io, error.what, error.errno)
      try? StandardStream.error.writeAll(Array(complaint.text.utf8), patienceMilliseconds: 1000)
      throw CommandError(.io, verbatim: "")
    }
  }

  private var progress: ProgressOptions {
    var options = ProgressOptions(mode: Console.mode(arguments))
    options.json = arguments.json
    options.color = console.colorsError
    options.verbose = arguments.verbose
    options.gitHubActions = Console.isGitHubActions
    if let (columns, rows) = Terminal.size(Terminal.standardError) {
      options.size = TerminalSize(columns: columns, rows: rows)
    }
    return options
  }

  private var heading: ProgressHeading {
    let (plan, logs) = (plan, ShownPath(arguments.view).text(folder.logs))
    let run = folder.id.description
    var heading = ProgressHeading(
      run: run, initial: initial,
      resumeCommand: CommandText.about(folder, "resume", [run], arguments.view),
      logsCommand: CommandText.about(folder, "logs", ["--run", run], arguments.view)
    ) { "\(logs)/\(LogName.of(plan.nameBytes($0)))" }
    heading.isResumed = isResumed
    return heading
  }
}

extension SchedulerOptions {
  /// What the command line, the manifest and the machine say, in this order.
  init(_ arguments: Invocation, _ plan: Plan) {
    let manifestParallel = UInt64(plan.manifest.maxParallel)
    self.init(
      maxParallel: arguments.maxParallel.map { UInt64($0) }
        ?? (manifestParallel > 0 ? manifestParallel : UInt64(Machine.cores)),
      memoryBytes: Machine.memoryBytes,
      maxFailures: Int(arguments.maxFailures ?? plan.manifest.maxFailures),
      seed: UInt64.random(in: 0 ... .max))
  }
}
