/// A worker; numbers are not reused within a session.
package struct WorkerID: Hashable, Sendable, BitwiseCopyable {
  package var rawValue: Int32
  package init(_ rawValue: Int32) { self.rawValue = rawValue }
  package var index: Int { Int(rawValue) }
  package static let none = WorkerID(-1)
}
