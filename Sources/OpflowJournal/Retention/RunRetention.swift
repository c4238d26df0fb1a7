package import OpflowPlan

/// Decides which runs of a state folder are removed.
///
/// Runs are counted per manifest, newest first. The newest `keep` runs stay, and runs younger than
/// the age limit. Of the others, these stay:
///
/// - live runs;
/// - unreadable runs, perhaps of a newer opflow, since their manifest is unknown;
/// - without an age limit, runs that can be resumed, for a week after their last line, unless a
///   newer run of the manifest started with the same values and tasks.
///
/// A run that never started is removed after an hour; before that, it may be about to start.
package struct RunRetention: Sendable {
  package struct Limits: Equatable, Sendable {
    /// Per manifest; nil for the manifest's own setting.
    package var keep: Int?
    /// The age counts from a run's last line; nil for no limit.
    package var ageMilliseconds: Int64?

    package init(keep: Int? = nil, ageMilliseconds: Int64? = nil) {
      self.keep = keep
      self.ageMilliseconds = ageMilliseconds
    }
  }

  package struct Candidate: Equatable, Sendable {
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

  /// Counts runs newest first; nil if the run stays because of its rank. `manifest` identifies the
  /// manifest in this state folder. `keep` returns the manifest's own setting; called for its
  /// newest run.
  package mutating func count(_ run: OpenEntry, of manifest: String, keep: () -> Int) -> Candidate?
  {
    // An age without a number covers all older runs.
    var group =
      groups[manifest]
      ?? Group(keep: limits.keep ?? (limits.ageMilliseconds == nil ? keep() : 0))
    defer { groups[manifest] = group }
    group.count += 1
    let isNew = group.origins.insert(run.origin).inserted
    return group.count > group.keep ? Candidate(isSuperseded: !isNew) : nil
  }

  /// `end` is nil if the last session crashed or is unknown. The age counts from the last line.
  package func verdict(_ candidate: Candidate, end: RunState?, ageMilliseconds: Int64) -> Verdict {
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

/// Regardless of order. A resume of the newest run looks for an equal one.
package struct RunOrigin: Hashable, Sendable {
  private let set: [String]
  private let tasks: Set<String>
  private let arguments: [String]
  private let only: Set<String>
  private let skip: Set<String>

  package init(set: [String], tasks: [String], arguments: [String], only: [String], skip: [String])
  {
    self.set = SetValues.normal(set)
    self.tasks = Set(tasks)
    self.arguments = arguments
    self.only = Set(only)
    self.skip = Set(skip)
  }
}

extension OpenEntry {
  package var origin: RunOrigin {
    RunOrigin(set: set, tasks: tasks, arguments: arguments, only: only, skip: skip)
  }

  /// The manifest may have moved together with the state folder.
  package func manifest(seenFrom folder: String) -> String {
    if manifestPath == "-" || stateFolder.isEmpty || stateFolder == folder { return manifestPath }
    return moved(manifestPath, to: folder)
  }

  /// Compares the path, or the path relative to the state folder, which may have moved with the
  /// manifest.
  package func isRun(ofManifest path: String, stateFolder folder: String) -> Bool {
    if manifestPath == path { return true }
    guard manifestPath != "-", path != "-", !stateFolder.isEmpty else { return false }
    return Self.relative(manifestPath, to: stateFolder) == Self.relative(path, to: folder)
  }

  package func moved(_ path: String, to folder: String) -> String {
    var parts = folder.split(separator: "/")
    for part in Self.relative(path, to: stateFolder) {
      if part == ".." { _ = parts.popLast() } else { parts.append(part) }
    }
    return "/" + parts.joined(separator: "/")
  }

  private static func relative(_ path: String, to base: String) -> [Substring] {
    let path = path.split(separator: "/")
    let base = base.split(separator: "/")
    let shared = zip(path, base).prefix { $0 == $1 }.count
    return [Substring](repeating: "..", count: base.count - shared) + path[shared...]
  }
}
