/// The JSON Schema of a manifest, in draft 7, which editors support best. Accepts every valid
/// manifest, and errors that need the whole manifest, such as an unknown task in `needs`.
package enum ManifestSchema {
  package static var text: String {
    var members: [(String, JSONNode)] = [
      ("$schema", "http://json-schema.org/draft-07/schema#"),
      ("title", "opflow manifest"),
    ]
    members += [("allOf", [ShapeSchema.reference(KeyMap.manifest.rawValue)])]
    var definitions: [(String, JSONNode)] = KeyMap.allCases.map { ($0.rawValue, schema(of: $0)) }
    for row in KeyMap.allCases.flatMap(\.keys) {
      guard case .nested(let name, let item) = row.takes else { continue }
      definitions.append((name, ShapeSchema.items(name, item)))
    }
    members.append(("definitions", .object(definitions)))
    return JSONNode.object(members).text
  }

  private static func schema(of map: KeyMap) -> JSONNode {
    var members: [(String, JSONNode)] = [("type", "object")]
    members.append(("properties", .object(map.keys.map { ($0.name.description, property($0)) })))
    if let (names, takes) = map.others {
      if let takes {
        members.append(("propertyNames", ShapeSchema.names(names)))
        members.append(("additionalProperties", ShapeSchema.schema(of: takes)))
        members.append(("minProperties", 1))
      } else {
        members.append(("patternProperties", [ShapeSchema.pattern(names): [:]]))
        members.append(("additionalProperties", false))
      }
    } else {
      members.append(("additionalProperties", false))
    }
    if !map.rules.isEmpty { members.append(("allOf", .array(map.rules.map(rule)))) }
    let schema = JSONNode.object(members)
    return map == .need ? ["anyOf": [schema, needByOldReaders]] : schema
  }

  /// For YAML 1.1 readers, the key `on` is the boolean true. JSON has no such key, but validators
  /// in Python see it.
  private static var needByOldReaders: JSONNode {
    [
      "doNotSuggest": true, "type": "object", "required": ["task"],
      "properties": [NeedKey.task.name.description: ShapeSchema.schema(of: NeedKey.task.row.takes)],
      "propertyNames": ["enum": ["task", true]],
      "additionalProperties": ShapeSchema.schema(of: NeedKey.on.row.takes),
    ]
  }

  private static func property(_ row: KeyRow) -> JSONNode {
    let standard = row.standard.isEmpty ? "" : "\nDefault: \(row.standard)"
    let description = ("description", JSONNode.string(row.meaning + standard))
    switch ShapeSchema.schema(of: row.takes) {
    // Draft 7 ignores siblings of `$ref`.
    case .members(let names, let values) where names.first != "$ref":
      return .object([description] + zip(names, values).map { ($0, $1) })
    case let schema: return .object([description, ("allOf", [schema])])
    }
  }

  private static func rule(_ rule: KeyRule) -> JSONNode {
    switch rule {
    case .oneOf(let names) where names.count == 1: return required(names)
    case .oneOf(let names): return ["oneOf": .array(names.map { required([$0]) })]
    case .oneOfOrOnly(let names, let key, let others):
      let only: JSONNode = [
        "required": [.string(key)], "properties": [key: ["minItems": 1]],
        "propertyNames": ShapeSchema.choice(others),
      ]
      return ["oneOf": .array(names.map { required([$0]) } + [only])]
    case .anyOf(let names): return ["anyOf": .array(names.map(filled))]
    case .without(let name, let others):
      let any: JSONNode = ["anyOf": .array(others.map { required([$0]) })]
      return ["if": required([name]), "then": ["not": any]]
    case .unlessFalse(let name, let others):
      let any: JSONNode = ["anyOf": .array(others.map { required([$0]) })]
      let map: JSONNode = ["type": "object"]
      let isGiven: JSONNode = [
        "required": [.string(name)], "properties": [name: ["anyOf": [isTrue, map]]],
      ]
      return ["if": isGiven, "then": ["not": any]]
    case .withoutTrue(let name, let others):
      return then(name, others.map { ($0, ["not": isTrue]) })
    case .withoutList(let name, let other):
      return then(name, [(other, ["not": ["type": "array"]])])
    case .notBothTrue(let first, let second):
      return [
        "not": [
          "required": [.string(first), .string(second)],
          "properties": [first: isTrue, second: isTrue],
        ]
      ]
    }
  }

  private static var isTrue: JSONNode { ["const": true] }

  /// Constrains other keys if the key `name` exists.
  private static func then(_ name: String, _ others: [(String, JSONNode)]) -> JSONNode {
    ["if": required([name]), "then": ["properties": .object(others)]]
  }

  private static func filled(_ name: String) -> JSONNode {
    ["required": [.string(name)], "properties": [name: ["minProperties": 1]]]
  }

  private static func required(_ names: [String]) -> JSONNode {
    ["required": .array(names.map { .string($0) })]
  }
}

