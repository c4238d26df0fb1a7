/// Recognizes byte by byte what `CleanText` removes.
enum HiddenText {
  /// `CleanText` shows an ellipsis for longer ones.
  private static let longestSequenceBytes = 4096

  /// Control characters except TAB and LF, and first bytes of those in UTF-8.
  static let leads: [UInt8] = Array(0...8) + Array(11...31) + [127, 0xC2, 0xE2, 0xEF, 0xF3]

  /// Called for each new byte, so it looks at the last ones only.
  static func step(_ bytes: [UInt8]) -> EscapeStep {
    switch bytes[0] {
    case 27: return bytes.count > 1 ? sequence(bytes) : .needsMore
    case 0xC2:
      guard bytes.count > 1 else { return .needsMore }
      return 0x80...0x9F ~= bytes[1] ? .nothing(count: 2) : .plain
    case 0xE2, 0xEF, 0xF3: return invisible(bytes)
    case 9, 10: return .plain
    case 0..<32, 127: return .nothing(count: 1)
    default: return .plain
    }
  }

  /// U+200B, U+2028 to U+202E, U+2060 to U+206F, U+FEFF, U+E0000 to U+E007F.
  private static let invisibles: [(head: [UInt8], lasts: [ClosedRange<UInt8>])] = [
    ([0xE2, 0x80], [0x8B...0x8B, 0xA8...0xAE]), ([0xE2, 0x81], [0xA0...0xAF]),
    ([0xEF, 0xBB], [0xBF...0xBF]), ([0xF3, 0xA0, 0x80], [0x80...0xBF]),
    ([0xF3, 0xA0, 0x81], [0x80...0xBF]),
  ]

  private static func invisible(_ bytes: [UInt8]) -> EscapeStep {
    var needsMore = false
    for (head, lasts) in invisibles {
      guard bytes.count > head.count else {
        needsMore = needsMore || head.starts(with: bytes)
        continue
      }
      if bytes.starts(with: head), lasts.contains(where: { $0 ~= bytes[head.count] }) {
        return .nothing(count: head.count + 1)
      }
    }
    return needsMore ? .needsMore : .plain
  }

  /// ECMA-48, 5.4 and 5.6.
  private static func sequence(_ bytes: [UInt8]) -> EscapeStep {
    let last = bytes[bytes.count - 1]
    switch bytes[1] {
    case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "^"),
      UInt8(ascii: "_"):
      if last == 10 || bytes.count > longestSequenceBytes { return .nothing(count: 2) }
      let isEnded = last == 7 || last == 92 && bytes[bytes.count - 2] == 27
      return isEnded ? .nothing(count: bytes.count) : .needsMore
    case UInt8(ascii: "["):
      if bytes.count == 2 { return .needsMore }
      return step(bytes, last, while: 0x20...0x3F, end: 0x40...0x7E)
    default: return step(bytes, last, while: 0x20...0x2F, end: 0x30...0x7E)
    }
  }

  private static func step(
    _ bytes: [UInt8], _ last: UInt8, while more: ClosedRange<UInt8>, end: ClosedRange<UInt8>
  ) -> EscapeStep {
    if more ~= last, bytes.count <= longestSequenceBytes { return .needsMore }
    return .nothing(count: end ~= last ? bytes.count : bytes.count - 1)
  }
}
