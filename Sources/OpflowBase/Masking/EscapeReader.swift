/// The escapes that programs use.
enum Escape: CaseIterable {
  /// `%2F`. The automaton handles `+` for a space.
  case percent
  /// `&lt;`, `&#60;`, `&#x3c;`
  case markup
  /// `\n`, `\"`, `\/`, `\u003c`, `\x3c`, `\074`, as in JSON and `$'…'`.
  case backslash
  /// `\<` for any byte, as by `printf %q`.
  case shell
  /// `'\''` and `'"'"'` for a quote, `'"''"'` for two.
  case quotes
  /// Line breaks in an encoding, with indentation.
  case lineBreak
  /// What `CleanText` removes.
  case hidden

  var leads: [UInt8] {
    switch self {
    case .percent: [UInt8(ascii: "%")]
    case .markup: [UInt8(ascii: "&")]
    case .backslash: [UInt8(ascii: "\\")]
    case .shell: [UInt8(ascii: "\\")]
    case .quotes: [UInt8(ascii: "'")]
    case .lineBreak: [10, 13]
    case .hidden: HiddenText.leads
    }
  }

  /// Only removes bytes, so it cannot change the start of a word.
  var isGap: Bool { self == .lineBreak || self == .hidden }
}

enum EscapeStep: Equatable {
  /// The next byte decides.
  case needsMore
  /// The first byte is not an escape.
  case plain
  case byte(UInt8, count: Int)
  case scalar(UInt32, count: Int)
  /// `count` bytes stand for `times` equal bytes.
  case repeated(UInt8, times: Int, count: Int)
  case nothing(count: Int)
}

extension Escape {
  /// - Parameter isIndenting: whether a line break and spaces precede.
  func step(_ bytes: [UInt8], isIndenting: Bool) -> EscapeStep {
    let first = bytes[0]
    if self == .lineBreak, isIndenting, first == 32 || first == 9 { return .nothing(count: 1) }
    guard leads.contains(first) else { return .plain }
    switch self {
    case .percent:
      guard bytes.count > 1 else { return .needsMore }
      guard let high = Self.digit(bytes[1], 16) else { return .plain }
      guard bytes.count > 2 else { return .needsMore }
      guard let low = Self.digit(bytes[2], 16) else { return .plain }
      return .byte(UInt8(high << 4 | low), count: 3)
    case .markup: return Self.markup(bytes)
    case .backslash: return Self.backslash(bytes)
    case .shell: return bytes.count > 1 ? .byte(bytes[1], count: 2) : .needsMore
    case .quotes: return Self.quotes(bytes)
    case .lineBreak: return .nothing(count: 1)
    case .hidden: return HiddenText.step(bytes)
    }
  }

  private static func digit(_ byte: UInt8, _ radix: UInt32) -> UInt32? {
    let value: UInt32
    switch byte {
    case 48...57: value = UInt32(byte) - 48
    case 65...70: value = UInt32(byte) - 55
    case 97...102: value = UInt32(byte) - 87
    default: return nil
    }
    return value < radix ? value : nil
  }

  private static func word(
    _ bytes: [UInt8], among words: [(word: StaticString, scalar: UInt32)]
  ) -> EscapeStep {
    var mayFollow = false
    for (word, scalar) in words {
      let count = word.utf8CodeUnitCount
      let known = word.withUTF8Buffer { bytes.prefix(count).elementsEqual($0.prefix(bytes.count)) }
      guard known else { continue }
      if bytes.count >= count { return .scalar(scalar, count: count) }
      mayFollow = true
    }
    return mayFollow ? .needsMore : .plain
  }

  private static let mostQuotes = 64

  private static func quotes(_ bytes: [UInt8]) -> EscapeStep {
    let one = word(bytes, among: [("'\\''", 39)])
    guard one == .plain, bytes[1] == UInt8(ascii: "\"") else { return one }
    let count = bytes[2...].prefix { $0 == 39 }.count
    if count == 0 { return bytes.count == 2 ? .needsMore : .plain }
    let end: [UInt8] = [34, 39]
    let rest = bytes[(2 + count)...]
    guard count <= mostQuotes, rest.prefix(2).elementsEqual(end.prefix(rest.count)) else {
      return .plain
    }
    return rest.count < 2 ? .needsMore : .repeated(39, times: count, count: count + 4)
  }

