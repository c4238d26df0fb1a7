/// What a run does if it cannot enforce `memory_limit`.
package enum MemoryPolicy: String, CaseIterable, Sendable {
  /// Runs the tasks after one warning.
  case warn
  case enforce

  package static let remedy =
    "start it as `systemd-run --user --scope -p Delegate=yes opflow run …`"
}
