/// What a task has of an earlier drive of the run, and may come to keep.
package struct EarlierResult: Equatable, Sendable {
  package var state: TaskState
  /// Of the success that it is; nil where that is not told.
  package var origin: UInt64?
  /// It was skipped since its needs could not be met.
  package var isSkippedUpstream = false

  package init(state: TaskState, origin: UInt64?, isSkippedUpstream: Bool = false) {
    self.state = state
    self.origin = origin
    self.isSkippedUpstream = isSkippedUpstream
  }
}
