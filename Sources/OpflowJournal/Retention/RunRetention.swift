package import OpflowPlan

/// Decides which runs of a state folder are removed.
///
/// Runs are counted per manifest, newest first. The newest `keep` runs stay, and those younger than
/// the age limit. Of the others, these stay:
///
/// - live runs;
/// - unreadable runs, perhaps of a newer opflow, since their manifest is unknown;
/// - without an age limit, runs that can be resumed, for a week after their last line, unless a
///   newer run of the manifest started with the same values and tasks.
///
/// A run that never started goes after an hour, before which it may be about to start.
package struct RunRetention: Sendable {
  package struct Limits: Equatable, Sendable {
    /// Per manifest; nil for the manifest's own setting.
    package var keep: Int?
    /// The minimum to remove a run, since its last line; nil for none.
    package var ageMilliseconds: Int64?

    package init(keep: Int? = nil, ageMilliseconds: Int64? = nil) {
      self.keep = keep
      self.ageMilliseconds = ageMilliseconds
    }
  }

  /// Not among the newest of its manifest.
  package struct Candidate: Equatable, Sendable {
    /// By a newer run with the same values and tasks.
    let isSuperseded: Bool
  }

  package enum Verdict: Equatable, Sendable {
    case goes
    case young
    case resumable
  }

  private struct Group {
    let keep: Int
    var count = 0
    var origins: Set<RunOrigin> = []
  }

  private let limits: Limits
  private var groups: [String: Group] = [:]

  package init(_ limits: Limits) { self.limits = limits }

  /// Counts a run; call it newest first. Nil if the run stays because of its rank.
  ///
  /// - Parameters:
  ///   - manifest: identifies the manifest in this state folder.
  ///   - keep: the manifest's own setting; called for its newest run.
  package mutating func count(
    _ run: OpenEntry, of manifest: String, keep: () -> Int
  ) -> Candidate? {
    // An age without a number covers all older runs.
    var group =
      groups[manifest]
      ?? Group(keep: limits.keep ?? (limits.ageMilliseconds == nil ? keep() : 0))
    defer { groups[manifest] = group }
    group.count += 1
    let isNew = group.origins.insert(run.origin).inserted
    return group.count > group.keep ? Candidate(isSuperseded: !isNew) : nil
  }

  /// For a candidate that is not live.
  ///
  /// - Parameters:
  ///   - end: of its last session; nil if that crashed or is unknown.
  ///   - ageMilliseconds: since its last line.
  package func verdict(
    _ candidate: Candidate, end: RunState?, ageMilliseconds: Int64
  ) -> Verdict {
    if let limit = limits.ageMilliseconds { return ageMilliseconds >= limit ? .goes : .young }
    if end == .succeeded || candidate.isSuperseded { return .goes }
    return ageMilliseconds >= Self.resumableMilliseconds ? .goes : .resumable
  }

  package static func verdict(notBegunFor milliseconds: Int64) -> Verdict {
    milliseconds >= beginningMilliseconds ? .goes : .young
  }

  private static let resumableMilliseconds: Int64 = 7 * 86_400_000
  private static let beginningMilliseconds: Int64 = 3_600_000
}
