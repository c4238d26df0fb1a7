internal import OpflowBase
internal import OpflowPlan

protocol NodeReader: Reporter {
  var values: ValueReader { get }
}

extension NodeReader {
  var document: YAMLDocument { values.document }
  var diagnostics: Diagnostics { values.diagnostics }
  var scope: NameScope { values.scope }
  var tables: SchemaTables { values.tables }
  var maps: MapReader { values.maps }
  var scratch: TextStore { values.scratch }

  func fields<Key>(
    _ node: Node, _ subject: Subject, _ table: KeyTable<Key>, help: @autoclosure () -> String? = nil
  ) -> Fields<Key>? {
    guard document.kind(node) == .mapping else {
      return values.wrongType(node, subject, expected: "a map", help: help())
    }
    return maps.fields(node, table)
  }

  func isTrue<Key>(_ fields: Fields<Key>, _ key: Key) -> Bool {
    fields[key].flatMap { values.boolean($0, Subject(key)) } == true
  }

  func filled<Key>(_ fields: Fields<Key>, _ key: Key) -> Scalar? {
    fields[key].flatMap { values.filledString($0, Subject(key)) }
  }

  func integer<Key>(_ fields: Fields<Key>, _ key: Key, in range: ClosedRange<Int64>) -> Int64? {
    fields[key].flatMap { values.integer($0, Subject(key), in: range) }
  }

  func number<Key>(_ fields: Fields<Key>, _ key: Key, in range: ClosedRange<Double>) -> Double? {
    fields[key].flatMap { values.number($0, Subject(key), in: range) }
  }

  func duration<Key>(_ fields: Fields<Key>, _ key: Key, atMost limit: UInt64 = .max) -> UInt64? {
    fields[key].flatMap { values.duration($0, Subject(key), atMost: limit) }
  }
}

/// Methods return nil after an error.
final class ValueReader: Reporter {
  let document: YAMLDocument
  let diagnostics: Diagnostics
  let scope: NameScope
  let tables: SchemaTables
  let scratch: TextStore
  let maps: MapReader
  var valuesAs = ExpressionTemplate.Values.asTheyAre
  private(set) var valueReadings: [ValueReading] = []
  private(set) var readsValues = false

  /// - Parameter scratch: Owns evaluated texts until its owner empties it. Cannot be the scope's
  ///   store, which copies names while a text is built.
  init(
    document: YAMLDocument, diagnostics: Diagnostics, scope: NameScope, tables: SchemaTables,
    scratch: TextStore
  ) {
    self.document = document
    self.diagnostics = diagnostics
    self.scope = scope
    self.tables = tables
    self.scratch = scratch
    maps = MapReader(document: document, diagnostics: diagnostics)
  }

  func holding(_ scratch: TextStore) -> ValueReader {
    ValueReader(
      document: document, diagnostics: diagnostics, scope: scope, tables: tables, scratch: scratch)
  }

  func note(_ reading: ValueReading) {
    valueReadings.append(reading)
    readsValues = true
  }

  func forgetValueReadings() {
    if !readsValues { return }
    valueReadings.removeAll(keepingCapacity: true)
    readsValues = false
  }

  /// True if a task's `if` uses its `matrix`.
  func decidesByInstance(_ key: Node) -> Bool {
    guard document.kind(key.value) == .mapping else { return false }
    // The task is read and reported later.
    diagnostics.mute()
    defer { diagnostics.unmute() }
    let fields = maps.fields(key.value, tables.task)
    return fields[.condition].map { document.text($0).string.contains("matrix.") } ?? false
  }

  // MARK: Scalars

  @inline(never)
  func scalar(_ node: Node, _ subject: Subject, expected: StaticString) -> Scalar? {
    guard let scalar = possiblyNull(node, subject, expected: expected) else { return nil }
    if scalar.isNull { return null(scalar, subject, expected: expected) }
    return scalar
  }

