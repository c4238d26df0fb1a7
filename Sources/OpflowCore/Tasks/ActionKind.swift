/// What a task does.
package enum ActionKind: UInt8, Sendable {
  /// A string for the task's shell.
  case shell
  /// A list of words, executed as it stands.
  case command
  /// A file to fetch.
  case download
  /// A gate: a question that a person answers. No worker has it.
  case approve
  /// Something that a program does which offers it: no process is made for it.
  case block
}
