/// Numbers in a page's data: five bits per character of 64, lowest first; the sixth bit means that
/// another character follows. Decoded by `PageScript.data`.
struct PageDigits {
  private(set) var bytes: [UInt8] = []

  static let alphabet: [UInt8] = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// The limit of exact integers in JavaScript.
  private static let most: UInt64 = 1 << 53

  /// A negative number, as from a clock that was set back, counts as 0.
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
