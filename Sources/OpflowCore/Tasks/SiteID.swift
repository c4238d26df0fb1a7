/// The number of a machine's stream within a drive; never given twice. A machine whose stream was lost and that
/// comes back is another site.
package struct SiteID: Hashable, Sendable, BitwiseCopyable {
  package var rawValue: Int32
  package init(_ rawValue: Int32) { self.rawValue = rawValue }
  package var index: Int { Int(rawValue) }
  /// The machine that the coordinator runs on.
  package static let local = SiteID(0)
}
