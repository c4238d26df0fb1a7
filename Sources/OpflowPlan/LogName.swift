internal import OpflowBase

/// The file name of a task's log: `ID.log`, with `%XX` for a leading `.` and for bytes outside
/// `A-Za-z0-9._@+=-`. The log of `NAME[VALUES]` is `NAME,VALUES.log`: a name that shells take
/// without quotes, and no other name contains `,`. File systems take 255 bytes, so a name of more
/// than 200 is cut and ends with `~`, which other names escape, and the ID's hash.
package enum LogName {
  static let longestStemBytes = 200

  package static func of(_ name: some Collection<UInt8>) -> String {
    let bytes = Array(name)
    guard let matrixTask = withComma(bytes) else { return stem(of: bytes) + ".log" }
    return stem(of: matrixTask, keeping: [comma], hashing: bytes) + ".log"
  }

  package static func of(_ name: String) -> String { of(Array(name.utf8)) }

  /// The name that version 0.1 gave to the log; nil if it is the same. Logs of older runs have it.
  package static func older(_ name: some Collection<UInt8>) -> String? {
    let bytes = Array(name)
    return withComma(bytes) == nil ? nil : stem(of: bytes) + ".log"
  }

  package static func stem(of name: some Collection<UInt8>, keeping kept: [UInt8] = []) -> String {
    stem(of: name, keeping: kept, hashing: name)
  }

  private static func stem(
    of name: some Collection<UInt8>, keeping kept: [UInt8], hashing id: some Collection<UInt8>
  ) -> String {
    var stem: [UInt8] = []
    for byte in name {
      if kept.contains(byte) || isPlain(byte) && !(byte == UInt8(ascii: ".") && stem.isEmpty) {
        stem.append(byte)
      } else {
        stem.append(UInt8(ascii: "%"))
        stem.append(hexadecimal(byte >> 4))
        stem.append(hexadecimal(byte & 15))
      }
    }
    if stem.count > longestStemBytes {
      stem.removeLast(stem.count - (longestStemBytes - 17))
      // Avoids a cut within `%XX`.
      if let percent = stem.suffix(2).lastIndex(of: UInt8(ascii: "%")) {
        stem.removeLast(stem.count - percent)
      }
      stem.append(UInt8(ascii: "~"))
      Hexadecimal.append(Hash.xxh3(Array(id)), digitCount: 16, to: &stem)
    }
    return String(decoding: stem, as: UTF8.self)
  }

  /// `NAME,VALUES` for `NAME[VALUES]` without further brackets and without `,` in NAME; nil for
  /// other names, so that the first `,` of a log's name is always the bracket.
  private static func withComma(_ name: [UInt8]) -> [UInt8]? {
    guard name.last == closing, let open = name.firstIndex(of: opening),
      name[(open + 1)...].firstIndex(of: closing) == name.count - 1,
      !name[(open + 1)...].contains(opening), !name[..<open].contains(comma)
    else { return nil }
    var shown = name
    shown[open] = comma
    shown.removeLast()
    return shown
  }

  private static let comma = UInt8(ascii: ",")
  private static let opening = UInt8(ascii: "[")
  private static let closing = UInt8(ascii: "]")

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "@"), UInt8(ascii: "+"), UInt8(ascii: "="), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  private static func hexadecimal(_ nibble: UInt8) -> UInt8 {
    nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") + nibble - 10
  }
}

/// Separates attempts in a task's log. Progress output omits it.
package enum AttemptHeader {
  package static func line(_ attempt: Int32) -> String { "--- attempt \(attempt) ---\n" }

  package static func dropped(
    from bytes: UnsafeRawBufferPointer, attempt: Int32
  ) -> UnsafeRawBufferPointer {
    let header = line(attempt).utf8
    // If the last attempt ended within a line, a line feed precedes the header.
    let skipped = bytes.first == Field.lineFeed ? 1 : 0
    guard bytes.dropFirst(skipped).starts(with: header) else { return bytes }
    return UnsafeRawBufferPointer(rebasing: bytes[(skipped + header.count)...])
  }

  package static func dropped(atBeginningOf bytes: [UInt8], attempt: Int32) -> [UInt8] {
    let rest = bytes.withUnsafeBytes { dropped(from: $0, attempt: attempt).count }
    return rest == bytes.count ? bytes : Array(bytes.suffix(rest))
  }

  /// Expects the end of a log with several attempts.
  package static func dropped(before bytes: [UInt8], attempt: Int32) -> [UInt8] {
    let header = Array(line(attempt).utf8)
    var start = bytes.startIndex
    while start < bytes.endIndex {
      if bytes[start...].starts(with: header) { return Array(bytes[(start + header.count)...]) }
      guard let end = bytes[start...].firstIndex(of: Field.lineFeed) else { break }
      start = end + 1
    }
    return bytes
  }
}
