/// What `CleanText` leaves out of a line, told byte by byte.
enum HiddenText {
  /// A sequence that is longer leaves a mark in views, and so joins nothing.
  private static let longestSequenceBytes = 4096

  /// Control characters but TAB and the end of a line, and what those of UTF-8 begin with.
  static let leads: [UInt8] = Array(0...8) + Array(11...31) + [127, 0xC2, 0xE2]

  /// Reads the beginning of `bytes`, which are not empty. Is asked after each byte that comes, so it looks at
  /// the last ones only.
  static func step(_ bytes: [UInt8]) -> EscapeStep {
    switch bytes[0] {
    case 27: return bytes.count > 1 ? sequence(bytes) : .needsMore
    case 0xC2:
      guard bytes.count > 1 else { return .needsMore }
      return 0x80...0x9F ~= bytes[1] ? .nothing(count: 2) : .plain
    case 0xE2: return direction(bytes)
    case 9, 10: return .plain
    case 0..<32, 127: return .nothing(count: 1)
    default: return .plain
    }
  }

  /// U+202A to U+202E, and U+2066 to U+2069.
  private static func direction(_ bytes: [UInt8]) -> EscapeStep {
    guard bytes.count > 1 else { return .needsMore }
    guard bytes[1] == 0x80 || bytes[1] == 0x81 else { return .plain }
    guard bytes.count > 2 else { return .needsMore }
    let range: ClosedRange<UInt8> = bytes[1] == 0x80 ? 0xAA...0xAE : 0xA6...0xA9
    return range ~= bytes[2] ? .nothing(count: 3) : .plain
  }

  /// ESC and what belongs to it (ECMA-48, 5.4 and 5.6).
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
