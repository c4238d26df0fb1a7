internal import OpflowCore
internal import OpflowSystem

/// The trace that the tasks of a drive are a part of.
struct DriveTrace {
  /// What each try is a part of, but for its own span.
  private let context: TraceParent
  private let hasParent: Bool

  /// What this process was begun by; nil where nobody said, or nothing that holds.
  static var parent: TraceParent? {
    Environment.value(TraceParent.variable).flatMap { TraceParent($0) }
  }

  /// - Parameters:
  ///   - milliseconds: since the epoch, of the journal's first line.
  ///   - parent: what the drive was begun by.
  init(_ open: OpenEntry, openedMilliseconds milliseconds: Int64, parent: TraceParent?) {
    context = RunTrace(open, openedMilliseconds: milliseconds).context(ofDrive: parent)
    hasParent = parent != nil
  }

  /// For a worker's environment. What belongs to a parent that there is not goes no further.
  var variables: [String] {
    let parent = "\(TraceParent.variable)=\(context.text)"
    return hasParent ? [parent] : [parent, "\(TraceParent.stateVariable)="]
  }
}
