/// A JSON value for readable output.
indirect enum JSONNode {
  case members(names: [String], values: [JSONNode])
  case array([JSONNode])
  case string(String)
  case integer(Int64)
  /// A number as text.
  case number(String)
  case bool(Bool)

  static func object(_ members: [(String, JSONNode)]) -> JSONNode {
    .members(names: members.map(\.0), values: members.map(\.1))
  }

  /// The JSON text, indented by two.
  var text: String {
    var text = ""
    write(into: &text, indent: 0)
    return text + "\n"
  }

  private func write(into text: inout String, indent: Int) {
    switch self {
    case .members(let names, let values):
      if names.isEmpty { return text += "{}" }
      text += "{\n"
      for (name, value) in zip(names, values) {
        text += String(repeating: " ", count: indent + 2) + Self.quoted(name) + ": "
        value.write(into: &text, indent: indent + 2)
        text += name == names.last ? "\n" : ",\n"
      }
      text += String(repeating: " ", count: indent) + "}"
    case .array(let items):
      text += "["
      for (index, item) in items.enumerated() {
        item.write(into: &text, indent: indent)
        if index < items.count - 1 { text += ", " }
      }
      text += "]"
    case .string(let string): text += Self.quoted(string)
    case .integer(let value): text += "\(value)"
    case .number(let value): text += value
    case .bool(let value): text += value ? "true" : "false"
    }
  }

  private static func quoted(_ string: String) -> String {
    var text = "\""
    for character in string.unicodeScalars {
      switch character {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      default: text.unicodeScalars.append(character)
      }
    }
    return text + "\""
  }
}
