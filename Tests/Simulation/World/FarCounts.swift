package import OpflowJournal

/// How often something began on further machines, and what became of these.
package struct FarCounts: Sendable {
  /// Tries of services, and of what needs one.
  package var services = 0
  package var users = 0
  /// Of the tries of services those that began on another machine than the one before.
  package var moves = 0
  /// How often one of them was told to stand so.
  package var told: [NodeState: Int] = [:]

  package init() {}

  package mutating func add(_ other: FarCounts) {
    services += other.services
    users += other.users
    moves += other.moves
    told.merge(other.told) { $0 + $1 }
  }
}
