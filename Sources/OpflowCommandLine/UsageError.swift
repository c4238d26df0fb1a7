/// A wrong use of the command line: what is wrong, and where to read on.
package struct UsageError: Error, Equatable, Sendable {
  package var message: String
  /// The command whose usage line helps; nil for the program's own.
  package var command: Command?
  /// Of a word that stands where a command should, and may be a task.
  package var unknownCommand: UnknownCommand?

  package init(_ message: String, command: Command? = nil) {
    self.message = message
    self.command = command
  }

  /// For standard error: the message, the usage line and where the help is.
  package var text: String {
    guard let command else { return "opflow: \(message)\nsee `opflow help`\n" }
    return """
      opflow \(command.word): \(message)
      usage: opflow \(command.synopsis)
      see `opflow help \(command.word)`

      """
  }
}

/// A word that is no command.
package struct UnknownCommand: Equatable, Sendable {
  package let word: String
  /// A command that was likely meant; nil where none was.
  package let nearest: String?
  /// Whether another tool has a command of that name.
  package let isForeign: Bool
}

/// What is wrong with a word or flag, said by whoever reads it; the parser knows of which command.
struct Complaint: Error {
  let message: String

  init(_ message: String) { self.message = message }

  static func superfluous(_ word: String) -> Complaint {
    Complaint("one argument too many: `\(word.clean)`")
  }
}