  /// The result of an expression is a string, even if it is empty.
  @inline(never)
  private func null(_ scalar: Scalar, _ subject: Subject, expected: StaticString) -> Scalar? {
    if hasExpression(scalar.node) {
      return Scalar(node: scalar.node, text: scalar.text, stable: scalar.stable, isTyped: false)
    }
    let isWritten = !scalar.text.isEmpty
    return error(
      scalar.node,
      "\(subject.description) \(isWritten ? "" : "has no value; it ")must be \(expected)"
        + (isWritten ? ", not null" : ""),
      help: !isWritten
        ? KeyExample.help(for: subject) ?? Self.form(of: expected)
        : scalar.text == "~"
          ? "YAML reads `~` as null; write `${{ env.HOME }}` for the home folder"
          : "YAML reads this as null; for a string, put it in quotes: \"\(scalar.text.string)\"")
  }

  /// Names the expression, if any.
  func emptiness(_ node: Node) -> String {
    guard hasExpression(node) else { return "is empty" }
    return "is empty: the result of `\(Self.excerpt(document.text(node)))`"
  }

  static func excerpt(_ text: ByteView) -> String {
    let line = text.firstIndex(of: 10) ?? text.count
    let end = min(line, 80)
    return text.part(0..<end).string + (end < text.count ? "…" : "")
  }

  /// Other scalars are errors, since YAML may change their text.
  func string(_ node: Node, _ subject: Subject) -> Scalar? {
    guard let scalar = scalar(node, subject, expected: "a string") else { return nil }
    guard scalar.type == .string || !document.isPlain(node) || hasExpression(node) else {
      return error(
        node, "\(subject.description) must be a string, not \(Self.word(scalar.type))",
        help: questionHelp(scalar, subject) ?? "put it in quotes: \"\(scalar.text.string)\"")
    }
    return scalar
  }

  /// Advice for `approve: true`, which has no question.
  private func questionHelp(_ scalar: Scalar, _ subject: Subject) -> String? {
    guard case .boolean = scalar.type, case .key(let name) = subject,
      ["approve", "shell"].contains(name.description)
    else { return nil }
    return KeyExample.help(for: subject)
  }

  func filledString(
    _ node: Node, _ subject: Subject, help: @autoclosure () -> String? = nil
  ) -> Scalar? {
    guard let scalar = string(node, subject) else { return nil }
    // A value may be a file name, which can consist of spaces.
    if (hasExpression(node) ? scalar.text : scalar.text.trimmed).isEmpty {
      return error(
        node, "\(subject.description) \(emptiness(node))",
        help: help() ?? KeyExample.help(for: subject))
    }
    return scalar
  }

  /// Returns nil, without an error, for other values.
  func scalarIfBoolean(_ node: Node, _ subject: Subject) -> Scalar? {
    guard document.isPlain(node), CoreSchema.boolean(document.text(node)) != nil else { return nil }
    return possiblyNull(node, subject, expected: "a string")
  }

  func boolean(
    _ node: Node, _ subject: Subject, expected: StaticString = "true or false",
    help: @autoclosure () -> String? = nil
  ) -> Bool? {
    guard let scalar = scalar(node, subject, expected: expected) else { return nil }
    if case .boolean(let value) = scalar.type { return value }
    let isWord = ["yes", "no", "on", "off", "y", "n"].contains(scalar.text.string.lowercased())
    let isQuoted = !scalar.isTyped && CoreSchema.boolean(scalar.text) != nil
    return error(
      node, "\(subject.description) must be \(expected), not \(describe(scalar))",
      help: isQuoted
        ? "write it without quotes"
        : isWord
          ? Self.booleanHelp(subject, scalar.text)
          : shellHelp(scalar) ?? help() ?? KeyExample.help(for: subject))
  }

  /// Advice for `yes` and other booleans of YAML 1.1.
  private static func booleanHelp(_ subject: Subject, _ word: ByteView) -> String {
    let value = ["yes", "on", "y"].contains(word.string.lowercased())
    if case .key(let name) = subject { return "write `\(name): \(value)`" }
    return "write `\(value)`"
  }

