import OpflowCommandLine
internal import OpflowPlan
import OpflowRuntime
import OpflowSystem
internal import OpflowViews

/// Runs a session with the view that the command line asks for.
enum Drive {
  /// The signal that ended the last session.
  // SAFETY: set and read by the main thread.
  nonisolated(unsafe) static var stopSignal: Signal?

  /// `round` is the file watch of a caller that runs several sessions.
  static func perform(
    _ drive: consuming PreparedDrive, _ arguments: Invocation, _ console: Console,
    round: ServingWatch? = nil
  ) throws(CommandError) -> Int32 {
    let progress = progress(arguments, console)
    var heading = heading(
      drive.folder, drive.initial, isResumed: drive.isResumed,
      on: arguments.on.map(\.text), arguments.view)
    heading.orders = drive.orders
    let (runs, folder) = (drive.manifestRuns, drive.folder)
    var serving = round
    if let round {
      drive.follow(with: &round.look.watch)
    } else if arguments.watchesFiles {
      serving = WatchedRun.attend(drive.watch(arguments.file), of: folder, arguments, console)
    }
    let result: DriveResult
    do throws(CoordinatorError) {
      result = try drive.perform(
        RunRequest(arguments), progress: progress, heading: heading, serving: serving)
    } catch {
      // Report what there is; an error of the report matters less.
      try? DriveEnd.report(folder, arguments, console)
      // With a time limit: standard error may have no reader.
      let complaint = CommandError(.io, error.what, error.errno)
      try? StandardStream.error.writeAll(Array(complaint.text.utf8), patienceMilliseconds: 1000)
      throw CommandError(.io, verbatim: "")
    }
    stopSignal = result.stopSignal
    if let serving, serving.passed != nil {
      // The next session takes the services over and stops them.
      if let signal = result.lateStop { try? ProcessID.sendSelf(signal) }
      return round == nil
        ? try WatchedRun.goOn(folder, serving, after: result.exitCode, arguments, console)
        : result.exitCode
    }
    var failure: CommandError?
    do throws(CommandError) {
      try DriveEnd.report(folder, arguments, console)
    } catch {
      failure = error
    }
    // May remove this run's folder.
    CleanCommand.afterRun(runs, arguments)
    if let failure { throw failure }
    guard let serving else { return result.exitCode }
    // A stop signal that came too late for this session prevents the next one.
    if let signal = result.lateStop { return 128 + signal.rawValue }
    if round != nil { return result.exitCode }
    return try WatchedRun.goOn(folder, serving, after: result.exitCode, arguments, console)
  }

  static func progress(_ arguments: Invocation, _ console: Console) -> ProgressOptions {
    var options = ProgressOptions(mode: Console.mode(arguments))
    options.annotates = Console.isGitHubStep(arguments)
    options.json = arguments.json
    options.color = console.colorsError
    options.verbose = arguments.verbose
    options.passesCommands = arguments.passesCommands
    options.signals = signals
    if let (columns, rows) = Terminal.size(Terminal.standardError) {
      options.size = TerminalSize(columns: columns, rows: rows)
    }
    return options
  }

  private static var signals: TerminalSignals {
    guard Terminal.isTerminal(Terminal.standardError) else { return TerminalSignals() }
    return TerminalSignals { Environment.value($0) }
  }

  static func heading(
    _ folder: RunFolder, _ initial: [InitialState], isResumed: Bool, on: [String],
    _ view: ViewArguments
  ) -> ProgressHeading {
    let (run, logs) = (folder.id.description, ShownPath(view).text(folder.logs))
    var heading = ProgressHeading(
      run: run, initial: initial,
      resumeCommand: CommandText.resume(folder, on: on, view),
      logsCommand: CommandText.about(folder, "logs", ["--run", run], view)
    ) { "\(logs)/\(LogName.of($1.nameBytes($0)))" }
    heading.isResumed = isResumed
    let (terminal, host, whole) = (signals, Machine.hostName, folder.logs)
    heading.link = { text, task, plan in
      terminal.link(text, to: "\(whole)/\(LogName.of(plan.nameBytes(task)))", host: host)
    }
    heading.place = ManifestPlaces.place
    let shown = ShownPath(view)
    heading.standing = { task, plan in
      guard let (path, line) = plan.place(of: task), path != ManifestFile.standardInput else {
        return ""
      }
      return "\(shown.text(path)):\(line)"
    }
    heading.orderCommand = { CommandText.order(folder, $0, $1, view) }
    return heading
  }
}
