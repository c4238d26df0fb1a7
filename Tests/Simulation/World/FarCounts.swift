package import OpflowJournal

/// Counts of events on nodes.
package struct FarCounts: Sendable {
  /// Attempts of services, and of their users.
  package var services = 0
  package var users = 0
  /// Attempts of services that began elsewhere than the attempt before.
  package var moves = 0
  /// The number of lines per node state.
  package var told: [NodeState: Int] = [:]

  package init() {}

  package mutating func add(_ other: FarCounts) {
    services += other.services
    users += other.users
    moves += other.moves
    told.merge(other.told) { $0 + $1 }
  }
}
