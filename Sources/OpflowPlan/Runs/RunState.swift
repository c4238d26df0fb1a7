/// The state of a run, as `status` prints it.
package enum RunState: String, Sendable, CaseIterable {
  case running, succeeded, failed, cancelled, interrupted
}
