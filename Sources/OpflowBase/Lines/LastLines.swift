package enum LastLines {
  /// The last line gets a newline.
  package static func of(_ bytes: [UInt8], count: Int) -> [UInt8] {
    var end = bytes.count
    if bytes.last == Field.lineFeed { end -= 1 }
    guard end > 0 else { return [] }
    var start = end
    var lines = 0
    while start > 0 {
      if bytes[start - 1] == Field.lineFeed {
        lines += 1
        if lines == count { break }
      }
      start -= 1
    }
    return Array(bytes[start..<end]) + [Field.lineFeed]
  }
}