  private static let mostMarkupDigits = 8

  private static func markup(_ bytes: [UInt8]) -> EscapeStep {
    guard bytes.count > 1 else { return .needsMore }
    guard bytes[1] == UInt8(ascii: "#") else {
      return word(
        bytes, among: [("&lt;", 60), ("&gt;", 62), ("&amp;", 38), ("&quot;", 34), ("&apos;", 39)])
    }
    guard bytes.count > 2 else { return .needsMore }
    let isHexadecimal = bytes[2] | 32 == UInt8(ascii: "x")
    let start = isHexadecimal ? 3 : 2
    var value: UInt32 = 0
    var place = start
    while place < bytes.count, let digit = digit(bytes[place], isHexadecimal ? 16 : 10) {
      if place - start == mostMarkupDigits { return .plain }
      value = value &* (isHexadecimal ? 16 : 10) &+ digit
      place += 1
    }
    if place == bytes.count { return .needsMore }
    guard bytes[place] == UInt8(ascii: ";"), place > start, value <= 0x10FFFF else { return .plain }
    return .scalar(value, count: place + 1)
  }

  private static let letters: [UInt8: UInt8] = [
    34: 34, 39: 39, 47: 47, 63: 63, 92: 92, 97: 7, 98: 8, 69: 27, 101: 27, 102: 12, 110: 10,
    114: 13, 116: 9, 118: 11,
  ]

  private static func backslash(_ bytes: [UInt8]) -> EscapeStep {
    guard bytes.count > 1 else { return .needsMore }
    if let byte = letters[bytes[1]] { return .byte(byte, count: 2) }
    switch bytes[1] {
    case UInt8(ascii: "u"): return character(bytes, atMost: 4)
    case UInt8(ascii: "U"): return character(bytes, atMost: 8)
    case UInt8(ascii: "x"): return number(bytes, from: 2, 16, atMost: 2)
    default: return number(bytes, from: 1, 8, atMost: 3)
    }
  }

  private static func number(
    _ bytes: [UInt8], from start: Int, _ radix: UInt32, atMost limit: Int
  ) -> EscapeStep {
    var value: UInt32 = 0
    var place = start
    while place < bytes.count, place < start + limit, let digit = digit(bytes[place], radix) {
      value = value * radix + digit
      place += 1
    }
    if place == bytes.count, place < start + limit { return .needsMore }
    return place > start ? .byte(UInt8(truncatingIfNeeded: value), count: place) : .plain
  }

  /// A high surrogate needs a second escape.
  private static func character(_ bytes: [UInt8], atMost limit: Int) -> EscapeStep {
    guard let (value, end) = hexadecimal(bytes, from: 2, atMost: limit) else {
      return bytes.count < 2 + limit ? .needsMore : .plain
    }
    if end == 2 || value > 0x10FFFF { return .plain }
    guard 0xD800..<0xDC00 ~= value else { return .scalar(value, count: end) }
    let mark: [UInt8] = [92, 117]
    let rest = bytes[end...]
    guard rest.prefix(2).elementsEqual(mark.prefix(rest.count)) else { return .plain }
    guard rest.count >= 2, let (low, lowEnd) = hexadecimal(bytes, from: end + 2, atMost: 4) else {
      return .needsMore
    }
    guard 0xDC00..<0xE000 ~= low else { return .plain }
    return .scalar(0x10000 + (value - 0xD800) << 10 + (low - 0xDC00), count: lowEnd)
  }

  /// Nil if more digits may follow.
  private static func hexadecimal(
    _ bytes: [UInt8], from start: Int, atMost limit: Int
  ) -> (value: UInt32, end: Int)? {
    var value: UInt32 = 0
    var place = start
    while place < start + limit {
      if place >= bytes.count { return nil }
      guard let digit = digit(bytes[place], 16) else { break }
      value = value << 4 | digit
      place += 1
    }
    return (value, place)
  }
}
