internal import OpflowBase
internal import OpflowSystem
internal import OpflowWire

struct TransportPlan: Sendable {
  /// For the user, until the agent reports its own.
  var name: String
  /// The command whose standard input and output reach the agent.
  var words: [String]
  /// A command that reliably kills the agent; nil if there is none.
  var killWords: (@Sendable (AgentHello) -> [String]?)?

  init(name: String, words: [String], killWords: (@Sendable (AgentHello) -> [String]?)? = nil) {
    self.name = name
    self.words = words
    self.killWords = killWords
  }
}

extension TransportPlan {
  /// Starts an agent: this program, if the same path exists on the node, otherwise the one in its
  /// PATH.
  static func agentCommand(of program: String) -> String {
    let quoted = QuotedWords.quoted(program)
    return "test -x \(quoted) && exec \(quoted) agent || exec opflow agent"
  }

  init(command: String) {
    self.init(name: "the machine behind `\(command)`", words: ["/bin/sh", "-c", command])
  }

  /// Without prompts, and with timeouts that detect a missing machine soon.
  init(ssh host: String, program: String) {
    self.init(
      name: host,
      words: [
        "ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "-o",
        "ClearAllForwardings=yes",
        "-o", "ServerAliveInterval=5", "--", host, Self.agentCommand(of: program),
      ])
  }
}
