package import OpflowPlan

/// A node of a session, as told by the journal.
package struct SiteRecord: Sendable, Equatable {
  package let drive: Int
  package let site: SiteID
  /// As it joined; only its host if that line is lost.
  package internal(set) var offer: SiteEntry
  /// Since the epoch; of its first known line if that is lost.
  package let joinedMilliseconds: Int64
  package internal(set) var state: SiteState
  package internal(set) var stateMilliseconds: Int64
  package internal(set) var what: String

  package var isInUse: Bool { state.isInUse }

  /// Of a resource that each node has its own of; unlimited if unknown.
  package func capacity(of resource: UInt32) -> UInt64 {
    switch resource {
    case ResourceEntry.cpu: offer.cores == 0 ? .max : offer.cores
    case ResourceEntry.memory: offer.memoryBytes == 0 ? .max : offer.memoryBytes
    // GPUs are counted in thousandths, as all resources of a manifest.
    default: offer.gpus * 1000
    }
  }
}

/// The nodes of all sessions, in the order of joining.
package struct SiteRecords: Sendable {
  package private(set) var all: [SiteRecord] = []
  private var places: [Place: Int] = [:]

  private struct Place: Hashable, Sendable {
    let drive: Int
    let site: SiteID
  }

  package subscript(site: SiteID, drive drive: Int) -> SiteRecord? {
    place(of: site, drive: drive).map { all[$0] }
  }

  func place(of site: SiteID, drive: Int) -> Int? { places[Place(drive: drive, site: site)] }

  package func of(drive: Int) -> some Sequence<SiteRecord> { all.lazy.filter { $0.drive == drive } }

  mutating func apply(_ entry: SiteEntry, drive: Int, atMilliseconds now: Int64) {
    let key = Place(drive: drive, site: entry.site)
    guard let place = places[key] else {
      places[key] = all.count
      all.append(
        SiteRecord(
          drive: drive, site: entry.site, offer: entry, joinedMilliseconds: now,
          state: entry.state, stateMilliseconds: now, what: entry.what))
      return
    }
    all[place].state = entry.state
    all[place].stateMilliseconds = now
    all[place].what = entry.what
    if entry.state == .joined { all[place].offer = entry }
  }
}
