package struct ManifestEntry: Hashable, Sendable, BitwiseCopyable {
  package var name: TextRef
  package var description: TextRef
  package var folder: TextRef
  /// 0 for `auto`.
  package var maxParallel: UInt32
  /// After this many failures, no task starts; 0 for no limit.
  package var maxFailures: UInt32
  /// The plan contains the run's ID, so other runs cannot use it.
  package var usesRunID: UInt32
  /// Only a new compilation can repeat the warnings.
  package var hasWarnings: UInt32 = 0
  /// The builder sets this and the following flags.
  package internal(set) var hasManual: UInt32 = 0
  package internal(set) var hasInteractive: UInt32 = 0
  package internal(set) var hasGates: UInt32 = 0
  package internal(set) var hasChecks: UInt32 = 0
  package internal(set) var hasCaches: UInt32 = 0
  package internal(set) var hasServices: UInt32 = 0
  package internal(set) var hasJobservers: UInt32 = 0
  package internal(set) var hasMemoryLimits: UInt32 = 0
  package internal(set) var hasLegMakers: UInt32 = 0
  package internal(set) var hasBlocks: UInt32 = 0
  package var keepRuns = Self.standardKeepRuns
  /// The concurrency group; empty for none.
  package var group = TextRef.empty
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
