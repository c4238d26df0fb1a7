/// If `memory_limit` cannot be enforced.
package enum MemoryPolicy: String, CaseIterable, Sendable {
  /// Runs the tasks after one warning.
  case warn
  case enforce

  package static let remedy =
    "start it as `systemd-run --user --scope -p Delegate=yes opflow run …`"
}
