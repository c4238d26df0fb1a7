/// A secret's value and the environment variable in which tasks get it. Never stored or shown.
package struct SecretValue: Equatable, Sendable {
  /// Shorter values cannot be masked, since they would match everywhere.
  package static let shortestBytes = 4
  package static let longestBytes = 64 << 10
  /// The total for all secrets of a run, since every worker holds them.
  package static let longestTotalBytes = 1 << 20

  package let name: String
  package let bytes: [UInt8]

  package init(name: String, bytes: [UInt8]) {
    self.name = name
    self.bytes = bytes
  }
}
