internal import OpflowBase
package import OpflowWire

/// The parts that matter to a download (RFC 9110, 9112).
package struct ResponseHead: Equatable, Sendable {
  /// 11 for HTTP/1.1, 20 for HTTP/2.
  package var version = 11
  package var status = 0
  package var phrase = ""
  package var contentLength: Int64?
  /// The length is not a number, or lengths conflict.
  package var hasBrokenLength = false
  package var contentRange: ContentRange?
  package var hasBrokenRange = false
  package var etag = ""
  package var lastModified = ""
  /// The server's time of the response.
  package var date = ""
  package var retryAfter = ""
  package var location = ""
  /// In lower case; empty for none or `identity`.
  package var encoding = ""
  package var isChunked = false
  /// The connection closes after this response.
  package var isLast = false
  /// `Transfer-Encoding: identity`: Content-Length is valid, but libcurl waits for the connection's
  /// end.
  package var isIdentity = false
  /// `multipart/byteranges`, which was not requested.
  package var isMultipart = false

  package init() {}

  package init(status: Int) { self.status = status }

  /// Only the connection's end terminates the body (RFC 9112, 6.3).
  package var isClosedByEnd: Bool { version < 20 && contentLength == nil && !isChunked }

  package var validator: Validator { Validator(etag: etag, lastModified: lastModified) }

  /// The file may have changed again within the second of Last-Modified, so that the date does not
  /// identify a version (RFC 9110, 8.8.2.2). `nowSeconds` is for a server without a clock.
  package func hasFreshDate(nowSeconds: Int64) -> Bool {
    guard let modified = HTTPDate.seconds(lastModified) else { return true }
    return (HTTPDate.seconds(date) ?? nowSeconds) <= modified
  }
}

/// `Content-Range: bytes FIRST-LAST/TOTAL` (RFC 9110, 14.4).
package enum ContentRange: Equatable, Sendable {
  case part(first: Int64, last: Int64, total: Int64?)
  /// `bytes */TOTAL` of a 416.
  case unsatisfied(total: Int64)

  package init?(_ field: String) {
    let text = field.asciiLowercased
    guard text.hasPrefix("bytes") else { return nil }
    // Some servers send `bytes=` or `bytes:`.
    let rest = text.dropFirst(5).drop { " =:".contains($0) }
    let halves = rest.split(separator: "/", omittingEmptySubsequences: false)
    guard halves.count == 2 else { return nil }
    let total: Int64? = Field.number(halves[1].filter { $0 != " " }.utf8)
    if halves[0] == "*" {
      guard let total, total >= 0 else { return nil }
      self = .unsatisfied(total: total)
      return
    }
    let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first: Int64 = Field.number(ends[0].utf8),
      let last: Int64 = Field.number(ends[1].filter { $0 != " " }.utf8), first >= 0, last >= first,
      last < .max, total != nil || halves[1].contains("*")
    else { return nil }
    if let total, last >= total { return nil }
    self = .part(first: first, last: last, total: total)
  }
}

