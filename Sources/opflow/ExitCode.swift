/// A run's exit code comes from the `close` entry of its journal; these are the others.
enum ExitCode: Int32 {
  /// Also for tasks that were up to date, skipped or failed with `allow_failure`.
  case success = 0
  case taskFailed = 1
  /// A usage error, or a run that does not exist.
  case usage = 2
  case manifest = 3
  /// Damaged beyond recovery, or another file.
  case journal = 4
  case held = 5
  /// Stopped on request; resumable.
  case cancelled = 6
  /// From `wait`: the run's process was killed or crashed; resumable. Shells use this code for a
  /// killed process.
  case died = 137
  case `internal` = 70
  /// Such as a full disk; resumable.
  case io = 74
}
