/// Whether a run waits for tasks to be added (`opflow serve`).
package enum RunOpenness: Sendable {
  /// Ends when nothing is left.
  case ordinary
  /// Ends when it is closed and nothing is left.
  case open
  /// Only the run's own tasks can add tasks.
  case closed
}
