/// A further machine of a drive, as the journal tells it.
package struct SiteRecord: Sendable, Equatable {
  /// From 1.
  package let drive: Int
  package let site: SiteID
  /// As it joined; only the machine's name where that line is lost.
  package internal(set) var offer: SiteEntry
  /// Since the epoch; of one whose first line is lost, when it was heard of first.
  package let joinedMilliseconds: Int64
  package internal(set) var state: SiteState
  /// Since the epoch, when it came to be as it is.
  package internal(set) var stateMilliseconds: Int64
  /// Why it is as it is, for people; empty where nothing is told.
  package internal(set) var what: String

  /// Tasks start there.
  var isInUse: Bool { state.isInUse }

  /// How much it has of what each machine has its own of; without bound where nobody knows.
  func capacity(of resource: UInt32) -> UInt64 {
    switch resource {
    case ResourceEntry.cpu: offer.cores == 0 ? .max : offer.cores
    case ResourceEntry.memory: offer.memoryBytes == 0 ? .max : offer.memoryBytes
    // GPUs, in thousandths as all resources of a manifest's.
    default: offer.gpus * 1000
    }
  }
}

/// The further machines of all drives, in the order in which they joined.
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

  /// Into `all`.
  func place(of site: SiteID, drive: Int) -> Int? { places[Place(drive: drive, site: site)] }

  /// Of a drive, in the order in which they joined.
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
