/// Allocated at a service's start, by their names in the manifest.
package struct ServicePorts: Equatable, Sendable {
  package struct Port: Equatable, Sendable {
    package let name: String
    package let number: UInt16
  }

  package let all: [Port]

  package static let mostPorts = 16
  private static let prefix = "OPFLOW_PORT_"

  package init(_ names: [String], _ numbers: [UInt16]) {
    all = zip(names, numbers).map { Port(name: $0, number: $1) }
  }

  // MARK: Names

  /// A letter or `_`, then letters, digits, `_` and `-`.
  package static func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, first < UInt8(ascii: "0") || first > UInt8(ascii: "9") else {
      return false
    }
    return first != UInt8(ascii: "-")
      && text.utf8.allSatisfy { isOfVariable($0) || $0 == UInt8(ascii: "-") }
  }

  private static func isOfVariable(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// For the service and its dependents.
  package static func variable(_ name: String) -> String {
    prefix + name.uppercased().replacing("-", with: "_")
  }

  // MARK: In the address of a service

  /// Replaces `$OPFLOW_PORT_NAME` and `${OPFLOW_PORT_NAME}`. Nil for an unknown variable, which is
  /// then in `unknown`.
  package static func resolve(
    _ text: String, unknown: inout String, number: (String) -> UInt16?
  ) -> String? {
    var result = ""
    var rest = text[...]
    while let dollar = rest.firstIndex(of: "$") {
      result += rest[..<dollar]
      rest = rest[rest.index(after: dollar)...]
      let isBraced = rest.first == "{"
      if isBraced { rest.removeFirst() }
      let name = rest.prefix { $0.utf8.count == 1 && isOfVariable($0.utf8.first ?? 0) }
      rest = rest[name.endIndex...]
      if isBraced {
        guard rest.first == "}" else {
          unknown = "${" + name
          return nil
        }
        rest.removeFirst()
      }
      guard let number = number(String(name)) else {
        unknown = "$" + name
        return nil
      }
      result += "\(number)"
    }
    return result + rest
  }

  package func resolve(_ text: String) -> String? {
    var unknown = ""
    return Self.resolve(text, unknown: &unknown) { variable in
      all.first { Self.variable($0.name) == variable }?.number
    }
  }

  package subscript(name: String) -> UInt16? { all.first { $0.name == name }?.number }

  // MARK: As text

  /// As in a `ready` line: `NAME:NUMBER,NAME:NUMBER`.
  package var text: String { all.map { "\($0.name):\($0.number)" }.joined(separator: ",") }

  package init?(text: String) {
    var all: [Port] = []
    for item in text.split(separator: ",", omittingEmptySubsequences: false) {
      let parts = item.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count == 2, Self.isName(String(parts[0])), let number = UInt16(parts[1]),
        number > 0, all.count < Self.mostPorts
      else { return nil }
      all.append(Port(name: String(parts[0]), number: number))
    }
    self.all = all
  }

  /// `http 41234, admin 41235`.
  package var words: String { all.map { "\($0.name) \($0.number)" }.joined(separator: ", ") }
}
