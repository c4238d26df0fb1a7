package struct UsageError: Error, Equatable, Sendable {
  package var message: String
  /// Nil for the program's usage line.
  package var command: Command?
  /// Set if it may be a task.
  package var unknownCommand: UnknownCommand?

  package init(_ message: String, command: Command? = nil) {
    self.message = message
    self.command = command
  }

  /// With the usage line and a hint to the help.
  package var text: String {
    guard let command else { return "opflow: \(message)\nsee `opflow help`\n" }
    return """
      opflow \(command.word): \(message)
      usage: opflow \(command.synopsis)
      see `opflow help \(command.word)`

      """
  }
}

package struct UnknownCommand: Equatable, Sendable {
  package let word: String
  package let nearest: String?
  /// Another tool has such a command.
  package let isForeign: Bool
}

/// The parser adds the command.
struct Complaint: Error {
  let message: String

  init(_ message: String) { self.message = message }

  static func superfluous(_ word: String) -> Complaint {
    Complaint("one argument too many: `\(word.clean)`")
  }
}
