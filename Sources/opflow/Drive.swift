import OpflowCore
import OpflowRuntime
import OpflowSystem

/// A drive of a run, new or further, as the command line wants it.
struct Drive {
  private let folder: RunFolder
  private let plan: Plan
  private let arguments: RunArguments
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
    _ folder: RunFolder, _ plan: Plan, _ arguments: RunArguments, _ console: Console,
    initial: [InitialState]
  ) {
    self.folder = folder
    self.plan = plan
    self.arguments = arguments
    self.console = console
    self.initial = initial
    attempts = [Int32](repeating: 0, count: plan.taskCount)
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
      throw CommandError(.io, error.what, error.errno)
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
    var heading = ProgressHeading(
      run: folder.id.description, initial: initial,
      resumeCommand: commandLine("resume", [folder.id.description]),
      logsCommand: commandLine("logs", ["--run", folder.id.description])
    ) { "\(logs)/\(LogName.of(plan.nameBytes($0)))" }
    heading.isResumed = isResumed
    return heading
  }

  /// A command line about this run, as short as it finds the run from where the person is.
  private func commandLine(_ command: String, _ arguments: [String]) -> String {
    let view = self.arguments.view
    var words = ["opflow", command]
    if let directory = view.directory { words += ["-C", directory] }
    let state = Path.parent(of: Path.parent(of: folder.path))
    let here = try? Path.workingDirectory()
    if here.flatMap({ StateFolder.nearest(to: $0) })?.path != state {
      words += ["--state-dir", ShownPath(view).text(state)]
    }
    return (words + arguments).map { ActionText.quoted($0) }.joined(separator: " ")
  }
}

extension SchedulerOptions {
  /// What the command line, the manifest and the machine say, in this order.
  init(_ arguments: RunArguments, _ plan: Plan) {
    let manifestParallel = UInt64(plan.manifest.maxParallel)
    self.init(
      maxParallel: arguments.maxParallel.map { UInt64($0) }
        ?? (manifestParallel > 0 ? manifestParallel : UInt64(Machine.cores)),
      memoryBytes: Machine.memoryBytes,
      maxFailures: Int(arguments.maxFailures ?? plan.manifest.maxFailures),
      seed: UInt64.random(in: 0 ... .max))
  }
}
