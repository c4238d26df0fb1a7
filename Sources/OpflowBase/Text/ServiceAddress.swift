/// The URL of a service's probe, on this machine: `http://HOST[:PORT][/PATH]`.
package struct ServiceAddress: Equatable, Sendable {
  package let host: String
  package let port: UInt16
  /// With the query; at least `/`.
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

  package static func mistake(in text: String) -> String? {
    if ServiceAddress(text) != nil { return nil }
    return text.hasPrefix("https://")
      ? "a service is asked by http, not by https" : "`http` must be an http URL of this machine"
  }
}
