import OpflowCommandLine
import OpflowCore
import OpflowRuntime
import OpflowSystem

/// What is made of a run when a drive of it has ended.
enum DriveEnd {
  /// Sees whether the files that are wanted can be made, before anything runs.
  static func expect(_ arguments: Invocation) throws(CommandError) {
    guard let path = arguments.junitFile else { return }
    do throws(Errno) {
      try ReportFile.expect(path)
    } catch {
      throw CommandError(.io, "cannot write \(CleanText.string(path))", error)
    }
  }

  /// Writes them, however the drive ended.
  static func report(_ folder: RunFolder, _ arguments: Invocation) throws(CommandError) {
    guard let path = arguments.junitFile else { return }
    let run = try RunLookup.reading { () throws(RunFolderError) in
      try ReadRun(folder, keepingDetails: true)
    }
    try ReportCommand.write(ReportCommand.junit(run, arguments.view), to: path)
  }
}
