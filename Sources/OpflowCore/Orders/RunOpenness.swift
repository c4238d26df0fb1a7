/// Whether a run waits for tasks to be added (`opflow serve`).
package enum RunOpenness: Sendable {
  /// The run ends when nothing is left.
  case ordinary
  /// The run ends when it is closed and nothing is left.
  case open
  /// Only the run's own tasks can add tasks.
  case closed
}
