/// Gzip (RFC 1952) in pieces, with DEFLATE's fixed codes (RFC 1951). Reports shrink to a sixth or a
/// tenth.
package struct GzipWriter {
  private var bits = DeflateBits()
  private var checksum = CRC32()
  private var window: [UInt8] = []
  private var start = 0
  /// Per hash of three bytes: their last offset; -1 for none.
  private var heads = [Int](repeating: -1, count: 1 << hashBits)
  /// Per offset modulo `memory`: the last offset with the same hash.
  private var chain = [Int](repeating: -1, count: memory)

  /// RFC 1951, 4.1.
  private static let memory = 32_768
  private static let longest = 258
  private static let shortest = 3
  private static let hashBits = 15
  private static let patience = 16

  package init() {
    // Without name and time, so that equal input gives equal output.
    bits.append(bytes: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255])
  }

  package mutating func compress(_ piece: [UInt8]) -> [UInt8] {
    if piece.isEmpty { return [] }
    checksum.add(piece)
    let kept = min(window.count, Self.memory)
    start += window.count - kept
    window.removeFirst(window.count - kept)
    window += piece
    bits.beginBlock(isLast: false)
    window.withUnsafeBufferPointer { bytes in
      var place = kept
      while place < bytes.count {
        let (length, distance) = longestMatch(at: place, in: bytes)
        let count = length >= Self.shortest ? length : 1
        if count == 1 { bits.add(literal: bytes[place]) } else { bits.add(length, back: distance) }
        for next in place..<(place + count) { remember(next, in: bytes) }
        place += count
      }
    }
    bits.endBlock()
    return bits.take()
  }

  package mutating func finish() -> [UInt8] {
    bits.beginBlock(isLast: true)
    bits.endBlock()
    bits.fillByte()
    for value in [checksum.value, UInt32(truncatingIfNeeded: start + window.count)] {
      bits.append(bytes: (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
    }
    return bits.take()
  }

  private static func hash(_ bytes: UnsafeBufferPointer<UInt8>, _ place: Int) -> Int {
    let value =
      UInt32(bytes[place]) << 16 | UInt32(bytes[place + 1]) << 8 | UInt32(bytes[place + 2])
    return Int((value &* 0x9E37_79B1) >> UInt32(32 - hashBits))
  }

  private mutating func remember(_ place: Int, in bytes: UnsafeBufferPointer<UInt8>) {
    guard place + Self.shortest <= bytes.count else { return }
    let hash = Self.hash(bytes, place)
    let absolute = start + place
    chain[absolute & (Self.memory - 1)] = heads[hash]
    heads[hash] = absolute
  }

  private func longestMatch(
    at place: Int, in bytes: UnsafeBufferPointer<UInt8>
  ) -> (length: Int, distance: Int) {
    let room = min(Self.longest, bytes.count - place)
    guard room >= Self.shortest else { return (0, 0) }
    var best = (length: 0, distance: 0)
    var candidate = heads[Self.hash(bytes, place)]
    for _ in 0..<Self.patience {
      let distance = start + place - candidate
      guard candidate >= start, distance <= Self.memory else { break }
      let from = candidate - start
      var length = 0
      while length < room, bytes[from + length] == bytes[place + length] { length += 1 }
      if length > best.length { best = (length, distance) }
      if length == room { break }
      let next = chain[candidate & (Self.memory - 1)]
      guard next < candidate else { break }
      candidate = next
    }
    return best
  }
}

/// DEFLATE with fixed codes (RFC 1951, 3.2.6).
private struct DeflateBits {
  private var bytes: [UInt8] = []
  private var held: UInt64 = 0
  private var heldCount = 0

  mutating func append(bytes more: [UInt8]) { bytes += more }

  mutating func take() -> [UInt8] {
    defer { bytes.removeAll(keepingCapacity: true) }
    return bytes
  }

  mutating func beginBlock(isLast: Bool) { add(isLast ? 0b011 : 0b010, 3) }

  mutating func endBlock() { add(symbol: 256) }

  mutating func add(literal byte: UInt8) { add(symbol: Int(byte)) }

  mutating func add(_ length: Int, back distance: Int) {
    let code = Self.lengths.lastIndex { $0.base <= length } ?? 0
    add(symbol: 257 + code)
    add(UInt32(length - Self.lengths[code].base), Self.lengths[code].extra)
    var far = Self.distances.count - 1
    while Self.distances[far].base > distance { far -= 1 }
    add(Self.reversed(UInt32(far), 5), 5)
    add(UInt32(distance - Self.distances[far].base), Self.distances[far].extra)
  }

  mutating func fillByte() {
    if heldCount > 0 { bytes.append(UInt8(truncatingIfNeeded: held)) }
    held = 0
    heldCount = 0
  }

  private mutating func add(symbol: Int) {
    let (code, count) = Self.symbols[symbol]
    add(code, count)
  }

  private mutating func add(_ value: UInt32, _ count: Int) {
    held |= UInt64(value) << UInt64(heldCount)
    heldCount += count
    while heldCount >= 8 {
      bytes.append(UInt8(truncatingIfNeeded: held))
      held >>= 8
      heldCount -= 8
    }
  }

  /// Codes start with the highest bit.
  private static func reversed(_ code: UInt32, _ count: Int) -> UInt32 {
    (0..<count).reduce(0) { $0 | (code >> UInt32($1) & 1) << UInt32(count - 1 - $1) }
  }

  private static let symbols: [(code: UInt32, count: Int)] = (0..<288).map { symbol in
    let value = UInt32(symbol)
    switch symbol {
    case ..<144: return (reversed(0x30 + value, 8), 8)
    case ..<256: return (reversed(0x190 + value - 144, 9), 9)
    case ..<280: return (reversed(value - 256, 7), 7)
    default: return (reversed(0xC0 + value - 280, 8), 8)
    }
  }

  /// RFC 1951, 3.2.5: four codes share a number of extra bits, but the first eight have none, and
  /// the longest length has its own code.
  private static let lengths: [(base: Int, extra: Int)] =
    ranges(codes: 28, each: 4, from: 3) + [(258, 0)]
  private static let distances: [(base: Int, extra: Int)] = ranges(codes: 30, each: 2, from: 1)

  private static func ranges(codes: Int, each: Int, from first: Int) -> [(base: Int, extra: Int)] {
    var base = first
    return (0..<codes).map { code in
      let extra = max(0, code / each - 1)
      defer { base += 1 << extra }
      return (base, extra)
    }
  }
}

/// RFC 1952, section 8.
private struct CRC32 {
  private var rest: UInt32 = .max

  var value: UInt32 { ~rest }

  mutating func add(_ bytes: [UInt8]) {
    for byte in bytes {
      rest = Self.table[Int(UInt8(truncatingIfNeeded: rest) ^ byte)] ^ rest >> 8
    }
  }

  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in
      value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1
    }
  }
}
