/// `--durability`: when a journal is synced to disk.
package enum Durability: String, CaseIterable, Sendable {
  case none
  /// At most 10 ms after a write.
  case group
  /// Before opflow acts on a line.
  case each
}
