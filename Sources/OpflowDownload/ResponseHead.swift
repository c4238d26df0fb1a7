internal import OpflowBase
package import OpflowWire

/// The parts of a response head that matter to a download (RFC 9110, 9112).
package struct ResponseHead: Equatable, Sendable {
  /// 11 for HTTP/1.1, 20 for HTTP/2.
  package var version = 11
  package var status = 0
  package var phrase = ""
  package var contentLength: Int64?
  /// Conflicting, or not a number.
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
  /// `Transfer-Encoding: identity`: Content-Length counts, but libcurl waits for the connection's
  /// end.
  package var isIdentity = false
  /// `multipart/byteranges`, which was not requested.
  package var isMultipart = false

  package init() {}

  package init(status: Int) { self.status = status }

  /// Only the connection's end terminates the body (RFC 9112, 6.3).
  package var isClosedByEnd: Bool {
    version < 20 && contentLength == nil && !isChunked
  }

  package var validator: Validator { Validator(etag: etag, lastModified: lastModified) }

  /// Whether the file may have changed again within the second of Last-Modified, so that the date
  /// does not identify a version (RFC 9110, 8.8.2.2). `nowSeconds` is for a server without a clock.
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

  /// Takes a line with its line end; returns the head at the empty line. Ignores interim responses
  /// (1xx) and trailers.
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
    // As in browsers.
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
