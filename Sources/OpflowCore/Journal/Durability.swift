/// When a run's journal is synced to disk (`--durability`).
package enum Durability: String, CaseIterable, Sendable {
  /// The kernel decides.
  case none
  /// At most 10 ms after a write.
  case group
  /// Before opflow acts on a line.
  case each
}
