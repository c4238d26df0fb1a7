/// A shell that completes command lines of opflow.
package enum CompletionShell: String, CaseIterable, Sendable {
  case bash, zsh, fish

  /// The word by which a shell's script asks the program; for scripts, not for people.
  package static let question = "__complete"
}
