/// Hides user names and passwords of URLs in output.
package enum Credentials {
  package static let mark = "***"

  package static func hidden(in text: String) -> String {
    let bytes = Array(text.utf8)
    let ranges = bytes.withUnsafeBytes { Self.ranges(in: $0) }
    if ranges.isEmpty { return text }
    var result: [UInt8] = []
    var place = 0
    for range in ranges {
      result += bytes[place..<range.lowerBound] + Array(mark.utf8)
      place = range.upperBound
    }
    return String(decoding: result + bytes[place...], as: UTF8.self)
  }

  /// For one URL. In an invalid one, everything up to the last `@` may be a password.
  package static func hidden(inAddress text: String) -> String {
    if let address = try? WebAddress(text) { return address.text }
    let bytes = Array(text.utf8)
    guard let at = bytes.lastIndex(of: UInt8(ascii: "@")) else { return text }
    let start = bytes.withUnsafeBytes { authorityStart(in: $0) } ?? 0
    if start > at { return text }
    return String(decoding: bytes[..<start] + Array(mark.utf8) + bytes[at...], as: UTF8.self)
  }

  /// For the record of a partial download.
  package static func removed(from text: String) -> String {
    guard let address = try? WebAddress(text), address.userInfo != nil else { return text }
    return address.text
  }

  /// From `://` to the last `@` before the host's end, or of the line if that end may be within a
  /// password.
  package static func ranges(in bytes: UnsafeRawBufferPointer) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var place = 0
    while let start = authorityStart(in: bytes.part(place, bytes.count)).map({ place + $0 }) {
      var end = start
      var at: Int?
      while end < bytes.count, !endsAuthority(bytes[end]) {
        if bytes[end] == UInt8(ascii: "@") { at = end }
        end += 1
      }
      if at == nil, hasOpenPassword(bytes.part(start, end)) {
        while end < bytes.count, bytes[end] != 10, !isAuthorityStart(bytes, at: end) {
          if bytes[end] == UInt8(ascii: "@") { at = end }
          end += 1
        }
      }
      if let at, at > start { ranges.append(start..<at) }
      place = end
    }
    return ranges
  }

  /// The position after the first `://`.
  private static func authorityStart(in bytes: UnsafeRawBufferPointer) -> Int? {
    var index = 0
    while index + 2 < bytes.count {
      if isAuthorityStart(bytes, at: index) { return index + 3 }
      index += 1
    }
    return nil
  }

  private static func isAuthorityStart(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Bool {
    index + 2 < bytes.count && bytes[index] == UInt8(ascii: ":")
      && bytes[index + 1] == UInt8(ascii: "/") && bytes[index + 2] == UInt8(ascii: "/")
  }

  /// The part after the colon is not a port, IPv6 address or variable.
  private static func hasOpenPassword(_ authority: UnsafeRawBufferPointer) -> Bool {
    guard authority.first != UInt8(ascii: "["),
      let colon = authority.firstIndex(of: UInt8(ascii: ":")), colon > 0
    else { return false }
    let password = authority.part(colon + 1, authority.count)
    return password.first != UInt8(ascii: "$") && !password.allSatisfy { (48...57).contains($0) }
  }

  private static func endsAuthority(_ byte: UInt8) -> Bool {
    byte <= 32 || "/?#\\".utf8.contains(byte)
  }
}
