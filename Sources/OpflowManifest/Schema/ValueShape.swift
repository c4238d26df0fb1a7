internal import OpflowPlan

indirect enum ValueShape: Sendable {
  case text
  case line
  /// A shell script. `true` and `false` are commands too.
  case script
  /// A string, number or boolean, taken as text.
  case scalar
  case boolean
  case integer(ClosedRange<Int64>)
  case number(ClosedRange<Double>)
  case duration
  case size
  /// Bytes per second.
  case speed
  case amount(mayBeNone: Bool)
  /// The number of digits.
  case hexadecimal(Int)
  case octal
  case address
  case expression
  case id
  case word([String])
  /// The number may be quoted.
  case wordOrNumber([String], ClosedRange<Int64>)
  case command
  /// A string without spaces.
  case tag
  case name(NameShape)
  case list(ValueShape, mayBeEmpty: Bool)
  case pair(ValueShape)
  /// Possibly nested, or one item. The name is for the items in the JSON schema.
  case nested(String, ValueShape)
  /// Some user-defined names have a special meaning.
  case entries(NameShape, ValueShape, known: [(name: String, takes: ValueShape)], mayBeEmpty: Bool)
  case map(KeyMap)
  case either([ValueShape])

  static func each(_ names: NameShape, _ value: ValueShape) -> ValueShape {
    .entries(names, value, known: [], mayBeEmpty: true)
  }

  init(_ rule: ProcessRule) {
    switch rule.takes {
    case .flag: self = .boolean
    case .bytes: self = .size
    case .number(let range): self = .integer(range)
    case .style: self = .either([.boolean, .word(["fifo", "pipe"])])
    }
  }

  /// The type as named in help and manual.
  var words: String {
    switch self {
    case .text, .line, .script, .scalar, .tag: "string"
    case .boolean: "`true` or `false`"
    case .integer(let range): Self.words(range)
    case .number(let range):
      "number from \(Self.word(range.lowerBound)) to \(Self.word(range.upperBound))"
    case .duration: "duration"
    case .size: "size"
    case .speed: "size"
    case .amount: "number or size"
    case .hexadecimal(let count): "\(count) hexadecimal digits"
    case .octal: "3 or 4 octal digits in quotes"
    case .address: "URL"
    case .expression: "expression"
    case .id: "task ID"
    case .word(let words): Self.choice(words)
    case .wordOrNumber(let words, let range): Self.choice(words) + ", or a " + Self.words(range)
    case .command: "list of strings"
    case .name: "name"
    case .pair(let item): "list of two \(item.plural)"
    case .list(let item, _): "list of \(item.plural)"
    case .nested(_, let item): "list of \(item.plural), or one of them"
    case .entries(_, let value, _, _): "map of names and \(value.plural)"
    case .map: "map"
    case .either(let shapes): shapes.map(\.words).joined(separator: ", or ")
    }
  }

  private var plural: String {
    switch self {
    case .text, .line, .script, .scalar, .expression: "strings"
    case .integer: "numbers"
    case .number, .hexadecimal, .octal: "numbers"
    case .amount: "numbers or sizes"
    case .address: "URLs"
    case .id: "task IDs"
    case .tag, .word: "strings"
    case .name: "names"
    case .duration: "durations"
    case .size, .speed: "sizes"
    case .boolean, .wordOrNumber: "values"
    case .command, .list, .pair, .nested: "lists"
    case .entries: "maps"
    case .map: "maps"
    case .either(let shapes): shapes.map(\.plural).joined(separator: " or ")
    }
  }

  /// Hides a bound of a million or more.
  private static func words(_ range: ClosedRange<Int64>) -> String {
    if range.lowerBound == range.upperBound { return "\(range.lowerBound)" }
    if range.upperBound < 1_000_000 {
      return "whole number from \(range.lowerBound) to \(range.upperBound)"
    }
    return range.lowerBound < -1_000_000 ? "whole number" : "whole number from \(range.lowerBound)"
  }

  private static func word(_ number: Double) -> String { "\(Int64(number))" }

  private static func choice(_ words: [String]) -> String {
    let words = words.map { "`\($0)`" }
    guard let last = words.last, words.count > 1 else { return words.joined() }
    return words.dropLast().joined(separator: ", ") + " or " + last
  }
}

enum NameShape {
  case task
  case identifier
  case taskVariable
  case header
  /// A name that starts with `x-`.
  case extra
}
