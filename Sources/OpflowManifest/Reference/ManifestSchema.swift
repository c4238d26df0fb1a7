/// The JSON Schema of a manifest.
///
/// It uses draft 7, which editors support best. It accepts everything that opflow does, and also
/// errors that need the whole manifest, such as an unknown task in `needs`.
package enum ManifestSchema {
  package static var text: String {
    var members: [(String, JSONNode)] = [
      ("$schema", .string("http://json-schema.org/draft-07/schema#")),
      ("title", .string("opflow manifest")),
    ]
    members += [("allOf", .array([ShapeSchema.reference(KeyMap.manifest.rawValue)]))]
    var definitions: [(String, JSONNode)] = KeyMap.allCases.map { ($0.rawValue, schema(of: $0)) }
    for entry in KeyMap.allCases.flatMap(\.entries) {
      guard case .nested(let name, let item) = entry.row.takes else { continue }
      definitions.append((name, ShapeSchema.items(name, item)))
    }
    members.append(("definitions", .object(definitions)))
    return JSONNode.object(members).text
  }

  private static func schema(of map: KeyMap) -> JSONNode {
    var members: [(String, JSONNode)] = [("type", .string("object"))]
    members.append(("properties", .object(map.entries.map { ($0.name, property($0.row)) })))
    if let (names, takes) = map.others {
      if let takes {
        members.append(("propertyNames", ShapeSchema.names(names)))
        members.append(("additionalProperties", ShapeSchema.schema(of: takes)))
        members.append(("minProperties", .integer(1)))
      } else {
        members.append(("patternProperties", .object([(ShapeSchema.pattern(names), .object([]))])))
        members.append(("additionalProperties", .bool(false)))
      }
    } else {
      members.append(("additionalProperties", .bool(false)))
    }
    if !map.rules.isEmpty { members.append(("allOf", .array(map.rules.map(rule)))) }
    let schema = JSONNode.object(members)
    return map == .need ? .object([("anyOf", .array([schema, needByOldReaders]))]) : schema
  }

  /// A need for YAML 1.1 readers, to whom the key `on` is the boolean true. JSON has no such key,
  /// but validators in Python see it.
  private static var needByOldReaders: JSONNode {
    .object([
      ("doNotSuggest", .bool(true)), ("type", .string("object")),
      ("required", .array([.string("task")])),
      (
        "properties",
        .object([(NeedKey.task.name.description, ShapeSchema.schema(of: NeedKey.task.row.takes))])
      ),
      ("propertyNames", .object([("enum", .array([.string("task"), .bool(true)]))])),
      ("additionalProperties", ShapeSchema.schema(of: NeedKey.on.row.takes)),
    ])
  }

  private static func property(_ row: KeyRow) -> JSONNode {
    let standard = row.standard.isEmpty ? "" : "\nDefault: \(row.standard)"
    let description = ("description", JSONNode.string(row.meaning + standard))
    switch ShapeSchema.schema(of: row.takes) {
    // Draft 7 ignores siblings of `$ref`.
    case .members(let names, let values) where names.first != "$ref":
      return .object([description] + zip(names, values).map { ($0, $1) })
    case let schema: return .object([description, ("allOf", .array([schema]))])
    }
  }

  private static func rule(_ rule: KeyRule) -> JSONNode {
    switch rule {
    case .oneOf(let names) where names.count == 1: return required(names)
    case .oneOf(let names): return .object([("oneOf", .array(names.map { required([$0]) }))])
    case .oneOfOrOnly(let names, let key, let others):
      let only = JSONNode.object([
        ("required", .array([.string(key)])),
        ("properties", .object([(key, .object([("minItems", .integer(1))]))])),
        ("propertyNames", ShapeSchema.choice(others)),
      ])
      return .object([("oneOf", .array(names.map { required([$0]) } + [only]))])
    case .anyOf(let names): return .object([("anyOf", .array(names.map(filled)))])
    case .without(let name, let others):
      let any = JSONNode.object([("anyOf", .array(others.map { required([$0]) }))])
      return .object([("if", required([name])), ("then", .object([("not", any)]))])
    case .unlessFalse(let name, let others):
      let any = JSONNode.object([("anyOf", .array(others.map { required([$0]) }))])
      let map = JSONNode.object([("type", .string("object"))])
      let isGiven = JSONNode.object([
        ("required", .array([.string(name)])),
        ("properties", .object([(name, .object([("anyOf", .array([isTrue, map]))]))])),
      ])
      return .object([("if", isGiven), ("then", .object([("not", any)]))])
    case .withoutTrue(let name, let others):
      return then(name, others.map { ($0, .object([("not", isTrue)])) })
    case .withoutList(let name, let other):
      return then(name, [(other, .object([("not", .object([("type", .string("array"))]))]))])
    case .notBothTrue(let first, let second):
      return .object([
        (
          "not",
          .object([
            ("required", .array([.string(first), .string(second)])),
            ("properties", .object([(first, isTrue), (second, isTrue)])),
          ])
        )
      ])
    }
  }

  private static var isTrue: JSONNode { .object([("const", .bool(true))]) }

  /// Constrains other keys if the key `name` exists.
  private static func then(_ name: String, _ others: [(String, JSONNode)]) -> JSONNode {
    .object([("if", required([name])), ("then", .object([("properties", .object(others))]))])
  }

  private static func filled(_ name: String) -> JSONNode {
    .object([
      ("required", .array([.string(name)])),
      ("properties", .object([(name, .object([("minProperties", .integer(1))]))])),
    ])
  }

  private static func required(_ names: [String]) -> JSONNode {
    .object([("required", .array(names.map { .string($0) }))])
  }
}

