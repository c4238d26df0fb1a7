package enum ActionKind: UInt8, Sendable {
  /// A script for the task's shell.
  case shell
  /// A list of words that is executed without a shell.
  case command
  case download
  /// An approval: a question to the user. It needs no worker.
  case approve
  /// An external task: a client of the library does it, without a process of opflow's.
  case block
}
