internal import OpflowBase
package import OpflowPlan

/// Computed from the lines that start a run's sessions, so that its IDs are the same in each
/// export.
package struct RunTrace: Sendable {
  package let span: SpanID
  /// The context that the run was started in.
  package let parent: TraceParent?
  private let own: TraceID

  /// - Parameter milliseconds: since the epoch, of the journal's first line.
  package init(_ open: OpenEntry, openedMilliseconds milliseconds: Int64) {
    // The run's ID alone is not unique: several runs may begin in a second.
    let parts =
      "\(open.run)\0\(milliseconds)\0\(open.stateFolder)\0\(open.manifestPath)\0\(open.planKey)"
    let key = Hash.planKey(Array(parts.utf8))
    own = TraceID(high: key.high, low: key.low)
    span = SpanID(Hash.combine(key.high, key.low))
    parent = open.trace
  }

  package var id: TraceID { parent?.trace ?? own }
  package var flags: UInt8 { parent?.flags ?? TraceParent.sampled }

  /// Passed on to attempts.
  ///
  /// - Parameter parent: the session's context; nil to continue the run's trace.
  package func context(ofDrive parent: TraceParent?) -> TraceParent {
    TraceParent(trace: parent?.trace ?? id, span: span, flags: parent?.flags ?? flags)
  }
}
