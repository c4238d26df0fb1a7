internal import OpflowBase
import OpflowCommandLine
internal import OpflowJournal
import OpflowManifest
internal import OpflowReports
import OpflowRuntime
import OpflowSystem

/// JUnit file, step summary and notification after a session.
enum DriveEnd {
  /// Checks these options before anything runs.
  static func expect(_ arguments: Invocation) throws(CommandError) {
    if let number = arguments.controlDescriptor {
      do throws(Errno) {
        try UnixSocket.expectInherited(number)
      } catch {
        throw CommandError(
          .usage, "--control-fd \(number): opflow was started with no such Unix stream socket",
          error)
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
      do throws(LeaseFault) {
        _ = try LeaseSetting()
      } catch {
        throw CommandError(.usage, error.message)
      }
    }
    guard let path = arguments.junitFile else { return }
    do throws(Errno) {
      try ReportFile.expect(path)
    } catch {
      throw CommandError(.io, "cannot write \(CleanText.string(path))", error)
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
    let run = try RunLookup.reading { () throws(RunFolderError) in
      try ReadRun(folder, keepingDetails: true)
    }
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
      console.warn("cannot write GITHUB_STEP_SUMMARY, \(path): \(error)")
    }
  }

  private static func notify(
    _ run: ReadRun, _ command: String, _ view: ViewArguments, _ console: Console
  ) {
    let (folder, logs) = (run.folder, RunLogs(run.folder))
    let resume = CommandText.resume(folder, on: run.history.on, view)
    let summary = DriveSummary.text(run.status, resumeCommand: resume) {
      logs.path(of: $0, in: run.plan)
    }
    do throws(Errno) {
      let end = try NotifyCommand.run(command, input: summary)
      if let fault = end.fault { console.warn("--notify: the command \(fault)") }
      // The signal is meant for opflow too.
      if case .stopped(let signal) = end { try? ProcessID.sendSelf(signal) }
    } catch {
      console.warn("--notify: the command could not be run: \(error)")
    }
  }
}
