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
    .object([
      ("if", required([name])), ("then", .object([("properties", .object(others))])),
    ])
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
