/// The number of a machine that tasks run on; never given twice within a drive.
package struct SiteID: Hashable, Sendable, BitwiseCopyable {
  package var rawValue: Int32
  package init(_ rawValue: Int32) { self.rawValue = rawValue }
  package var index: Int { Int(rawValue) }
  /// The machine that the coordinator runs on.
  package static let local = SiteID(0)
}

/// What a machine has for tasks.
package struct SiteOffer: Equatable, Sendable {
  /// Capacity of `cpu`.
  package var cpu: UInt64
  package var memoryBytes: UInt64

  package init(cpu: UInt64, memoryBytes: UInt64) {
    self.cpu = cpu
    self.memoryBytes = memoryBytes
  }
}
