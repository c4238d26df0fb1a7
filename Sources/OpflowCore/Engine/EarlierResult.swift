/// The result of an earlier session, which a task may keep.
package struct EarlierResult: Equatable, Sendable {
  package var state: TaskState
  /// The origin number of the success; nil if unknown.
  package var origin: UInt64?
  /// Whether it was skipped because a dependency failed or was skipped.
  package var isSkippedUpstream = false

  package init(state: TaskState, origin: UInt64?, isSkippedUpstream: Bool = false) {
    self.state = state
    self.origin = origin
    self.isSkippedUpstream = isSkippedUpstream
  }
}