/// The JSON Schema of a value.
enum ShapeSchema {
  static func schema(of shape: ValueShape) -> JSONNode {
    switch shape {
    case .text: return text(#"[^ \t\r\n]"#)
    case .line: return type("string")
    case .script: return any([text(#"[^ \t\r\n]"#), type("boolean")])
    case .scalar: return scalar
    case .expression:
      return any([text(#"[^ \t\r\n]"#), type("number"), type("boolean")])
    case .name(let shape): return orExpression(text(pattern(shape)))
    case .pair(let item):
      return .object([
        ("type", .string("array")), ("items", schema(of: item)), ("minItems", .integer(2)),
        ("maxItems", .integer(2)),
      ])
    case .id: return .object(scalarMembers + [("minLength", .integer(1))])
    case .boolean: return orExpression(type("boolean"))
    case .integer(let range):
      return orExpression(
        .object([
          ("type", .string("integer")), ("minimum", .integer(range.lowerBound)),
          ("maximum", .integer(range.upperBound)),
        ]))
    case .number(let range):
      return orExpression(
        .object([
          ("type", .string("number")), ("minimum", .number("\(range.lowerBound)")),
          ("maximum", .number("\(range.upperBound)")),
        ]))
    case .duration: return orExpression(atLeast(0, "number"), text(durationPattern))
    case .size: return orExpression(atLeast(0, "integer"), text("^\(sizePattern)$"))
    case .speed: return orExpression(atLeast(1, "integer"), text("^\(sizePattern)(/s)?$"))
    case .amount(let mayBeNone):
      let number = JSONNode.object([
        ("type", .string("number")), (mayBeNone ? "minimum" : "exclusiveMinimum", .integer(0)),
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
        choice(words), schema(of: .integer(range)),
        text("^([-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$"),
      ])
    case .tag: return orExpression(text(#"^[^ \t\r\n,]+$"#))
    case .command:
      return .object([
        ("type", .string("array")), ("minItems", .integer(1)),
        ("items", .array([program])), ("additionalItems", scalar),
      ])
    case .list(let item, let mayBeEmpty):
      return .object([
        ("type", .string("array")), ("items", schema(of: item)),
        ("minItems", .integer(mayBeEmpty ? 0 : 1)),
      ])
    case .nested(let name, _):
      return any([
        schema(of: .text), .object([("type", .string("array")), ("items", reference(name))]),
      ])
    case .entries(let shape, let value, let known, let mayBeEmpty):
      return .object([
        ("type", .string("object")), ("propertyNames", names(shape)),
        ("properties", .object(known.map { ($0.name, schema(of: $0.takes)) })),
        ("additionalProperties", schema(of: value)),
        ("minProperties", .integer(mayBeEmpty ? 0 : 1)),
      ])
    case .map(let map): return reference(map.rawValue)
    case .either(let shapes): return any(shapes.map(schema))
    }
  }

  static func reference(_ name: String) -> JSONNode {
    .object([("$ref", .string("#/definitions/\(name)"))])
  }

  /// Items of a nested list.
  static func items(_ name: String, _ item: ValueShape) -> JSONNode {
    any([schema(of: item), .object([("type", .string("array")), ("items", reference(name))])])
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

  private static func any(_ schemas: [JSONNode]) -> JSONNode {
    .object([("anyOf", .array(schemas))])
  }

  private static func type(_ name: String) -> JSONNode { .object([("type", .string(name))]) }

  private static func text(_ pattern: String) -> JSONNode {
    .object([("type", .string("string")), ("pattern", .string(pattern))])
  }

  private static func atLeast(_ minimum: Int64, _ type: String) -> JSONNode {
    .object([("type", .string(type)), ("minimum", .integer(minimum))])
  }

  static func choice(_ words: [String]) -> JSONNode {
    .object([("enum", .array(words.map { .string($0) }))])
  }

  private static var scalarMembers: [(String, JSONNode)] {
    [("type", .array([.string("string"), .string("number"), .string("boolean")]))]
  }

  private static var scalar: JSONNode { .object(scalarMembers) }

  /// The first item of a command.
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
