import Testing

@testable import OpflowManifest

/// A manifest in which one key has one value, and whether the table says that it may have it.
struct KeySample: CustomTestStringConvertible {
  let name: String
  let text: String
  /// Nil if more than the type decides: which files exist, which other keys the task has.
  let isRight: Bool?

  var testDescription: String { name }

  static let files = [
    "lint.yaml": "tasks: { lint: { run: x } }", "db/tasks.yaml": "tasks: { up: { run: x } }",
    ".env": "A=b\n", "hosts.txt": "a\nb\n", "samples.tsv": "sample\tbam\ns1\tb1\n",
    "data/a.csv": "x\n",
  ]

  /// Each key with each of some values in place of its example's.
  static var all: [KeySample] {
    var samples: [KeySample] = []
    for map in KeyMap.allCases {
      for row in map.keys {
        let others = lines(of: row.example, without: row.name.description)
        for value in values {
          let text = manifest(map, others + ["\(row.name): \(value)"])
          samples.append(
            KeySample(
              name: "\(map.rawValue).\(row.name): \(value)", text: text,
              isRight: accepts(row.takes, value)))
        }
      }
    }
    return samples
  }

  /// The example of each key.
  static var examples: [KeySample] {
    KeyMap.allCases.flatMap { map in
      map.keys.map { row in
        KeySample(
          name: "\(map.rawValue).\(row.name)",
          text: manifest(map, lines(of: row.example, without: nil)), isRight: true)
      }
    }
  }

  /// One of each kind, and those next to a bound.
  private static let values = [
    "true", "'true'", "yes", "0", "1", "-1", "64", "65", "255", "256", "1000", "1001", "-1000",
    "-1001", "1000000", "1000001", "0.5", "-0.5", "'5'", "~", "''", "' '", "text", "two words",
    "[]", "[1]", "[0]", "[256]", "[text]", "[~]", "[[text]]", "[{ a: b }]", "{}", "{ a: b }",
    "{ A: [b] }", "10s", "1h30m", "30m1h", "10 s", "500ms", "512MiB", "1.5GB", "5 apples", "auto",
    "wait", "fail", "rerun", "success", "always", "high", "highest", "TERM", "SIGINT", "SIGFOO",
    "\"0644\"", "\"99999\"", "https://example.org/x", "ftp://example.org/x", "\"${{ task.id }}\"",
  ]

  private static func lines(of example: String, without key: String?) -> [String] {
    var lines: [String] = []
    var isLeftOut = false
    for line in example.split(separator: "\n").map(String.init) {
      if !line.hasPrefix(" ") { isLeftOut = key.map { line.hasPrefix("\($0):") } ?? false }
      if !isLeftOut { lines.append(line) }
    }
    return lines
  }

  /// A manifest that is right but for these lines of a map.
  private static func manifest(_ map: KeyMap, _ lines: [String]) -> String {
    func has(_ keys: String...) -> Bool {
      lines.contains { line in keys.contains { line.hasPrefix("\($0):") } }
    }
    func under(_ head: [String], _ depth: Int, item: Bool = false) -> String {
      let indent = String(repeating: " ", count: depth)
      let body = lines.enumerated().map {
        indent + (item ? ($0.offset == 0 ? "- " : "  ") : "") + $0.element
      }
      return (head + body).joined(separator: "\n") + "\n"
    }
    let others = "  build: { run: x }\n  lint: { run: x }\n"
    let task = ["tasks:", "  a:"]
    switch map {
    case .manifest:
      return under([], 0) + (has("tasks", "include") ? "" : "tasks: { a: { run: x } }\n")
    case .task:
      return under(task + (has("run", "download", "approve", "block") ? [] : ["    run: x"]), 4)
        + others
    case .defaults: return under(["defaults:"], 2) + "tasks: { a: { run: x } }\n"
    case .retry: return under(task + ["    run: x", "    retry:"], 6)
    case .stop: return under(task + ["    run: x", "    stop:"], 6)
    case .cache: return under(task + ["    run: x", "    inputs: [y]", "    cache:"], 6)
    case .service: return under(task + ["    run: x", "    service:"], 6)
    case .ready:
      let own = has("port", "http", "log", "exec", "file") ? [] : ["        port: 1"]
      return under(task + ["    run: x", "    service:", "      ready:"] + own, 8)
    case .need: return under(task + ["    run: x", "    needs:"], 6, item: true) + others
    case .include: return under(["include:"], 2, item: true)
    case .download:
      let own = has("url") ? [] : ["      url: https://example.org/x"]
      return under(task + ["    download:"] + own + (has("to") ? [] : ["      to: y"]), 6)
    case .secret: return under(["tasks: { a: { run: x } }", "secrets:", "  T:"], 4)
    case .input: return under(task + ["    run: x", "    inputs:"], 6, item: true)
    case .matrix:
      let axis = has("rows") || lines.count > 1 ? [] : ["      other: [p, q]"]
      return under(task + ["    run: x", "    matrix:"] + axis, 6)
    case .axis:
      let own = has("range", "glob", "lines") ? [] : ["        glob: '*'"]
      return under(task + ["    run: x", "    matrix:", "      n:"] + own, 8) + others
    case .rows:
      let own = has("file") ? [] : ["        file: rows.tsv"]
      return under(task + ["    run: x", "    matrix:", "      rows:"] + own, 8) + others
    }
  }
}

