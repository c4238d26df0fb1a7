package import OpflowSystem

/// Runs the command that is to hear of a drive's end.
package enum NotifyCommand {
  private static let patienceSeconds: Int64 = 30

  /// Runs a line for a shell, with `input` as its standard input. What it prints goes to standard error: on
  /// standard output stands what was asked for.
  package static func run(
    _ command: String, input: [UInt8]
  ) throws(Errno) -> LimitedCommand.End {
    // A file, and no pipe, whose other end would have to be waited for.
    let summary = try File.inMemory()
    try summary.writeAll(input)
    try summary.seek(to: 0)
    let error = StandardStream.error.rawValue
    return try LimitedCommand.run(
      "/bin/sh", arguments: ["-c", command], input: summary, output: error, error: error,
      patienceSeconds: patienceSeconds)
  }
}
