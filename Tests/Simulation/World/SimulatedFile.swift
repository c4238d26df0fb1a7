import OpflowBase
import OpflowJournal

/// The journal file: its bytes, and how many of them a loss of power would keep.
struct SimulatedFile {
  private(set) var bytes: [UInt8] = []
  private(set) var syncedCount = 0

  mutating func append(_ new: some Collection<UInt8>) { bytes.append(contentsOf: new) }

  mutating func sync() { syncedCount = bytes.count }

  mutating func sync(upTo count: Int) { syncedCount = max(syncedCount, count) }

  /// Loses unsynced bytes from a random one.
  mutating func losePower(_ random: inout SplitMix64) {
    bytes.removeLast(random.below(bytes.count - syncedCount + 1))
  }

  /// The file grew on disk without its data.
  mutating func growWithoutData(_ random: inout SplitMix64) {
    bytes.append(contentsOf: [UInt8](repeating: 0, count: 1 + random.below(600)))
  }

  /// Damages some bytes after the first line.
  mutating func spoil(_ random: inout SplitMix64) {
    let first = (bytes.firstIndex(of: 10) ?? bytes.count) + 1
    for _ in 0...random.below(3) {
      guard first < bytes.count else { break }
      let place = first + random.below(bytes.count - first)
      switch random.below(5) {
      case 0: bytes[place] ^= 1 << UInt8(random.below(8))
      case 1:
        let end = min(bytes.count, place + 1 + random.below(300))
        for index in place..<end { bytes[index] = 0 }
      case 2:
        let noise = (0..<(1 + random.below(300))).map { _ in
          UInt8(truncatingIfNeeded: random.next())
        }
        bytes.insert(contentsOf: noise, at: place)
      case 3: bytes.append(contentsOf: bytes[place...])
      default: bytes.removeSubrange(place..<min(bytes.count, place + 1 + random.below(200)))
      }
    }
    syncedCount = bytes.count
  }

  /// Repairs the file like the holder of the lock before appending.
  mutating func repair(_ repair: JournalRepair) {
    if let length = repair.truncateTo { bytes.removeLast(bytes.count - length) }
    if repair.appendsLineFeed { bytes.append(10) }
    sync()
  }
}
