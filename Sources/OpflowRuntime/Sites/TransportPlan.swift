internal import OpflowCore
internal import OpflowSystem

/// How the agent of one machine is reached.
struct TransportPlan: Sendable {
  /// For people, until the agent says where it is.
  var name: String
  /// The command whose standard input and output reach it.
  var words: [String]
  /// A command that ends the agent and all below it for certain, by what it said it is; nil where there is
  /// none.
  var killWords: (@Sendable (AgentHello) -> [String]?)?

  init(name: String, words: [String], killWords: (@Sendable (AgentHello) -> [String]?)? = nil) {
    self.name = name
    self.words = words
    self.killWords = killWords
  }
}

extension TransportPlan {
  /// What a shell is to run on a machine that is reached by one: this program where it lies there too, as on a
  /// file system that all see, else the one that its PATH has.
  static func agentCommand(of program: String) -> String {
    let quoted = ActionText.quoted(program)
    return "test -x \(quoted) && exec \(quoted) agent || exec opflow agent"
  }

  /// By a shell's command line, whatever that does.
  init(command: String) {
    self.init(name: "the machine behind `\(command)`", words: ["/bin/sh", "-c", command])
  }

  /// By ssh(1): nothing is asked, and a machine that is not there is soon known not to be.
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
