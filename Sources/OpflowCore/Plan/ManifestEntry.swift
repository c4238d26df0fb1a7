/// What the manifest says about the whole run.
package struct ManifestEntry: Hashable, Sendable, BitwiseCopyable {
  package var name: TextRef
  package var description: TextRef
  /// The folder that relative paths start from.
  package var folder: TextRef
  /// Capacity of `cpu`; 0 is `auto`.
  package var maxParallel: UInt32
  /// Failures after which nothing new starts; 0 is no limit.
  package var maxFailures: UInt32
  /// 1 when the plan holds the run's id and so serves that run only.
  package var usesRunID: UInt32
  /// 1 when there was something to warn of, which only compiling again can tell again.
  package var hasWarnings: UInt32 = 0
  /// 1 when any task is `manual`; the builder sees to it.
  package internal(set) var hasManual: UInt32 = 0
  /// 1 when any task is `interactive`; the builder sees to it.
  package internal(set) var hasInteractive: UInt32 = 0
  /// 1 when any task is a gate; the builder sees to it.
  package internal(set) var hasGates: UInt32 = 0
  /// 1 when any task declares `inputs`; the builder sees to it.
  package internal(set) var hasChecks: UInt32 = 0
  /// 1 when results of any task are cached; the builder sees to it.
  package internal(set) var hasCaches: UInt32 = 0
  /// 1 when any task is a service; the builder sees to it.
  package internal(set) var hasServices: UInt32 = 0
  /// 1 when any task has a jobserver; the builder sees to it.
  package internal(set) var hasJobservers: UInt32 = 0
  /// 1 when memory of any task is limited; the builder sees to it.
  package internal(set) var hasMemoryLimits: UInt32 = 0
  /// 1 when any task makes legs of a family; the builder sees to it.
  package internal(set) var hasLegMakers: UInt32 = 0
  /// 1 when any task is a block; the builder sees to it.
  package internal(set) var hasBlocks: UInt32 = 0
  /// How many runs of the manifest are kept.
  package var keepRuns = Self.standardKeepRuns
  /// The group of runs that the manifest names; empty for none.
  package var group = TextRef.empty
  /// See `IfRunning`.
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

  /// The same of a plan that has the tasks of a segment as well, whose own entry is given.
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