  func integer(
    _ node: Node, _ subject: Subject, in range: ClosedRange<Int64>,
    expected: StaticString = "a whole number", help: @autoclosure () -> String? = nil
  ) -> Int64? {
    guard let scalar = scalar(node, subject, expected: expected) else { return nil }
    guard scalar.type == .integer else {
      return error(
        node, "\(subject.description) must be \(expected), not \(describe(scalar))",
        help: !scalar.isTyped && CoreSchema.integer(scalar.text) != nil
          ? "write it without quotes" : shellHelp(scalar) ?? help() ?? KeyExample.help(for: subject)
      )
    }
    let value = CoreSchema.integer(scalar.text)
    if let value, range.contains(value) { return value }
    let isBelow = value.map { $0 < range.lowerBound } ?? (scalar.text.first == UInt8(ascii: "-"))
    return error(
      node,
      "\(subject.description) must be \(Self.words(range, isBelow: isBelow)), not"
        + " \(scalar.text.string)", help: help() ?? KeyExample.help(for: subject))
  }

  func number(_ node: Node, _ subject: Subject, in range: ClosedRange<Double>) -> Double? {
    guard let scalar = scalar(node, subject, expected: "a number") else { return nil }
    guard scalar.type == .integer || scalar.type == .float else {
      return error(
        node, "\(subject.description) must be a number, not \(describe(scalar))",
        help: KeyExample.help(for: subject))
    }
    guard let value = CoreSchema.number(scalar.text), range.contains(value) else {
      return error(
        node,
        "\(subject.description) must be from \(Self.word(range.lowerBound)) to"
          + " \(Self.word(range.upperBound)), not \(scalar.text.string)",
        help: KeyExample.help(for: subject))
    }
    return value
  }

  func duration(_ node: Node, _ subject: Subject, atMost limit: UInt64 = .max) -> UInt64? {
    guard let scalar = scalar(node, subject, expected: "a duration") else { return nil }
    guard let value = DurationText.milliseconds(scalar.text) else {
      return error(
        node, "\(subject.description) must be a duration, not \(describe(scalar))",
        help: shellHelp(scalar) ?? Self.durationForm)
    }
    if value > limit {
      return error(node, "\(subject.description) must be at most \(limit / 3_600_000)h")
    }
    return value
  }

  func size(_ node: Node, _ subject: Subject) -> UInt64? {
    guard let scalar = scalar(node, subject, expected: "a size") else { return nil }
    guard let value = SizeText.bytes(scalar.text) else {
      return error(
        node, "\(subject.description) must be a size, not \(describe(scalar))",
        help: shellHelp(scalar) ?? Self.sizeForm)
    }
    return value
  }

  func thousandths(_ node: Node, _ subject: Subject) -> UInt64? {
    guard let scalar = scalar(node, subject, expected: "a number or a size") else { return nil }
    switch AmountText.thousandths(scalar.text) {
    case .amount(let amount): return amount
    case .tooFine:
      error(
        node, "\(subject.description) has more than three decimals: \(describe(scalar))",
        help: "opflow counts resources in thousandths")
    case .tooLarge:
      error(
        node, "\(subject.description) is too large: \(describe(scalar))",
        help: "the largest amount is \(AmountText.largest)")
    case .none:
      error(
        node, "\(subject.description) must be a number or a size, not \(describe(scalar))",
        help: shellHelp(scalar) ?? "write it as 2, 0.5 or 100GiB")
    }
    return nil
  }

  func word<Value>(
    _ node: Node, _ subject: Subject, known: StaticString,
    help: (ByteView) -> String? = { _ in nil }, parse: (ByteView) -> Value?
  ) -> Value? {
    guard let scalar = scalar(node, subject, expected: known) else { return nil }
    if let value = parse(scalar.text) { return value }
    return error(
      node, "\(subject.description) must be \(known), not \(describe(scalar))",
      help: help(scalar.text) ?? shellHelp(scalar) ?? KeyExample.help(for: subject))
  }

  // MARK: Maps

  func mapEntries(_ node: Node, _ subject: Subject) -> Entries? {
    guard document.kind(node) == .mapping else {
      return wrongType(
        node, subject, expected: "a map", help: entryHelp(node, subject) ?? mapHelp(node))
    }
    return maps.entries(node)
  }

  /// Advice for a list of names, as in `secrets: [TOKEN]` and `resources: [gpu]`.
  private func entryHelp(_ node: Node, _ subject: Subject) -> String? {
    guard case .key(let key) = subject else { return nil }
    var first = node
    if document.kind(node) == .sequence {
      var children = document.children(node)
      guard let child = children.next() else { return nil }
      first = child
    }
    guard let text = document.scalarText(first), text.count <= 80,
      VariableName.isExpressionName(text)
    else { return nil }
    switch key.description {
    case "secrets": return "write its source: `secrets: { \(text.string): { env: NAME } }`"
    case "resources": return "write an amount: `resources: { \(text.string): 1 }`"
    default: return nil
    }
  }

