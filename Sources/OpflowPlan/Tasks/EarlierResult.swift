/// A task may keep it.
package struct EarlierResult: Equatable, Sendable {
  package var state: TaskState
  /// Of the success, if known.
  package var origin: UInt64?
  /// A dependency failed or was skipped.
  package var isSkippedUpstream = false

  package init(state: TaskState, origin: UInt64?, isSkippedUpstream: Bool = false) {
    self.state = state
    self.origin = origin
    self.isSkippedUpstream = isSkippedUpstream
  }
}
