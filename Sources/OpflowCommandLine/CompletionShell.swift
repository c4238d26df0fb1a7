package enum CompletionShell: String, CaseIterable, Sendable {
  case bash, zsh, fish

  /// The internal subcommand for completion scripts.
  package static let question = "__complete"
}