// The meaning of each shape, written independently to check the table, the readers and the schema.

private func accepts(_ shape: ValueShape, _ value: String) -> Bool? {
  let isList = value.hasPrefix("[")
  let isMap = value.hasPrefix("{")
  let isScalar = !isList && !isMap && value != "~"
  let isQuoted = value.hasPrefix("'") || value.hasPrefix("\"")
  let isNumber = !isQuoted && Double(value) != nil
  let isString = isScalar && !isNumber && value != "true"
  let isBlank = value == "''" || value == "' '"
  let bare = value.filter { $0 != "'" && $0 != "\"" }
  if value.contains("${{") {
    switch shape {
    case .list, .pair, .command, .entries, .map: return false
    default: return nil
    }
  }
  switch shape {
  case .text, .tag, .address, .octal, .name:
    if !isString || isBlank { return false }
    switch shape {
    case .address where !value.contains("://") || value.hasPrefix("ftp"): return false
    case .octal: return value == "\"0644\""
    case .tag where value.contains(" "): return false
    case .name where value.contains(" "): return false
    default: return nil
    }
  case .line: return isString
  case .script: return isScalar && (isString || value == "true") && !isBlank
  case .scalar: return isScalar ? nil : false
  case .id: return isScalar && value != "''" ? nil : false
  case .expression: return isScalar && !isBlank ? nil : false
  case .boolean: return value == "true"
  case .integer(let range): return Int64(value).map { range.contains($0) } ?? false
  case .number(let range): return Double(value).map { range.contains($0) } ?? false
  case .duration:
    if let seconds = Double(bare) { return seconds >= 0 }
    return ["10s", "1h30m", "500ms"].contains(value)
  case .size, .amount, .speed:
    if let number = Double(bare) {
      if number == 0 { return nil }
      if case .amount(let mayBeNone) = shape { return number > 0 || mayBeNone && number == 0 }
      return number > 0 && Int64(bare) != nil
    }
    return ["512MiB", "1.5GB"].contains(value)
  case .hexadecimal: return isNumber ? nil : false
  case .word(let words): return words.contains(value)
  case .wordOrNumber(let words, let range):
    return words.contains(bare) || Int64(bare).map { range.contains($0) } ?? false
  case .command: return value == "[]" || value == "[~]" || !isList ? false : nil
  case .pair: return isList ? (value.contains(",") ? nil : false) : false
  case .list(let item, let mayBeEmpty):
    guard isList else { return false }
    let inside = String(value.dropFirst().dropLast())
    return inside.isEmpty
      ? (mayBeEmpty ? nil : false) : accepts(item, inside) == false ? false : nil
  case .nested(_, let item):
    if isMap { return false }
    guard isList else { return accepts(.text, value) }
    let inside = String(value.dropFirst().dropLast())
    if inside.isEmpty { return true }
    if inside.hasPrefix("[") { return accepts(shape, inside) }
    return accepts(item, inside) == false ? false : nil
  case .entries(_, let item, _, _):
    guard isMap else { return false }
    if value == "{}" { return nil }
    return accepts(item, value == "{ a: b }" ? "b" : "[b]") == false ? false : nil
  case .map(let map): return isMap && (value == "{}" || map.others != nil) ? nil : false
  case .either(let shapes):
    let answers = shapes.map { accepts($0, value) }
    return answers.contains(true) ? true : answers.contains(nil) ? nil : false
  }
}
