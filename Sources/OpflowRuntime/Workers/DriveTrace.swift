internal import OpflowJournal
internal import OpflowPlan
internal import OpflowSystem

/// The trace context that a session gives its tasks.
struct DriveTrace {
  private let context: TraceParent
  private let hasParent: Bool

  static var parent: TraceParent? {
    Environment.value(TraceParent.variable).flatMap { TraceParent($0) }
  }

  /// `milliseconds` is the time of the journal's first line.
  init(_ open: OpenEntry, openedMilliseconds milliseconds: Int64, parent: TraceParent?) {
    context = RunTrace(open, openedMilliseconds: milliseconds).context(ofDrive: parent)
    hasParent = parent != nil
  }

  /// Without a parent, its trace state is cleared.
  var variables: [String] {
    let parent = "\(TraceParent.variable)=\(context.text)"
    return hasParent ? [parent] : [parent, "\(TraceParent.stateVariable)="]
  }
}
