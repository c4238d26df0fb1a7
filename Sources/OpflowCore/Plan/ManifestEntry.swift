/// The settings of the whole manifest.
package struct ManifestEntry: Hashable, Sendable, BitwiseCopyable {
  package var name: TextRef
  package var description: TextRef
  /// The base of relative paths.
  package var folder: TextRef
  /// The capacity of `cpu`; 0 for `auto`.
  package var maxParallel: UInt32
  /// The number of failures after which no task starts; 0 for no limit.
  package var maxFailures: UInt32
  /// 1 if the plan contains the run's id and cannot be used by other runs.
  package var usesRunID: UInt32
  /// 1 if there were warnings; only a new compilation can repeat them.
  package var hasWarnings: UInt32 = 0
  /// 1 if any task is `manual`. The builder sets this and the following flags.
  package internal(set) var hasManual: UInt32 = 0
  package internal(set) var hasInteractive: UInt32 = 0
  /// 1 if any task is an approval.
  package internal(set) var hasGates: UInt32 = 0
  /// 1 if any task declares `inputs`.
  package internal(set) var hasChecks: UInt32 = 0
  package internal(set) var hasCaches: UInt32 = 0
  package internal(set) var hasServices: UInt32 = 0
  package internal(set) var hasJobservers: UInt32 = 0
  package internal(set) var hasMemoryLimits: UInt32 = 0
  /// 1 if any task is a generator of matrix tasks.
  package internal(set) var hasLegMakers: UInt32 = 0
  /// 1 if any task is an external task.
  package internal(set) var hasBlocks: UInt32 = 0
  package var keepRuns = Self.standardKeepRuns
  /// The concurrency group of the runs; empty for none.
  package var group = TextRef.empty
  /// The `code` of an `IfRunning`.
  package private(set) var ifRunning: UInt32 = 0
  package static let standardKeepRuns: UInt32 = 50

  package mutating func set(_ ifRunning: IfRunning) { self.ifRunning = ifRunning.code }

  package init(
    name: TextRef, description: TextRef, folder: TextRef, maxParallel: UInt32, maxFailures: UInt32,
    usesRunID: Bool
  ) {
    self.name = name
    self.description = description
    self.folder = folder
    self.maxParallel = maxParallel
    self.maxFailures = maxFailures
    self.usesRunID = usesRunID ? 1 : 0
  }

  /// Merges the settings of a segment that is added to the plan.
  func joined(with segment: ManifestEntry) -> ManifestEntry {
    var joined = self
    joined.usesRunID = max(usesRunID, segment.usesRunID)
    joined.hasManual = max(hasManual, segment.hasManual)
    joined.hasInteractive = max(hasInteractive, segment.hasInteractive)
    joined.hasGates = max(hasGates, segment.hasGates)
    joined.hasChecks = max(hasChecks, segment.hasChecks)
    joined.hasCaches = max(hasCaches, segment.hasCaches)
    joined.hasServices = max(hasServices, segment.hasServices)
    joined.hasJobservers = max(hasJobservers, segment.hasJobservers)
    joined.hasMemoryLimits = max(hasMemoryLimits, segment.hasMemoryLimits)
    joined.hasLegMakers = max(hasLegMakers, segment.hasLegMakers)
    joined.hasBlocks = max(hasBlocks, segment.hasBlocks)
    return joined
  }
}
