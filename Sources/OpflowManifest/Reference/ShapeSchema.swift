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
    any([
      schema(of: item), .object([("type", .string("array")), ("items", reference(name))]),
    ])
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
