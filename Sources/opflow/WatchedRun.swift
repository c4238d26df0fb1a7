import OpflowCommandLine
import OpflowCore
import OpflowRuntime
import OpflowSystem

/// `opflow run --watch`: after the end of the run it waits until the files that it was made of are others,
/// then resumes it, again and again.
enum WatchedRun {
  /// Goes on after a drive that came to its own end, until it is told to leave.
  ///
  /// - Parameters:
  ///   - code: the exit code of the drive.
  ///   - arguments: of the drive, whose flags hold for those that follow.
  static func goOn(
    _ folder: RunFolder, _ watch: consuming ManifestWatch, after code: Int32,
    _ arguments: Invocation, _ console: Console
  ) throws(CommandError) -> Int32 {
    var watch = watch
    var code = code
    var further = arguments
    further.watchesFiles = false
    // It was asked for once.
    further.rerun = []
    var mistakes = ""
    // A run that was stopped is left, as by Ctrl-C.
    while code == ExitCode.success.rawValue || code == ExitCode.taskFailed.rawValue {
      let changed = try waitForChange(&watch, isFaulty: !mistakes.isEmpty)
      if !changed.isEmpty { tell(changed, arguments) }
      do throws(CommandError) {
        code = try ResumeCommand.resume(
          folder, manifest: nil, further, console, releasing: nil, nil, isInGroup: false)
        mistakes = ""
        watch.followPlan()
      } catch {
        guard error.code == .manifest else { throw error }
        if error.text != mistakes { Console.complain(error.text) }
        mistakes = error.text
      }
    }
    return code
  }

  /// - Parameter isFaulty: the manifest has mistakes, which may lie in files that nobody knows of yet: then
  ///   whatever happens, and the mere time, is reason to look.
  private static func waitForChange(
    _ watch: inout ManifestWatch, isFaulty: Bool
  ) throws(CommandError) -> [String] {
    do throws(Errno) {
      // While nothing runs, a signal does what it does to any program.
      try SignalSet.all.unblock()
      var isTold = isFaulty
      while true {
        let changed = watch.takeChanges()
        if !changed.isEmpty { return changed }
        if !isTold { tell(watch.fileCount) }
        isTold = true
        try watch.wait()
        if isFaulty { return watch.takeChanges() }
      }
    } catch {
      throw CommandError(.io, "cannot wait for changes", error)
    }
  }

  private static func tell(_ count: Int) {
    let files = count == 1 ? "the manifest" : "\(count) files"
    Console.complain("opflow: watching \(files) for changes; Ctrl-C leaves\n")
  }

  private static func tell(_ changed: [String], _ arguments: Invocation) {
    let names = changed.prefix(5).map { CleanText.string(ShownPath(arguments.view).text($0)) }
    let more = changed.count > 5 ? " and \(changed.count - 5) more" : ""
    Console.complain("opflow: changed: \(names.joined(separator: ", "))\(more)\n")
  }
}
