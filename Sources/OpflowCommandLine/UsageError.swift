/// A wrong use of the command line: what is wrong, and where to read on.
package struct UsageError: Error, Equatable, Sendable {
  package var message: String
  /// The command whose usage line helps; nil for the program's own.
  package var command: CommandName?

  package init(_ message: String, command: CommandName? = nil) {
    self.message = message
    self.command = command
  }

  /// For standard error: the message, the usage line and where the help is.
  package var text: String {
    guard let command, command.isSupported else {
      return "opflow: \(message)\nsee `opflow help`\n"
    }
    return """
      opflow \(command.rawValue): \(message)
      usage: opflow \(command.synopsis)
      see `opflow help \(command.rawValue)`

      """
  }
}
