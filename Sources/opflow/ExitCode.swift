/// How opflow ends. The code of a run comes from its journal's `close`; these are the others.
enum ExitCode: Int32 {
  /// Every task succeeded, was up to date or skipped, or failed where it was allowed to.
  case success = 0
  /// A task failed.
  case taskFailed = 1
  /// Wrong use of the command line, and a view of a run that is not there.
  case usage = 2
  /// The manifest is wrong.
  case manifest = 3
  /// The journal is damaged beyond what recovery covers, or belongs to something else.
  case journal = 4
  /// The run is held by another process.
  case held = 5
  /// Stopped on request; resumable.
  case cancelled = 6
  /// Of `wait`: the run died, by a SIGKILL, a crash or a loss of power. No run ends with it by itself; a
  /// shell says so of a process that was killed. Resumable.
  case died = 137
  /// An internal error.
  case `internal` = 70
  /// An I/O error: disk full, journal not writable; resumable.
  case io = 74
}
