/// A secret's value and environment variable. Never stored or shown.
package struct SecretValue: Equatable, Sendable {
  /// Shorter values would match everywhere.
  package static let shortestBytes = 4
  package static let longestBytes = 64 << 10
  /// For all secrets of a run: every worker holds them.
  package static let longestTotalBytes = 1 << 20

  package let name: String
  package let bytes: [UInt8]

  package init(name: String, bytes: [UInt8]) {
    self.name = name
    self.bytes = bytes
  }
}
