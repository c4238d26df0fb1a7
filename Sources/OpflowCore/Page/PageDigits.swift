/// Numbers in the data of a page: digits of five bits, the lowest first, each a character of 64; one that
/// is followed by another has the sixth bit. Small numbers take one character, and none needs a mark between
/// it and the next.
///
/// The page's script has the other half (`PageScript.data`).
struct PageDigits {
  private(set) var bytes: [UInt8] = []

  static let alphabet: [UInt8] = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// A script counts exactly up to there.
  private static let most: UInt64 = 1 << 53

  /// What is negative, as the time that a clock which was set back makes, counts as nothing.
  mutating func add(_ value: some FixedWidthInteger) {
    var rest = min(UInt64(clamping: value), Self.most - 1)
    while rest >= 32 {
      bytes.append(Self.alphabet[Int(rest & 31) + 32])
      rest >>= 5
    }
    bytes.append(Self.alphabet[Int(rest)])
  }

  mutating func add(signed value: Int) { add(Self.signed(value)) }

  /// The sign in the lowest bit.
  static func signed(_ value: Int) -> UInt64 {
    value < 0 ? UInt64(clamping: -1 - value) << 1 | 1 : UInt64(clamping: value) << 1
  }
}