enum ShapeSchema {
  static func schema(of shape: ValueShape) -> JSONNode {
    switch shape {
    case .text: return text(#"[^ \t\r\n]"#)
    case .line: return type("string")
    case .script: return any([text(#"[^ \t\r\n]"#), type("boolean")])
    case .scalar: return scalar
    case .expression: return any([text(#"[^ \t\r\n]"#), type("number"), type("boolean")])
    case .name(let shape): return orExpression(text(pattern(shape)))
    case .pair(let item):
      return ["type": "array", "items": schema(of: item), "minItems": 2, "maxItems": 2]
    case .id: return .object(scalarMembers + [("minLength", 1)])
    case .boolean: return orExpression(type("boolean"))
    case .integer(let range):
      return orExpression([
        "type": "integer", "minimum": .integer(range.lowerBound),
        "maximum": .integer(range.upperBound),
      ])
    case .number(let range):
      return orExpression([
        "type": "number", "minimum": .number("\(range.lowerBound)"),
        "maximum": .number("\(range.upperBound)"),
      ])
    case .duration: return orExpression(atLeast(0, "number"), text(durationPattern))
    case .size: return orExpression(atLeast(0, "integer"), text("^\(sizePattern)$"))
    case .speed: return orExpression(atLeast(1, "integer"), text("^\(sizePattern)(/s)?$"))
    case .amount(let mayBeNone):
      let number = JSONNode.object([
        ("type", "number"), (mayBeNone ? "minimum" : "exclusiveMinimum", 0),
      ])
      return orExpression(number, text("^\(sizePattern)$"))
    // Unquoted digits are a number in YAML.
    case .hexadecimal(let count):
      return orExpression(text("^[0-9a-fA-F]{\(count)}$"), type("number"))
    case .octal: return orExpression(text("^[0-7]{3,4}$"))
    case .address: return orExpression(text("^([Hh][Tt][Tt][Pp][Ss]?|[Ff][Ii][Ll][Ee]):"))
    case .word(let words): return orExpression(choice(words))
    case .wordOrNumber(let words, let range):
      return any([
        choice(words), schema(of: .integer(range)), text("^([-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$"),
      ])
    case .tag: return orExpression(text(#"^[^ \t\r\n,]+$"#))
    case .command:
      return ["type": "array", "minItems": 1, "items": [program], "additionalItems": scalar]
    case .list(let item, let mayBeEmpty):
      return ["type": "array", "items": schema(of: item), "minItems": .integer(mayBeEmpty ? 0 : 1)]
    case .nested(let name, _):
      return any([schema(of: .text), ["type": "array", "items": reference(name)]])
    case .entries(let shape, let value, let known, let mayBeEmpty):
      return [
        "type": "object", "propertyNames": names(shape),
        "properties": .object(known.map { ($0.name, schema(of: $0.takes)) }),
        "additionalProperties": schema(of: value), "minProperties": .integer(mayBeEmpty ? 0 : 1),
      ]
    case .map(let map): return reference(map.rawValue)
    case .either(let shapes): return any(shapes.map(schema))
    }
  }

  static func reference(_ name: String) -> JSONNode {
    ["$ref": .string("#/definitions/\(name)")]
  }

  static func items(_ name: String, _ item: ValueShape) -> JSONNode {
    any([schema(of: item), ["type": "array", "items": reference(name)]])
  }

  static func names(_ shape: NameShape) -> JSONNode {
    var members: [(String, JSONNode)] = [("pattern", .string(pattern(shape)))]
    switch shape {
    case .task: members.append(("maxLength", .integer(Int64(TaskName.longest))))
    case .identifier, .taskVariable, .header, .extra: break
    }
    return .object(members)
  }

  static func pattern(_ shape: NameShape) -> String {
    switch shape {
    case .task: "^(?!tag:)[A-Za-z0-9_][A-Za-z0-9_.+@:/-]*$"
    case .identifier: "^[A-Za-z_][A-Za-z0-9_-]*$"
    case .taskVariable: #"^(?!OPFLOW_)[^\u0000-\u0020\u007f=]+$"#
    case .header: "^[!#$%&'*+.^_`|~A-Za-z0-9-]+$"
    case .extra: "^x-"
    }
  }

  // MARK: - Parts

  /// An expression, which is allowed for any type.
  private static var expression: JSONNode { text(#"\$\{\{"#) }

  private static func orExpression(_ schemas: JSONNode...) -> JSONNode {
    any(schemas + [expression])
  }

  private static func any(_ schemas: [JSONNode]) -> JSONNode { ["anyOf": .array(schemas)] }

  private static func type(_ name: String) -> JSONNode { ["type": .string(name)] }

  private static func text(_ pattern: String) -> JSONNode {
    ["type": "string", "pattern": .string(pattern)]
  }

  private static func atLeast(_ minimum: Int64, _ type: String) -> JSONNode {
    ["type": .string(type), "minimum": .integer(minimum)]
  }

  static func choice(_ words: [String]) -> JSONNode {
    ["enum": .array(words.map { .string($0) })]
  }

  private static var scalarMembers: [(String, JSONNode)] {
    [("type", ["string", "number", "boolean"])]
  }

  private static var scalar: JSONNode { .object(scalarMembers) }

  private static var program: JSONNode {
    .object(scalarMembers + [("pattern", .string(#"^[^ \t]+$|\$\{\{"#))])
  }

  private static let number = "[0-9]+([.][0-9]+)?"

  /// Units in decreasing order, or a number of seconds.
  private static var durationPattern: String {
    "^((?=[0-9])(\(number)d)?(\(number)h)?(\(number)m)?(\(number)s)?(\(number)ms)?|\(number))$"
  }

  private static var sizePattern: String { "\(number)( ?(B|[kKMGTP]B|[KMGTP]iB))?" }
}

indirect enum JSONNode {
  case members(names: [String], values: [JSONNode])
  case array([JSONNode])
  case string(String)
  case integer(Int64)
  case number(String)
  case bool(Bool)

  static func object(_ members: [(String, JSONNode)]) -> JSONNode {
    .members(names: members.map(\.0), values: members.map(\.1))
  }

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

extension JSONNode: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  init(stringLiteral value: String) { self = .string(value) }
  init(integerLiteral value: Int64) { self = .integer(value) }
  init(booleanLiteral value: Bool) { self = .bool(value) }
  init(arrayLiteral items: JSONNode...) { self = .array(items) }
  init(dictionaryLiteral members: (String, JSONNode)...) { self = .object(members) }
}
