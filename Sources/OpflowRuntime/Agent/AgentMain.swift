internal import OpflowSystem

/// `opflow agent`: runs workers for a coordinator on another machine, over standard input and
/// output (`RelayLines`).
package enum AgentMain {
  package static let command = "agent"

  /// The coordinator alone requested the agent's Slurm job: cancel the job if the coordinator is
  /// gone.
  static let endsJob = "--end-job"

  /// Returns 0 after a regular end, 1 if the agent could not work for the run, 2 for wrong
  /// arguments, 74 for a system error.
  package static func run(arguments: [String]) -> Int32 {
    guard arguments.isEmpty || arguments == [endsJob] else {
      complain("usage: opflow agent (it is started by `opflow run --on`, not by hand)")
      return 2
    }
    do throws(Errno) {
      let agent = try Agent(endsJob: !arguments.isEmpty)
      return try agent.work() ? 0 : 1
    } catch {
      complain("cannot go on: \(error)")
      return 74
    }
  }

  static func complain(_ text: String) {
    try? StandardStream.error.writeAll(Array("opflow agent: \(text)\n".utf8))
  }
}
