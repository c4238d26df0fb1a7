/// What a run does where it cannot keep `memory_limit` of tasks.
package enum MemoryPolicy: String, CaseIterable, Sendable {
  /// It says so once, and runs them all the same.
  case warn
  /// It does not begin.
  case enforce

  /// How there comes to be what it takes.
  package static let remedy =
    "start it as `systemd-run --user --scope -p Delegate=yes opflow run …`"
}
