/// Which runs of a state folder are removed, and which stay.
///
/// Runs are looked at newest first, by their names. Those of each manifest are counted by themselves: the
/// newest ones stay, and so does what is younger than the limit of age. Beyond that stays
///
/// - a run that somebody drives;
/// - a run that may be resumed, for a week after its last line, unless a newer run of the manifest was
///   begun with the same values and tasks: nobody but who names it would get to it. With a limit of age
///   that limit counts instead of the week;
/// - what cannot be read, by a newer opflow perhaps, since nobody knows whose it is.
///
/// A run that never began is nobody's and goes, but for an hour: it may be about to begin.
package struct RunRetention: Sendable {
  package struct Limits: Equatable, Sendable {
    /// How many runs of each manifest stay; nil for what each manifest says.
    package var keep: Int?
    /// What is younger stays, in milliseconds since the last line; nil for no such limit.
    package var ageMilliseconds: Int64?

    package init(keep: Int? = nil, ageMilliseconds: Int64? = nil) {
      self.keep = keep
      self.ageMilliseconds = ageMilliseconds
    }
  }

  /// A run that is more than the newest ones of its manifest.
  package struct Candidate: Equatable, Sendable {
    /// A newer run was begun with the same values and tasks.
    let isSuperseded: Bool
  }

  package enum Verdict: Equatable, Sendable {
    case goes
    /// Not old enough.
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

  /// Counts the next older run.
  ///
  /// - Parameters:
  ///   - manifest: what names its manifest in this state folder.
  ///   - keep: what the manifest says; asked of its newest run.
  /// - Returns: nil for one of those that stay by their number.
  package mutating func count(
    _ run: OpenEntry, of manifest: String, keep: () -> Int
  ) -> Candidate? {
    // Who names an age and no number means all that is older.
    var group =
      groups[manifest]
      ?? Group(keep: limits.keep ?? (limits.ageMilliseconds == nil ? keep() : 0))
    defer { groups[manifest] = group }
    group.count += 1
    let isNew = group.origins.insert(run.origin).inserted
    return group.count > group.keep ? Candidate(isSuperseded: !isNew) : nil
  }

  /// What becomes of a run beyond the newest ones that nobody drives.
  ///
  /// - Parameters:
  ///   - end: how its last drive ended; nil where that died, or cannot be told.
  ///   - ageMilliseconds: since its last line.
  package func verdict(
    _ candidate: Candidate, end: RunState?, ageMilliseconds: Int64
  ) -> Verdict {
    if let limit = limits.ageMilliseconds { return ageMilliseconds >= limit ? .goes : .young }
    if end == .succeeded || candidate.isSuperseded { return .goes }
    return ageMilliseconds >= Self.resumableMilliseconds ? .goes : .resumable
  }

  /// What becomes of the folder of a run that has not begun.
  package static func verdict(notBegunFor milliseconds: Int64) -> Verdict {
    milliseconds >= beginningMilliseconds ? .goes : .young
  }

  private static let resumableMilliseconds: Int64 = 7 * 86_400_000
  private static let beginningMilliseconds: Int64 = 3_600_000
}
