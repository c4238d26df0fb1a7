/// An absolute http, https or file URL (RFC 3986). The transfer library gets `text`, composed from
/// these parts, so it connects to the host that was checked.
package struct WebAddress: Hashable, Sendable {
  package enum Scheme: String, Sendable {
    case http, https, file

    fileprivate var defaultPort: Int {
      switch self {
      case .http: 80
      case .https: 443
      case .file: 0
      }
    }
  }

  package enum ParseError: Error, Equatable, Sendable {
    /// `scheme:` or `//` is missing.
    case notAbsolute
    case scheme(String)
    case host
    case port

    package var text: String {
      switch self {
      case .notAbsolute: "the URL is not absolute; it must start with http://, https:// or file://"
      case .scheme(let name): "the scheme '\(name)' is not one of http, https and file"
      case .host: "the host is missing or contains an invalid character"
      case .port: "the port is not a number from 1 to 65535"
      }
    }
  }

  package let scheme: Scheme
  /// As written, percent-encoded.
  package private(set) var userInfo: String?
  /// In lower case; IPv6 in brackets. Empty for a file.
  package let host: String
  package let port: Int?
  /// Starts with the first slash; invalid characters are percent-encoded.
  package let pathAndQuery: String
  /// Excludes credentials and fragment.
  package let text: String

  private init(scheme: Scheme, userInfo: String?, host: String, port: Int?, pathAndQuery: String) {
    let shownPort = port.map { ":\($0)" } ?? ""
    text = "\(scheme.rawValue)://\(host)\(shownPort)\(pathAndQuery)"
    self.scheme = scheme
    self.userInfo = userInfo
    self.host = host
    self.port = port
    self.pathAndQuery = pathAndQuery
  }

  package init(_ text: String) throws(ParseError) {
    let bytes = Self.trimmed(Array(text.utf8)[...])
    guard let colon = Self.schemeEnd(bytes) else { throw .notAbsolute }
    let name = String(decoding: bytes[..<colon], as: UTF8.self).asciiLowercased
    guard let scheme = Scheme(rawValue: name) else { throw .scheme(name) }
    let rest = bytes[(colon + 1)...]
    if scheme == .file {
      try self.init(file: rest)
      return
    }
    guard rest.starts(with: "//".utf8) else { throw .notAbsolute }
    try self.init(scheme: scheme, authorityAndPath: rest.dropFirst(2))
  }

  /// `file:/PATH`, `file:///PATH` and `file://localhost/PATH`.
  private init(file rest: ArraySlice<UInt8>) throws(ParseError) {
    var path = rest
    if path.starts(with: "//".utf8) {
      path = path.dropFirst(2)
      if path.starts(with: "localhost/".utf8) { path = path.dropFirst(9) }
    }
    guard path.first == UInt8(ascii: "/") else { throw .host }
    self.init(scheme: .file, userInfo: nil, host: "", port: nil, pathAndQuery: Self.encoded(path))
  }

  private init(scheme: Scheme, authorityAndPath bytes: ArraySlice<UInt8>) throws(ParseError) {
    let end =
      bytes.firstIndex { Self.endsAuthority($0) || $0 == UInt8(ascii: "\\") } ?? bytes.endIndex
    var authority = bytes[..<end]
    var userInfo: String?
    if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
      userInfo = String(decoding: authority[..<at], as: UTF8.self)
      authority = authority[(at + 1)...]
    }
    let hostEnd: Int
    if authority.first == UInt8(ascii: "[") {
      guard let close = authority.firstIndex(of: UInt8(ascii: "]")) else { throw .host }
      hostEnd = close + 1
      guard authority[(authority.startIndex + 1)..<close].allSatisfy(Self.isAddressByte) else {
        throw .host
      }
    } else {
      hostEnd = authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
      guard authority[..<hostEnd].allSatisfy(Self.isHostByte) else { throw .host }
    }
    let host = String(decoding: authority[..<hostEnd], as: UTF8.self).asciiLowercased
    if host.isEmpty || (end < bytes.endIndex && bytes[end] == UInt8(ascii: "\\")) { throw .host }
    let digits = authority[hostEnd...]
    var port: Int?
    if digits.first == UInt8(ascii: ":"), digits.count > 1 {
      guard let number: Int = Field.number(digits.dropFirst()), (1...65535).contains(number) else {
        throw .port
      }
      port = number
    } else if !digits.isEmpty, digits.first != UInt8(ascii: ":") {
      throw .host
    }
    self.init(
      scheme: scheme, userInfo: userInfo, host: host, port: port,
      pathAndQuery: Self.encoded(bytes[end...]))
  }

  /// Credentials for one origin are not sent to another.
  package func isSameOrigin(as other: WebAddress) -> Bool {
    scheme == other.scheme && host == other.host
      && (port ?? scheme.defaultPort) == (other.port ?? other.scheme.defaultPort)
  }

  /// Decoded; nil for other schemes.
  package var filePath: String? {
    guard scheme == .file else { return nil }
    var bytes: [UInt8] = []
    var rest = Array(pathAndQuery.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), rest.count >= 2,
        let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(code)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  package var lastPathPart: Substring {
    pathAndQuery.prefix { $0 != "?" }.split(separator: "/").last ?? ""
  }

  /// The target of a Location header (RFC 3986, 5.2). Only the same origin keeps credentials.
  package func resolving(_ reference: String) throws(ParseError) -> WebAddress {
    let bytes = Self.trimmed(Array(reference.utf8)[...])
    var target: WebAddress
    if let colon = Self.schemeEnd(bytes), Self.looksLikeScheme(bytes[..<colon]) {
      target = try WebAddress(Self.withTwoSlashes(bytes, behind: colon))
    } else if bytes.starts(with: "//".utf8) {
      target = try WebAddress(scheme: scheme, authorityAndPath: bytes.dropFirst(2))
    } else {
      target = WebAddress(
        scheme: scheme, userInfo: userInfo, host: host, port: port,
        pathAndQuery: merged(with: bytes))
    }
    if target.userInfo == nil, target.isSameOrigin(as: self) { target.userInfo = userInfo }
    return target
  }

  /// Some servers write `http:` with one or three slashes; only a host can follow.
  private static func withTwoSlashes(_ bytes: ArraySlice<UInt8>, behind colon: Int) -> String {
    let scheme = String(decoding: bytes[..<colon], as: UTF8.self).asciiLowercased
    let slashes = bytes[(colon + 1)...].prefix { $0 == UInt8(ascii: "/") }.count
    guard scheme == "http" || scheme == "https", slashes == 1 || slashes == 3 else {
      return String(decoding: bytes, as: UTF8.self)
    }
    return scheme + "://" + String(decoding: bytes[(colon + 1 + slashes)...], as: UTF8.self)
  }

  private func merged(with reference: ArraySlice<UInt8>) -> String {
    let base = Array(pathAndQuery.utf8)
    let path = base.prefix { $0 != UInt8(ascii: "?") }
    switch reference.first {
    case nil, UInt8(ascii: "#"): return pathAndQuery
    case UInt8(ascii: "/"): return Self.withoutDots(Self.encoded(reference))
    case UInt8(ascii: "?"): return Self.encoded((path + Array(reference))[...])
    default:
      let folder = path.lastIndex(of: UInt8(ascii: "/")).map { path[...$0] } ?? path[..<0]
      return Self.withoutDots(Self.encoded((folder + Array(reference))[...]))
    }
  }

  /// RFC 3986, 5.2.4.
  private static func withoutDots(_ text: String) -> String {
    let pathEnd = text.firstIndex(of: "?") ?? text.endIndex
    var kept: [Substring] = []
    let parts = text[..<pathEnd].split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    for (index, part) in parts.enumerated() {
      let isLast = index == parts.count - 1
      if part == ".." {
        if !kept.isEmpty { kept.removeLast() }
        if isLast { kept.append("") }
      } else if part == "." {
        if isLast { kept.append("") }
      } else {
        kept.append(part)
      }
    }
    return "/" + kept.joined(separator: "/") + text[pathEnd...]
  }

  // MARK: - Bytes

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var bytes = bytes
    while let first = bytes.first, first <= 32 { bytes = bytes.dropFirst() }
    while let last = bytes.last, last <= 32 { bytes = bytes.dropLast() }
    return bytes
  }

  /// nil if another delimiter precedes the colon.
  private static func schemeEnd(_ bytes: ArraySlice<UInt8>) -> Int? {
    let colon = UInt8(ascii: ":")
    guard let end = bytes.firstIndex(where: { $0 == colon || endsAuthority($0) }),
      end > bytes.startIndex, bytes[end] == colon
    else { return nil }
    return end
  }

  private static func endsAuthority(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
  }

  private static func looksLikeScheme(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.allSatisfy { isAlphanumeric($0) || "+-.".utf8.contains($0) }
      && bytes.first.map { $0 > 57 } == true
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
  }

  /// International names pass; the transfer library converts them.
  private static func isHostByte(_ byte: UInt8) -> Bool {
    isAlphanumeric(byte) || "-._~".utf8.contains(byte) || byte >= 0x80
  }

  private static func isAddressByte(_ byte: UInt8) -> Bool {
    isAlphanumeric(byte) || ":.%".utf8.contains(byte)
  }

  /// Adds a leading slash and removes the fragment; invalid characters and stray percent signs
  /// become %XX.
  private static func encoded(_ bytes: ArraySlice<UInt8>) -> String {
    let bytes = bytes.prefix { $0 != UInt8(ascii: "#") }
    if bytes.first == UInt8(ascii: "/"), bytes.allSatisfy({ isPlain($0) }) {
      return String(decoding: bytes, as: UTF8.self)
    }
    var result: [UInt8] = bytes.first == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]
    for (index, byte) in zip(bytes.indices, bytes) {
      let isEscape =
        byte == UInt8(ascii: "%") && index + 2 < bytes.endIndex && isHexadecimal(bytes[index + 1])
        && isHexadecimal(bytes[index + 2])
      if !isPlain(byte), !isEscape {
        result += [UInt8(ascii: "%"), upperDigits[Int(byte >> 4)], upperDigits[Int(byte & 15)]]
      } else {
        result.append(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static let upperDigits = Array("0123456789ABCDEF".utf8)

  /// Allowed in path and query, except `%`.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case 0...32, 127..., UInt8(ascii: "%"), UInt8(ascii: "\""), UInt8(ascii: "<"),
      UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"), UInt8(ascii: "`"),
      UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
      false
    default: true
    }
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
  }
}

/// The URL of a service's probe, on this machine: `http://HOST[:PORT][/PATH]`.
package struct ServiceAddress: Equatable, Sendable {
  package let host: String
  package let port: UInt16
  /// Includes the query; at least `/`.
  package let path: String
  package let isIPv6: Bool

  package init?(_ text: String) {
    let scheme = "http://"
    guard text.hasPrefix(scheme), text.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else { return nil }
    let rest = text.dropFirst(scheme.count)
    let end = rest.firstIndex(where: { $0 == "/" || $0 == "?" }) ?? rest.endIndex
    var authority = rest[..<end]
    var port: UInt16 = 80
    if let colon = authority.lastIndex(of: ":"), authority.last != "]" {
      guard let number = UInt16(authority[authority.index(after: colon)...]), number > 0 else {
        return nil
      }
      port = number
      authority = authority[..<colon]
    }
    guard Self.hosts.contains(String(authority)) else { return nil }
    host = String(authority)
    self.port = port
    isIPv6 = authority == "[::1]"
    let path = String(rest[end...])
    self.path = path.hasPrefix("/") ? path : "/" + path
  }

  private static let hosts: Set<String> = ["localhost", "127.0.0.1", "[::1]", "0.0.0.0"]

  package static func problem(in text: String) -> String? {
    if ServiceAddress(text) != nil { return nil }
    return text.hasPrefix("https://")
      ? "opflow checks services by http, not https" : "`http` must be an http URL of this machine"
  }
}

/// Hides user names and passwords of URLs.
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

  /// Expects one URL. In an invalid one, everything up to the last `@` may be a password.
  package static func hidden(inAddress text: String) -> String {
    if let address = try? WebAddress(text) { return address.text }
    let bytes = Array(text.utf8)
    guard let at = bytes.lastIndex(of: UInt8(ascii: "@")) else { return text }
    let start = bytes.withUnsafeBytes { authorityStart(in: $0) } ?? 0
    if start > at { return text }
    return String(decoding: bytes[..<start] + Array(mark.utf8) + bytes[at...], as: UTF8.self)
  }

  package static func removed(from text: String) -> String {
    guard let address = try? WebAddress(text), address.userInfo != nil else { return text }
    return address.text
  }

  /// Returns the range from `://` to the last `@` before the host's end, or to the last `@` of the
  /// line if that end may be within a password.
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
