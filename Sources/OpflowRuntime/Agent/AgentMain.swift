internal import OpflowSystem

/// `opflow agent`: starts and ends the workers of its machine for a coordinator on another one, which it
/// reads from standard input and writes to on standard output (`RelayLines`).
package enum AgentMain {
  /// The word on the command line.
  package static let command = "agent"

  /// An argument: the job of Slurm that the agent is a part of was asked for by its coordinator alone, and
  /// goes with it.
  static let endsJob = "--end-job"

  /// `arguments` are those behind the command. Returns the exit code: 0 when it left as it should, 1 when
  /// it could not work for the run, 2 for wrong arguments, 74 where the machine failed it.
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
    // Nobody is left to tell when this fails.
    try? StandardStream.error.writeAll(Array("opflow agent: \(text)\n".utf8))
  }
}
