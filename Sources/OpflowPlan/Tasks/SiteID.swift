/// A connection to a node, within a session. A node that reconnects gets a new ID.
package struct SiteID: Hashable, Sendable, BitwiseCopyable {
  package var rawValue: Int32
  package init(_ rawValue: Int32) { self.rawValue = rawValue }
  package var index: Int { Int(rawValue) }
  package static let local = SiteID(0)
}