  // MARK: Lists

  func items(_ node: Node, _ subject: Subject, expected: StaticString) -> YAMLDocument.Children? {
    guard document.kind(node) == .sequence else {
      return wrongType(node, subject, expected: expected, help: listHelp(node))
    }
    return document.children(node)
  }

  func strings(_ node: Node, _ key: some SchemaKey, expected: StaticString) -> [Scalar]? {
    guard let items = items(node, Subject(key), expected: expected) else { return nil }
    return items.compactMap { filledString($0, .item(of: key)) }
  }

  func exitCodes(_ node: Node, _ subject: Subject, items name: StaticString) -> [Int32]? {
    guard let items = items(node, subject, expected: "a list of exit codes") else { return nil }
    if items.isEmpty { return error(node, "\(subject.description) is empty") }
    var codes: [Int32] = []
    for item in items {
      guard let code = integer(item, .item(name), in: KeyBounds.exitCode) else { continue }
      if !codes.contains(Int32(code)) { codes.append(Int32(code)) }
    }
    return codes
  }

  // MARK: Errors

  func wrongType(
    _ node: Node, _ subject: Subject, expected: StaticString, help: @autoclosure () -> String? = nil
  ) {
    error(
      node, "\(subject.description) must be \(expected), not \(describe(node))",
      help: quotingHelp(node) ?? help() ?? textHelp(node, subject) ?? KeyExample.help(for: subject)
        ?? Self.form(of: expected))
  }

  private static func form(of expected: StaticString) -> String? {
    switch expected.description {
    case "a duration": durationForm
    case "a size": sizeForm
    case "a string": "write one string; put it in quotes if it has special characters"
    case "a string, a number or a boolean": "write one value, such as `\"\"` for an empty string"
    case "a list of strings, numbers or booleans": "write each value as an item of its own"
    default: nil
    }
  }

  private static let durationForm =
    "write it as 500ms, 10s, 5m, 2h or 1h30m; a bare number is seconds"
  private static let sizeForm = "write it as 512MiB, 2GiB or 1.5GB; a bare number is bytes"

  func wrongType<Value>(
    _ node: Node, _ subject: Subject, expected: StaticString, help: @autoclosure () -> String? = nil
  ) -> Value? {
    wrongType(node, subject, expected: expected, help: help())
    return nil
  }

  private func textHelp(_ node: Node, _ subject: Subject) -> String? {
    guard case .entry(let map, let name) = subject, ["vars", "env"].contains(map.description) else {
      return nil
    }
    guard document.kind(node) == .mapping else {
      return "write the list as one string, separated by spaces: `\(name.string): \"a b\"`"
    }
    var children = document.children(node)
    guard let key = children.next(), let first = document.scalarText(key), first == "sh" else {
      return "a value cannot be a map; give each of its values its own name"
    }
    return
      "to use the output of a command, let a task write it, `echo x > \"$OPFLOW_VALUES/"
      + "\(name.string)\"`, and read `${{ needs.TASK.\(name.string) }}`"
  }

  func listHelp(_ node: Node, ofNumbers: Bool = false) -> String? {
    guard let text = document.scalarText(node), !text.isEmpty, text.count <= 80, !text.contains(10),
      !(document.isPlain(node) && CoreSchema.isNull(text))
    else { return nil }
    return document.isPlain(node) || ofNumbers
      ? "write a list: [\(text.string)]" : "write a list: [\"\(text.string)\"]"
  }

  /// Advice for `- NAME=VALUE` (docker compose) and `- name: NAME` (Kubernetes).
  func mapHelp(_ node: Node) -> String? {
    let first: Node?
    switch document.kind(node) {
    case .mapping: return nil
    case .scalar: first = node
    case .sequence:
      var children = document.children(node)
      first = children.next()
    }
    guard let first, let text = document.scalarText(first),
      let equals = text.firstIndex(of: UInt8(ascii: "=")), equals > 0, text.count <= 80
    else { return "write a map: { NAME: value }" }
    let value = text.part((equals + 1)..<text.count).string
    return "write a map: { \(text.part(0..<equals).string): \"\(value)\" }"
  }

