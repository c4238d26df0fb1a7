package enum ActionKind: UInt8, Sendable {
  case shell
  /// A list of words that is executed without a shell.
  case command
  case download
  /// Asks the user; needs no worker.
  case approve
  /// An external task: done by a client of the library.
  case block
}
