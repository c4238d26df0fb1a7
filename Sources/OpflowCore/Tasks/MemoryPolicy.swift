/// What a run does if it cannot enforce `memory_limit`.
package enum MemoryPolicy: String, CaseIterable, Sendable {
  /// Runs the tasks after one warning.
  case warn
  /// Does not start.
  case enforce

  /// How to start opflow so that it can enforce limits.
  package static let remedy =
    "start it as `systemd-run --user --scope -p Delegate=yes opflow run …`"
}