  func describe(_ node: Node) -> String {
    switch document.kind(node) {
    case .mapping: return "a map"
    case .sequence: return "a list"
    case .scalar:
      let type = document.isPlain(node) ? CoreSchema.type(of: document.text(node)) : .string
      return type == .null ? "empty" : Self.word(type)
    }
  }

  private func describe(_ scalar: Scalar) -> String {
    if scalar.text.isEmpty, hasExpression(scalar.node) {
      return "empty, the result of `\(Self.excerpt(document.text(scalar.node)))`"
    }
    if scalar.text.count > 80 || scalar.text.contains(10) { return Self.word(scalar.type) }
    return scalar.isTyped ? "`\(scalar.text.string)`" : "\"\(scalar.text.string)\""
  }

  func quotingHelp(_ node: Node) -> String? {
    guard document.kind(node) == .mapping, document.isFlow(node) else { return nil }
    let start = document.offset(node)
    guard document.source.part(start..<document.source.count).hasPrefix("{{") else { return nil }
    return "write an expression as `${{ … }}`; quote the whole value"
  }

  private static func word(_ type: CoreSchema.ScalarType) -> String {
    switch type {
    case .null: "null"
    case .boolean: "a boolean"
    case .integer, .float: "a number"
    case .string: "a string"
    }
  }

  /// Shows a bound of a million or more only if it is violated.
  private static func words(_ range: ClosedRange<Int64>, isBelow: Bool) -> String {
    if range.upperBound < 1_000_000 { return "from \(range.lowerBound) to \(range.upperBound)" }
    return isBelow ? "at least \(range.lowerBound)" : "at most \(range.upperBound)"
  }

  private static func word(_ number: Double) -> String {
    Double(Int64(number)) == number ? "\(Int64(number))" : "\(number)"
  }
}

extension ValueReader {
  func hasExpression(_ node: Node) -> Bool { hasExpression(document.text(node)) }

  @inline(__always)
  private func hasExpression(_ text: ByteView) -> Bool {
    document.hasExpressions && ExpressionTemplate.hasExpression(text)
  }

  @inline(__always)
  func possiblyNull(_ node: Node, _ subject: Subject, expected: StaticString) -> Scalar? {
    if let text = document.scalarText(node), !hasExpression(text) {
      return Scalar(node: node, text: text, stable: text, isTyped: document.isPlain(node))
    }
    return evaluated(node, subject, expected: expected)
  }

  @inline(never)
  private func evaluated(_ node: Node, _ subject: Subject, expected: StaticString) -> Scalar? {
    guard let text = document.scalarText(node) else {
      return wrongType(node, subject, expected: expected)
    }
    guard let (value, stable, isLate) = expand(text, of: node) else { return nil }
    return Scalar(node: node, text: value, stable: stable, isTyped: !isLate, isLate: isLate)
  }

  /// `stable` has a constant for `run.id`.
  private func expand(_ text: ByteView, of node: Node) -> (
    value: ByteView, stable: ByteView, isLate: Bool
  )? {
    let sawRunID = scope.sawRunID
    scope.sawRunID = false
    var isWrong = false
    let report = { (problem: ExpressionError) in
      isWrong = true
      self.report(problem, in: node)
    }
    let names = ScopedNames(scope: scope, report: report)
    var value = ExpressionTemplate.expand(
      text, valuesAs, names: names, store: scratch, literals: scope.literals, report: report)
    let isLate = takeValuesRead(node)
    if isLate, !isWrong { value = residue(of: text) }
    var stable = value
    if scope.sawRunID {
      scope.hidesRunID = true
      stable =
        isLate
        ? residue(of: text)
        : ExpressionTemplate.expand(
          text, valuesAs, names: ScopedNames(scope: scope, report: { _ in }), store: scratch,
          literals: scope.literals, report: { _ in })
      scope.hidesRunID = false
    }
    scope.sawRunID = scope.sawRunID || sawRunID
    return isWrong ? nil : (value, stable, isLate)
  }

  /// Values of expressions are literal names.
  func pathText(_ node: Node, _ subject: Subject) -> Scalar? {
    valuesAs = .asNames
    defer { valuesAs = .asTheyAre }
    return filledString(node, subject)
  }