package struct ResponseHeadReader: Sendable {
  private var head = ResponseHead()
  private var lengths: [String] = []
  private var hasBrokenFraming = false
  private var isKeptAlive = false
  /// A transfer coding changes the body's length.
  private var isCoded = false
  private var isComplete = false

  package init() {}

  /// Returns the head at the empty line. Ignores interim responses (1xx) and trailers.
  package mutating func take(_ line: UnsafeRawBufferPointer) -> ResponseHead? {
    var end = line.count
    while end > 0, Self.isBlank(line[end - 1]) { end -= 1 }
    let bytes = line.part(0, end)
    if bytes.count >= 5, bytes[4] == UInt8(ascii: "/"), Self.is(bytes.part(0, 4), "http") {
      begin(bytes)
      return nil
    }
    if isComplete { return nil }
    if bytes.isEmpty { return finish() }
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    // Makes strings only of relevant fields.
    guard let name = Self.name(bytes.part(0, colon)) else { return nil }
    var start = colon + 1
    while start < end, Self.isBlank(bytes[start]) { start += 1 }
    field(name, bytes.part(start, end))
    return nil
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == 32 || byte == 9 || byte == 10 || byte == 13
  }

  private enum Name {
    case contentLength, contentRange, etag, lastModified, date, connection, retryAfter, location
    case contentEncoding, transferEncoding, contentType
  }

  private static let names: [(name: Name, text: StaticString)] = [
    (.contentLength, "content-length"), (.contentRange, "content-range"), (.etag, "etag"),
    (.lastModified, "last-modified"), (.date, "date"), (.connection, "connection"),
    (.retryAfter, "retry-after"), (.location, "location"),
    (.contentEncoding, "content-encoding"), (.transferEncoding, "transfer-encoding"),
    (.contentType, "content-type"),
  ]

  private static func name(_ bytes: UnsafeRawBufferPointer) -> Name? {
    let length = bytes.count { $0 != 32 && $0 != 9 }
    for (name, text) in names where text.utf8CodeUnitCount == length {
      if Self.is(bytes, text) { return name }
    }
    return nil
  }

  /// Ignores case, spaces and tabs.
  private static func `is`(_ bytes: UnsafeRawBufferPointer, _ name: StaticString) -> Bool {
    name.withUTF8Buffer { wanted in
      var place = 0
      for byte in bytes where byte != 32 && byte != 9 {
        let lower = (65...90).contains(byte) ? byte + 32 : byte
        guard place < wanted.count, wanted[place] == lower else { return false }
        place += 1
      }
      return place == wanted.count
    }
  }

  private mutating func begin(_ statusLine: UnsafeRawBufferPointer) {
    head = ResponseHead()
    lengths = []
    hasBrokenFraming = false
    isKeptAlive = false
    isCoded = false
    isComplete = false
    let words = statusLine.split(separator: 32, maxSplits: 2)
    let digits = words[0].dropFirst(5).filter { $0 != UInt8(ascii: ".") }
    head.version = (Field.number(digits) ?? 11) * (digits.count == 1 ? 10 : 1)
    if words.count > 1 { head.status = Field.number(words[1]) ?? 0 }
    if words.count > 2 { head.phrase = String(decoding: words[2], as: UTF8.self) }
  }

  private mutating func field(_ name: Name, _ value: UnsafeRawBufferPointer) {
    var text: String { String(decoding: value, as: UTF8.self) }
    switch name {
    case .contentLength:
      for length in value.split(whereSeparator: { $0 == UInt8(ascii: ",") }) {
        lengths.append(String(decoding: length.filter { $0 != 32 }, as: UTF8.self))
      }
    case .contentRange:
      head.contentRange = ContentRange(text)
      head.hasBrokenRange = head.contentRange == nil
    case .etag: head.etag = text
    case .lastModified: head.lastModified = text
    case .date: head.date = text
    case .connection:
      for option in Self.words(value) {
        if Self.is(option, "close") { head.isLast = true }
        if Self.is(option, "keep-alive") { isKeptAlive = true }
      }
    case .retryAfter: head.retryAfter = text
    // The first one wins, as in browsers.
    case .location: if head.location.isEmpty { head.location = text }
    case .contentEncoding:
      // Some servers send these for no encoding.
      let codings = Self.words(value).map { String(decoding: $0, as: UTF8.self).asciiLowercased }
        .filter { !["identity", "none", "binary", "utf-8"].contains($0) }
      if head.encoding.isEmpty || codings.isEmpty {
        head.encoding += codings.joined(separator: ", ")
      } else {
        head.encoding += ", " + codings.joined(separator: ", ")
      }
    case .transferEncoding:
      let codings = Self.words(value, and: UInt8(ascii: ";")).map {
        String(decoding: $0, as: UTF8.self).asciiLowercased
      }
      let count = codings.count { $0 == "chunked" }
      // libcurl decodes only one chunked layer.
      if count > 1 || count > 0 && head.isChunked { hasBrokenFraming = true }
      if count > 0 { head.isChunked = true }
      if codings == ["identity"] { head.isIdentity = true }
      if codings.contains(where: { $0 != "chunked" && $0 != "identity" }) { isCoded = true }
    case .contentType:
      let name: StaticString = "multipart/byteranges"
      head.isMultipart =
        value.count >= name.utf8CodeUnitCount
        && Self.is(value.part(0, name.utf8CodeUnitCount), name)
    }
  }

  private static func words(
    _ value: UnsafeRawBufferPointer, and separator: UInt8 = UInt8(ascii: ",")
  ) -> [UnsafeRawBufferPointer] {
    value.split { $0 == UInt8(ascii: ",") || $0 == separator || isBlank($0) }
      .map(UnsafeRawBufferPointer.init(rebasing:))
  }

  private mutating func finish() -> ResponseHead? {
    if (100..<200).contains(head.status) { return nil }
    isComplete = true
    head.hasBrokenLength = hasBrokenFraming
    if head.version < 11, !isKeptAlive { head.isLast = true }
    if let first = lengths.first {
      let length: Int64? = Field.number(first.utf8)
      if let length, length >= 0, lengths.allSatisfy({ $0 == first }) {
        // A transfer coding overrides Content-Length (RFC 9112, 6.3).
        if !head.isChunked, !isCoded { head.contentLength = length }
      } else {
        head.hasBrokenLength = true
      }
    }
    return head
  }
}

