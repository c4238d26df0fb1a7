enum UTF8Check {
  /// Returns the offset of the first byte that is not UTF-8 (RFC 3629).
  static func firstWrong(in bytes: Text) -> Int? {
    var position = 0
    while position < bytes.count {
      let first = bytes[position]
      if first < 0x80 {
        position += 1
        continue
      }
      let count: Int
      let second: ClosedRange<UInt8>
      switch first {
      case 0xC2...0xDF: (count, second) = (2, 0x80...0xBF)
      case 0xE0: (count, second) = (3, 0xA0...0xBF)
      case 0xED: (count, second) = (3, 0x80...0x9F)
      case 0xE1...0xEF: (count, second) = (3, 0x80...0xBF)
      case 0xF0: (count, second) = (4, 0x90...0xBF)
      case 0xF1...0xF3: (count, second) = (4, 0x80...0xBF)
      case 0xF4: (count, second) = (4, 0x80...0x8F)
      default: return position
      }
      guard position + count <= bytes.count, second.contains(bytes[position + 1]),
        bytes.part((position + 2)..<(position + count)).allSatisfy({ $0 & 0xC0 == 0x80 })
      else { return position }
      position += count
    }
    return nil
  }
}
