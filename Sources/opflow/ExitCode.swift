/// Exit codes. That of a run comes from its journal's `close`; these are the others.
enum ExitCode: Int32 {
  /// Every task succeeded, was up to date or skipped, or failed with `allow_failure`.
  case success = 0
  case taskFailed = 1
  /// A usage error, or a run that does not exist.
  case usage = 2
  case manifest = 3
  /// The journal is damaged beyond recovery, or is another file.
  case journal = 4
  case held = 5
  /// Stopped on request; resumable.
  case cancelled = 6
  /// From `wait`: the run's process died (SIGKILL, crash or power failure); resumable. Shells use
  /// this code for a killed process.
  case died = 137
  case `internal` = 70
  /// An I/O error, such as a full disk; resumable.
  case io = 74
}
