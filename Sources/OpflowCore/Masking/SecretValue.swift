/// A secret: what tasks find it as in their environment, and what it is. It is never stored, and never
/// part of a text for people.
package struct SecretValue: Equatable, Sendable {
  /// What is shorter cannot be masked: it would be found everywhere.
  package static let shortestBytes = 4
  package static let longestBytes = 64 << 10
  /// Of all secrets of a run together, so that every worker can hold them.
  package static let longestTotalBytes = 1 << 20

  package let name: String
  package let bytes: [UInt8]

  package init(name: String, bytes: [UInt8]) {
    self.name = name
    self.bytes = bytes
  }
}