  /// The expressions must be valid.
  func textWithoutValues(_ node: Node) -> ByteView {
    let text = document.text(node)
    if !hasExpression(text) { return text }
    return ExpressionTemplate.expand(
      text, .leftOut, names: ScopedNames(scope: scope, report: { _ in }), store: scratch,
      literals: scope.literals, report: { _ in })
  }

  func takeValuesRead(_ node: Node) -> Bool {
    if scope.valuesRead.isEmpty { return false }
    for (reference, offset) in scope.valuesRead {
      note(ValueReading(reference: reference, node: node, offset: offset))
    }
    scope.valuesRead.removeAll(keepingCapacity: true)
    return true
  }

  private func residue(of text: ByteView) -> ByteView {
    defer { scope.valuesRead.removeAll(keepingCapacity: true) }
    return LateText.residue(
      of: text, names: ScopedNames(scope: scope, report: { _ in }), store: scratch,
      literals: scope.literals)
  }

  func report(_ problem: ExpressionError, in node: Node) {
    if diagnostics.isFull { return diagnostics.count() }
    // The error does not depend on the values of names.
    diagnostics.sparingNothing {
      diagnostics.error(
        document.place(node, textOffset: problem.offset), problem.message, help: problem.help)
    }
  }
}

extension ValueReader {
  func isTaskVariable(_ name: ByteView, at node: Node) -> Bool {
    if name.hasPrefix("OPFLOW_") {
      error(
        node, "`\(name.string)` is reserved: opflow sets the variables that begin with `OPFLOW_`",
        help: "choose another name")
      return false
    }
    if VariableName.isEnvironment(name) { return true }
    error(
      node,
      name.isEmpty
        ? "the environment variable has no name"
        : "`\(name.string)` is not a valid environment variable name",
      help: "a name cannot contain spaces, control characters or `=`")
    return false
  }
}

/// Its four machine words fit in registers; passing it through memory took longer than reading one.
struct Scalar {
  let node: Node
  /// True for plain scalars and those with expressions: the text decides the type.
  let isTyped: Bool
  /// Expressions are left for the start of the task (`LateText`).
  let isLate: Bool
  let text: ByteView
  /// The text with a constant for `run.id`, for fingerprints. Mostly the same bytes as `text`.
  let stable: ByteView

  @inline(__always)
  init(node: Node, text: ByteView, stable: ByteView, isTyped: Bool, isLate: Bool = false) {
    self.node = node
    self.isTyped = isTyped
    self.isLate = isLate
    self.text = text
    self.stable = stable
  }

  var type: CoreSchema.ScalarType { isTyped ? CoreSchema.type(of: text) : .string }
  @inline(__always)
  var isNull: Bool { isTyped && CoreSchema.isNull(text) }
}

enum Subject {
  case key(StaticString)
  case item(StaticString)
  /// The value of a user-defined name in a map.
  case entry(StaticString, ByteView)

  init(_ key: some SchemaKey) { self = .key(key.name) }

  static func item(of key: some SchemaKey) -> Subject { .item(key.name) }

  var description: String {
    switch self {
    case .key(let name): "`\(name)`"
    case .item(let name): "an item of `\(name)`"
    case .entry(let map, let name): "`\(map).\(name.string)`"
    }
  }
}

/// Advice for a wrong value.
enum KeyExample {
  /// Nil if maps have different examples of the key, or the example has several lines.
  static func help(for subject: Subject) -> String? {
    let name: String
    switch subject {
    case .key(let key), .item(let key): name = key.description
    case .entry(let map, _):
      return map.description == "resources" ? "such as `resources: { cpu: 2, memory: 4GiB }`" : nil
    }
    if name == "run" {
      return "such as `run: make test`, or as a list: `run: [make, test]`"
    }
    let examples = Set(
      KeyMap.allCases.flatMap(\.keys).filter { $0.name.description == name }.map(\.example))
    guard examples.count == 1, let lines = examples.first?.split(separator: "\n"),
      let line = lines.first(where: { $0.hasPrefix("\(name): ") }), !line.hasSuffix("|")
    else { return nil }
    return "such as `\(line)`"
  }
}
