/// Decides when the journal is to be synced and what has to wait for that. Places in the journal
/// are counted in bytes from its start.
package struct SyncSchedule: Sendable {
  /// From a write to the start of the sync that covers it, at most.
  static let groupMilliseconds: Int64 = 10

  private let durability: Durability
  private var written: UInt64
  private var synced: UInt64
  /// What the sync under way covers.
  private var requested: UInt64?
  private var due: Instant?

  /// - Parameter written: what is in the journal, and on disk, as the drive begins.
  package init(durability: Durability, written: UInt64) {
    self.durability = durability
    self.written = written
    synced = written
  }

  /// Lines up to `end` reached the file.
  package mutating func wrote(upTo end: UInt64, at now: Instant) {
    guard end > written else { return }
    written = end
    switch durability {
    case .none: break
    case .group:
      if due == nil { due = now.advanced(byMilliseconds: Self.groupMilliseconds) }
    case .each: due = now
    }
  }

  /// Where the journal must be synced to before an order that follows from its lines may be
  /// obeyed; 0 where nothing has to wait. Called after `wrote`.
  ///
  /// - Parameter mustNotRepeat: the order starts a task that no resume may start again
  ///   (`on_interrupted: fail`), so its start must outlive a power loss.
  package mutating func barrier(mustNotRepeat: Bool, at now: Instant) -> UInt64 {
    switch durability {
    case .none: return 0
    case .each: return written
    case .group:
      guard mustNotRepeat else { return 0 }
      due = now
      return written
    }
  }

  package func allows(_ barrier: UInt64) -> Bool { barrier <= synced }

  /// The place to sync to now; nil when none is due or one is under way.
  package mutating func takeRequest(at now: Instant) -> UInt64? {
    guard requested == nil, let moment = due, moment <= now else { return nil }
    due = nil
    requested = written
    return written
  }

  package mutating func completed(upTo end: UInt64) {
    synced = max(synced, end)
    requested = nil
  }

  /// When `takeRequest` has something to give.
  package var nextWake: Instant? { requested == nil ? due : nil }
}
