internal import OpflowBase
import OpflowCommandLine
internal import OpflowEngine
internal import OpflowJournal
import OpflowManifest
internal import OpflowPlan
internal import OpflowReports
import OpflowRuntime
import OpflowSystem
internal import OpflowViews
internal import OpflowWire

/// Runs a session with the view that the command line asks for.
enum Session {
  /// The signal that ended the last session.
  // SAFETY: set and read by the main thread.
  nonisolated(unsafe) static var stopSignal: Signal?

  /// `round` is the file watch of a caller that runs several sessions.
  static func perform(
    _ session: consuming PreparedSession, _ arguments: Invocation, _ console: Console,
    round: ServingWatch? = nil
  ) throws(CommandError) -> Int32 {
    let progress = progress(arguments, console)
    let (runs, folder) = (session.manifestRuns, session.request.folder)
    var heading = heading(
      folder, session.request.resumeState.initial, isResumed: session.request.isResumed,
      on: arguments.on.map(\.text), arguments.view)
    heading.requests = session.requests
    var serving = round
    if let round {
      session.follow(with: &round.look.watch)
    } else if arguments.watchesFiles {
      serving = WatchedRun.attend(session.watch(arguments.file), of: folder, arguments, console)
    }
    let result: SessionResult
    do throws(CoordinatorError) {
      result = try session.perform(progress: progress, heading: heading, serving: serving)
    } catch {
      // Report what there is; an error of the report matters less.
      try? SessionEnd.report(folder, arguments, console)
      // With a time limit: standard error may have no reader.
      let complaint = CommandError(.io, error.detail, error.errno)
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
      try SessionEnd.report(folder, arguments, console)
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
      run: run, initial: initial, resumeCommand: CommandText.resume(folder, on: on, view),
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
    heading.controlCommand = { CommandText.request(folder, $0, $1, view) }
    return heading
  }
}

/// JUnit file, step summary and notification after a session.
enum SessionEnd {
  /// Checks these options before anything runs.
  static func expect(_ arguments: Invocation) throws(CommandError) {
    if let number = arguments.controlDescriptor {
      try rethrowing(UnixSocket.expectInherited(number)) {
        CommandError(
          .usage, "--control-fd \(number): this descriptor is not an inherited Unix stream socket",
          $0)
      }
    }
    _ = try CacheChoice.setting(arguments)
    if let text = arguments.queueTimeout, WrittenDuration.milliseconds(text) == nil {
      throw CommandError(
        UsageError(
          "--queue-timeout needs a duration such as 30m or 12h, not `\(CleanText.string(text))`",
          command: .run))
    }
    if !arguments.on.isEmpty {
      _ = try rethrowing(LeaseSetting()) { (fault: LeaseFault) in
        CommandError(.usage, fault.message)
      }
    }
    guard let path = arguments.junitFile else { return }
    try rethrowing(ReportFile.expect(path)) {
      CommandError(.io, "cannot write \(CleanText.string(path))", $0)
    }
  }

  /// Writes the reports, however the session ended. `isDriven` is false if there was nothing to
  /// run.
  static func report(
    _ folder: RunFolder, _ arguments: Invocation, _ console: Console, isDriven: Bool = true
  ) throws(CommandError) {
    let summary = isDriven ? stepSummary(arguments) : nil
    let command = isDriven ? arguments.notifyCommand : nil
    if arguments.junitFile == nil, summary == nil, command == nil { return }
    let run = try RunLookup.reading(ReadRun(folder, keepingDetails: true))
    var failure: CommandError?
    if let path = arguments.junitFile {
      do throws(CommandError) {
        try ReportCommand.write(ReportCommand.junit(run, arguments.view), to: path)
      } catch {
        failure = error
      }
    }
    if let summary { append(run, to: summary, arguments.view, console) }
    if let command { notify(run, command, arguments.view, console) }
    if let failure { throw failure }
  }

  private static func stepSummary(_ arguments: Invocation) -> String? {
    guard Console.isGitHubStep(arguments), let path = Environment.value("GITHUB_STEP_SUMMARY")
    else { return nil }
    return path.isEmpty ? nil : path
  }

  /// GitHub ignores files above 1 MiB.
  private static let mostSummaryBytes: Int64 = 900 << 10

  private static func append(
    _ run: ReadRun, to path: String, _ view: ViewArguments, _ console: Console
  ) {
    let (folder, plan, shown) = (run.folder, run.plan, ShownPath(view))
    do throws(Errno) {
      // A FIFO without a reader must be an error.
      let file = try File.open(path, [.writeOnly, .create, .append, .nonblocking], mode: 0o644)
      // Other commands of the step may have written to it.
      let room = try mostSummaryBytes - file.status().sizeBytes
      let resume = CommandText.resume(folder, on: run.history.on, view)
      let summary = StepSummary(run.status, resumeCommand: resume) {
        folder.output(of: $0, in: plan, atMost: $1, shown: shown.text)
      }
      try file.writeAll(summary.text(atMost: Int(max(0, room))))
    } catch {
      console.warn("cannot write GITHUB_STEP_SUMMARY (\(path)): \(error)")
    }
  }

  private static func notify(
    _ run: ReadRun, _ command: String, _ view: ViewArguments, _ console: Console
  ) {
    let (folder, logs) = (run.folder, RunLogs(run.folder))
    let resume = CommandText.resume(folder, on: run.history.on, view)
    let summary = SessionSummary.text(run.status, resumeCommand: resume) {
      logs.path(of: $0, in: run.plan)
    }
    do throws(Errno) {
      let end = try NotifyCommand.run(command, input: summary)
      if let fault = end.fault { console.warn("--notify: the command \(fault)") }
      // The signal is meant for opflow too.
      if case .stopped(let signal) = end { try? ProcessID.sendSelf(signal) }
    } catch {
      console.warn("--notify: cannot run the command: \(error)")
    }
  }
}

enum ManifestPlaces {
  /// Relative to the CI server's repository folder; nil outside. Only called for failed tasks.
  @Sendable static func place(_ task: TaskID, in plan: Plan) -> (file: String, line: Int)? {
    guard let (path, line) = plan.place(of: task),
      let workspace = Environment.value("GITHUB_WORKSPACE") ?? (try? Path.workingDirectory()),
      let root = try? Path.real(workspace)
    else { return nil }
    let folder = root == "/" ? root : root + "/"
    return path.hasPrefix(folder) ? (String(path.dropFirst(folder.utf8.count)), line) : nil
  }
}
