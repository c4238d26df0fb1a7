internal import OpflowBase
package import OpflowSystem

/// Sorted by the bytes of their names.
struct FolderListing {
  private(set) var names = ByteStrings()
  private var kinds: [FolderEntries.Kind] = []

  /// Throws `tooBig` for more than `most` entries.
  fileprivate init(_ folder: [UInt8], _ most: Int) throws(Errno) {
    var (names, kinds) = (ByteStrings(), [FolderEntries.Kind]())
    try FolderEntries.forEach(inBytes: folder) { name, kind in
      names.append(name)
      kinds.append(kind)
      return kinds.count <= most
    }
    if kinds.count > most { throw .tooBig }
    let order = names.ordered()
    self.names = order.map { names.picked($0) } ?? names
    self.kinds = order.map { $0.map { kinds[Int($0)] } } ?? kinds
  }

  var count: Int { kinds.count }

  func kind(_ place: Int) -> FolderEntries.Kind { kinds[place] }

  /// The names with that prefix.
  func places(from beginning: [UInt8]) -> Range<Int> {
    if beginning.isEmpty { return 0..<count }
    return beginning.withUnsafeBytes { wanted in
      let start = firstPlace { ByteOrder($0, wanted) != .before }
      let end = firstPlace {
        ByteOrder($0.part(0, min($0.count, wanted.count)), wanted) == .behind
      }
      return start..<end
    }
  }

  /// The first index for which `isSo` is true, as it is for all later ones.
  private func firstPlace(where isSo: (UnsafeRawBufferPointer) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if names.with(middle, isSo) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

/// A cache of folder listings. A folder's times change with every added or removed name, so its
/// stamp identifies its content: thousands of tasks with patterns in one folder list it once.
package final class FolderMemory {
  private var known: [FileIdentity: (stamp: FileStamp, listing: FolderListing)] = [:]
  private var entryCount = 0
  private let network: NetworkFiles

  /// Nine bytes each plus their names.
  private static let mostEntries = 250_000

  /// Folders on network file systems are not cached.
  package init(network: NetworkFiles = NetworkFiles()) { self.network = network }

  /// `folder` is zero-terminated; links are followed. Throws `tooBig` for more than `most` entries.
  func listing(of folder: [UInt8], most: Int) throws(Errno) -> FolderListing {
    let status = try Path.status(ofBytes: folder)
    if network.have(
      device: status.identity.device, path: { DeclaringTask.readable(folder.dropLast()) })
    {
      return try FolderListing(folder, most)
    }
    let stamp = FileStamp(status)
    if let (seen, listing) = known[status.identity], seen == stamp { return listing }
    let now = Clock.wallMilliseconds * 1_000_000
    let listing = try FolderListing(folder, most)
    if stamp.isTelling(atNanoseconds: now), try FileStamp(Path.status(ofBytes: folder)) == stamp {
      keep(listing, status.identity, stamp)
    }
    return listing
  }

  private func keep(_ listing: FolderListing, _ folder: FileIdentity, _ stamp: FileStamp) {
    let count = listing.count + 1
    if count > Self.mostEntries { return }
    if entryCount + count > Self.mostEntries {
      known.removeAll()
      entryCount = 0
    }
    if let old = known[folder] { entryCount -= old.listing.count + 1 }
    known[folder] = (stamp, listing)
    entryCount += count
  }
}
