/// Whether a run waits for tasks that are still to be added (`opflow serve`).
package enum RunOpenness: Sendable {
  /// It ends when nothing is left; until then tasks may be added.
  case ordinary
  /// It ends when it was closed and nothing is left.
  case open
  /// Nothing is added any more, but by tasks of the run itself.
  case closed
}
