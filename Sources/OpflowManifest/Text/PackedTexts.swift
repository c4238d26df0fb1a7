internal import OpflowCore

/// Copies of texts in one small buffer, which stays in the processor's caches.
struct PackedTexts {
  private var bytes: [UInt8] = []
  /// The end of each text; the first starts at 0.
  private var ends: [UInt32] = []

  var count: Int { ends.count }

  mutating func append(_ text: Text) {
    bytes.append(contentsOf: text)
    ends.append(UInt32(truncatingIfNeeded: bytes.count))
  }

  func isSame(_ number: Int, as text: Text) -> Bool {
    let start = number == 0 ? 0 : Int(ends[number - 1])
    return bytes.withUnsafeBytes { $0.part(start..<Int(ends[number])).isSame(as: text) }
  }
}
