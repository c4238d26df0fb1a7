internal import OpflowCore
internal import OpflowSystem

/// What is in a folder, sorted by the bytes of the names.
struct FolderListing {
  struct Entry {
    /// With marks in place of what is no UTF-8.
    let name: String
    let kind: FolderEntries.Kind
    let isUTF8: Bool
  }

  fileprivate(set) var entries: [Entry] = []

  /// Those whose names begin so, found in as many steps as their number has digits.
  func entries(from beginning: String) -> ArraySlice<Entry> {
    if beginning.isEmpty { return entries[...] }
    let wanted = beginning.utf8
    let start = firstIndex { $0.lexicographicallyPrecedes(wanted) }
    let end = firstIndex {
      $0.starts(with: wanted) || $0.lexicographicallyPrecedes(wanted)
    }
    return entries[start..<end]
  }

  /// The first that is not so; all before it are.
  private func firstIndex(notSo isBefore: (String.UTF8View) -> Bool) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(entries[middle].name.utf8) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// Folders that this process has listed. A folder changes its times with every name that comes or goes, so
/// that it is known again by its stamp as a file is: thousands of tasks whose patterns look into one folder
/// list it once.
package final class FolderMemory {
  private var known: [FileIdentity: (stamp: FileStamp, listing: FolderListing)] = [:]
  private var entryCount = 0

  /// Entries that are kept; of 40 bytes each, and longer names.
  private static let mostEntries = 250_000

  package init() {}

  /// - Parameters:
  ///   - folder: links to one are followed.
  ///   - most: entries. `Errno.tooBig` where there are more.
  func listing(of folder: String, most: Int) throws(Errno) -> FolderListing {
    let status = try Path.status(folder)
    let stamp = FileStamp(status)
    if let (seen, listing) = known[status.identity], seen == stamp { return listing }
    let now = Clock.wallMilliseconds * 1_000_000
    let listing = try Self.list(folder, most)
    if stamp.isTelling(atNanoseconds: now), try FileStamp(Path.status(folder)) == stamp {
      keep(listing, status.identity, stamp)
    }
    return listing
  }

  private func keep(_ listing: FolderListing, _ folder: FileIdentity, _ stamp: FileStamp) {
    let count = listing.entries.count + 1
    if count > Self.mostEntries { return }
    if entryCount + count > Self.mostEntries {
      known.removeAll()
      entryCount = 0
    }
    if let old = known[folder] { entryCount -= old.listing.entries.count + 1 }
    known[folder] = (stamp, listing)
    entryCount += count
  }

  private static func list(_ folder: String, _ most: Int) throws(Errno) -> FolderListing {
    var listing = FolderListing()
    try FolderEntries.forEach(in: folder) { bytes, kind in
      let name = String(decoding: bytes, as: UTF8.self)
      listing.entries.append(
        FolderListing.Entry(name: name, kind: kind, isUTF8: name.utf8.elementsEqual(bytes)))
      return listing.entries.count <= most
    }
    if listing.entries.count > most { throw .tooBig }
    listing.entries.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    return listing
  }
}