/// HTTP dates (RFC 9110, 5.6.7) in all three required forms: `Sun, 06 Nov 1994 08:49:37 GMT`,
/// `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov 6 08:49:37 1994`.
package enum HTTPDate {
  private static let months = Array("janfebmaraprmayjunjulaugsepoctnovdec".utf8)

  /// Returns seconds since the epoch; nil if invalid. The common form, twice in most responses, is
  /// read without copying.
  package static func seconds(_ text: String) -> Int64? {
    if let common = text.utf8.withContiguousStorageIfAvailable(common), let common { return common }
    return anyForm(Array(text.utf8))
  }

  private static func common(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    guard bytes.count == 29, bytes[3] == 44, bytes[4] == 32, bytes[7] == 32, bytes[11] == 32,
      bytes[16] == 32, bytes[19] == 58, bytes[22] == 58, bytes[25] == 32,
      let month = month(bytes[8], bytes[9], bytes[10])
    else { return nil }
    func number(_ place: Int, _ count: Int) -> Int {
      var value = 0
      for byte in bytes[place..<place + count] {
        guard byte >= 48, byte <= 57 else { return -1 }
        value = value * 10 + Int(byte - 48)
      }
      return value
    }
    return seconds(
      year: number(12, 4), month: month, day: number(5, 2), hour: number(17, 2),
      minute: number(20, 2), second: number(23, 2))
  }

  private static func anyForm(_ bytes: [UInt8]) -> Int64? {
    let words = bytes.split { $0 == 32 || $0 == 44 || $0 == 45 }
    guard words.count >= 5 else { return nil }
    let day: Int?
    let month: Int?
    let year: Int?
    let clock: ArraySlice<UInt8>
    if let number: Int = Field.number(words[1]) {
      (day, month, year, clock) = (number, Self.month(words[2]), Field.number(words[3]), words[4])
    } else {
      (day, month, year, clock) = (
        Field.number(words[2]), Self.month(words[1]), Field.number(words[4]), words[3]
      )
    }
    let parts = clock.split(separator: 58)
    guard parts.count == 3, let day, let month, let year, let hour: Int = Field.number(parts[0]),
      let minute: Int = Field.number(parts[1]), let second: Int = Field.number(parts[2])
    else { return nil }
    return seconds(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
  }

  private static func seconds(
    year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int
  ) -> Int64? {
    guard (1...31).contains(day), (0...23).contains(hour), (0...59).contains(minute),
      (0...60).contains(second), (0...9999).contains(year)
    else { return nil }
    // Two digits from 70 to 99 mean the last century.
    let fullYear = year < 70 ? year + 2000 : year < 100 ? year + 1900 : year
    return daysSinceEpoch(year: fullYear, month: month, day: day) * 86_400
      + Int64(hour * 3600 + minute * 60 + second)
  }

  private static func month(_ word: ArraySlice<UInt8>) -> Int? {
    guard word.count == 3, let first = word.first, let last = word.last else { return nil }
    return month(first, word[word.startIndex + 1], last)
  }

  /// From 1.
  private static func month(_ first: UInt8, _ second: UInt8, _ third: UInt8) -> Int? {
    let name = Self.name(first | 0x20, second | 0x20, third | 0x20)
    for month in 0..<12 {
      let place = 3 * month
      if name == Self.name(months[place], months[place + 1], months[place + 2]) {
        return month + 1
      }
    }
    return nil
  }

  private static func name(_ first: UInt8, _ second: UInt8, _ third: UInt8) -> UInt32 {
    UInt32(first) << 16 | UInt32(second) << 8 | UInt32(third)
  }

  /// Gregorian; years start in March, so that a leap day comes last.
  private static func daysSinceEpoch(year: Int, month: Int, day: Int) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return Int64(era * 146_097 + dayOfEra - 719_468)
  }
}

/// The time that a server asks to wait (RFC 9110, 10.2.3).
package enum RetryAfter {
  package static let longestMilliseconds: Int64 = 24 * 3600 * 1000

  /// From `nowSeconds` on, not negative; nil if invalid.
  package static func milliseconds(_ field: String, nowSeconds: Int64) -> Int64? {
    let text = Array(field.utf8.drop { $0 == 32 }.prefix { $0 != 32 })
    if !text.isEmpty, text.allSatisfy({ (48...57).contains($0) }) {
      guard let seconds: Int64 = Field.number(text) else { return longestMilliseconds }
      return min(seconds, longestMilliseconds / 1000) * 1000
    }
    guard let date = HTTPDate.seconds(field) else { return nil }
    return min(max(0, date - nowSeconds), longestMilliseconds / 1000) * 1000
  }
}
