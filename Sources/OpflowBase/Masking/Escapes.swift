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
  /// Characters that `CleanText` removes.
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
  /// `count` bytes mean `times` equal bytes.
  case repeated(UInt8, times: Int, count: Int)
  case nothing(count: Int)
}

extension Escape {
  /// `isIndenting`: a line break and spaces precede.
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

  /// nil if more digits may follow.
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

/// Recognizes, byte by byte, the sequences that `CleanText` removes.
enum HiddenText {
  /// `CleanText` shows an ellipsis for longer sequences.
  private static let longestSequenceBytes = 4096

  /// Control characters except TAB and LF, and their first bytes in UTF-8.
  static let leads: [UInt8] = Array(0...8) + Array(11...31) + [127, 0xC2, 0xE2, 0xEF, 0xF3]

  /// Called for each new byte, so it checks the last bytes only.
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

/// A stream with one kind of escape decoded. It is read apart from the stream only from an escape
/// on and while that may be part of a word, so most bytes are read once.
struct EscapedView: Sendable {
  let escape: Escape
  private(set) var isApart = false
  private(set) var state: WordAutomaton.State = 0
  private(set) var tails = TailReader()
  /// A possible escape, and the position of its first byte.
  private var waiting: [UInt8] = []
  private var waitingStart = 0
  private var isIndenting = false
  private var forkPlace = 0
  /// The origin of each byte since the fork, as far back as a word can reach.
  private var places: [Int] = []
  private var leftOut = 0
  private var plainBytes = 0

  init(_ escape: Escape) { self.escape = escape }

  mutating func fork(_ state: WordAutomaton.State, _ tails: TailReader, at place: Int) {
    isApart = true
    self.state = state
    self.tails = tails
    forkPlace = place
    waiting.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
    leftOut = 0
    plainBytes = 0
    isIndenting = false
  }

  /// A word with a longer gap is not found; `CleanText` shows an ellipsis there.
  private static let mostHeldBytes = 1 << 20

  mutating func take(
    _ byte: UInt8, at place: Int, _ automaton: WordAutomaton, _ borders: inout Borders,
    found: (Range<Int>) -> Void
  ) {
    if waiting.isEmpty { waitingStart = place }
    waiting.append(byte)
    while !waiting.isEmpty {
      switch escape.step(waiting, isIndenting: isIndenting) {
      case .needsMore: return
      case .plain: read(waiting[0], count: 1, isPlain: true, automaton, &borders, found)
      case .byte(let byte, let count):
        read(byte, count: count, isPlain: false, automaton, &borders, found)
      case .scalar(let value, let count):
        let scalar = Unicode.Scalar(value) ?? "\u{FFFD}"
        let bytes = Array(String(Character(scalar)).utf8)
        for byte in bytes.dropLast() {
          add(byte, end: waitingStart + count, automaton, &borders, found)
        }
        read(bytes[bytes.count - 1], count: count, isPlain: false, automaton, &borders, found)
      case .repeated(let byte, let times, let count):
        for _ in 1..<times { add(byte, end: waitingStart + count, automaton, &borders, found) }
        read(byte, count: count, isPlain: false, automaton, &borders, found)
      case .nothing(let count):
        isIndenting = true
        plainBytes = 0
        drop(count)
        if let held = hold(automaton), place - held > Self.mostHeldBytes { forget() }
      }
    }
  }

  private mutating func forget() {
    state = 0
    tails = TailReader()
  }

  private mutating func read(
    _ byte: UInt8, count: Int, isPlain: Bool, _ automaton: WordAutomaton,
    _ borders: inout Borders, _ found: (Range<Int>) -> Void
  ) {
    isIndenting = false
    add(byte, end: waitingStart + count, automaton, &borders, found)
    plainBytes = isPlain ? plainBytes + 1 : 0
    drop(count)
  }

  private mutating func drop(_ count: Int) {
    waiting.removeFirst(count)
    waitingStart += count
  }

  private mutating func add(
    _ byte: UInt8, end: Int, _ automaton: WordAutomaton, _ borders: inout Borders,
    _ found: (Range<Int>) -> Void
  ) {
    places.append(waitingStart)
    if places.count > 2 * automaton.longestWordBytes + 64 {
      let count = places.count - automaton.longestWordBytes
      places.removeFirst(count)
      leftOut += count
    }
    var length = tails.isEmpty ? 0 : tails.take(byte, automaton, &borders)
    state = automaton.step(state, automaton.entry(byte))
    if automaton.isEnd(state) {
      length = max(length, automaton.longestWord(state))
      automaton.forEachHead(state) { tails.follow($0) }
    }
    // Hidden characters are not an encoding: users see the value itself.
    if length >= (escape == .hidden ? 1 : SecretWords.shortestEncodedBytes) {
      found(start(ofLast: length)..<end)
    }
  }

  private func start(ofLast length: Int) -> Int {
    let place = places.count - length
    return place >= 0 ? places[place] : forkPlace + place
  }

  func hold(_ automaton: WordAutomaton) -> Int? {
    let length = max(automaton.reach(state), tails.longest)
    if length > 0 { return start(ofLast: length) }
    return waiting.isEmpty ? nil : waitingStart
  }

  /// Rejoins the stream if both are in the same state after the same bytes.
  mutating func join(_ state: WordAutomaton.State, _ tails: TailReader, _ automaton: WordAutomaton)
  {
    guard waiting.isEmpty, self.state == state, self.tails == tails, !isIndenting,
      plainBytes >= max(automaton.reach(state), tails.longest)
    else { return }
    isApart = false
  }

  mutating func end(
    _ automaton: WordAutomaton, _ borders: inout Borders, found: (Range<Int>) -> Void
  ) {
    if escape == .hidden, !waiting.isEmpty {
      take(10, at: waitingStart + waiting.count, automaton, &borders, found: found)
    }
    while !waiting.isEmpty { read(waiting[0], count: 1, isPlain: true, automaton, &borders, found) }
    isApart = false
  }
}
