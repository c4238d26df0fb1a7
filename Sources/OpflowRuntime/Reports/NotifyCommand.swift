package import OpflowSystem

/// The user's command at the end of a session.
package enum NotifyCommand {
  private static let patienceSeconds: Int64 = 30

  /// Output goes to standard error: standard output is for opflow's results.
  package static func run(
    _ command: String, input: [UInt8]
  ) throws(Errno) -> LimitedCommand.End {
    // A pipe could block.
    let summary = try File.inMemory()
    try summary.writeAll(input)
    try summary.seek(to: 0)
    let error = StandardStream.error.rawValue
    return try LimitedCommand.run(
      "/bin/sh", arguments: ["-c", command], input: summary, output: error, error: error,
      patienceSeconds: patienceSeconds)
  }
}
