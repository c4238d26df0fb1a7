internal import OpflowCore

/// Copies of texts, one behind the other: what is compared with any of them finds it in the processor's
/// caches, where the manifest itself has no room.
struct PackedTexts {
  private var bytes: [UInt8] = []
  /// Where each text ends; the first begins at 0.
  private var ends: [UInt32] = []

  var count: Int { ends.count }

  /// Adds one with the next number.
  mutating func append(_ text: Text) {
    bytes.append(contentsOf: text)
    ends.append(UInt32(truncatingIfNeeded: bytes.count))
  }

  func isSame(_ number: Int, as text: Text) -> Bool {
    let start = number == 0 ? 0 : Int(ends[number - 1])
    return bytes.withUnsafeBytes { $0.part(start..<Int(ends[number])).isSame(as: text) }
  }
}
