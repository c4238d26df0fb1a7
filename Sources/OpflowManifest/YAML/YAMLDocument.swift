internal import CYAML

/// The number of a record.
struct Node: Equatable {
  var record: Int32

  init(_ record: Int32) { self.record = record }
  init(_ record: Int) { self.record = Int32(truncatingIfNeeded: record) }

  /// A key is one record, so its value is the next.
  var value: Node { Node(record + 1) }
}

enum NodeKind: Equatable {
  case scalar, mapping, sequence
}

/// A YAML document as a flat table of records. An alias is like its target, except for its place.
final class YAMLDocument {
  let file: SourceFile
  let hasExpressions: Bool
  let marks: SourceMarks
  let hasMatrix: Bool
  // SAFETY: these point into `tables`, which is constant and lives as long as the document.
  private let records: UnsafeBufferPointer<cyaml_record>
  private let texts: UnsafeBufferPointer<cyaml_text>
  private let textBytes: ByteView
  private var tables: cyaml_document
  /// The last result of `place(_:textOffset:)`, where the next search starts.
  var lastExpression = ExpressionPlace.none

  init(reading file: SourceFile, problems: (YAMLProblem) -> Void = { _ in }) throws(YAMLFailure) {
    self.file = file
    tables = cyaml_document()
    // SAFETY: reads `count` bytes that the file holds.
    _ = cyaml_read(file.text.start, file.text.count, &tables)
    marks = SourceMarks(
      hasDollars: tables.has_dollars != 0, hasBracePairs: tables.has_brace_pairs != 0,
      isASCII: tables.is_ascii != 0)
    hasExpressions = tables.has_expressions != 0
    hasMatrix = tables.has_matrix != 0
    records = UnsafeBufferPointer(start: tables.records, count: tables.record_count)
    texts = UnsafeBufferPointer(start: tables.texts, count: tables.text_count)
    textBytes = ByteView(start: tables.text_bytes, count: tables.text_length)
    withUnsafeBytes(of: tables.problems) { bytes in
      for problem in bytes.bindMemory(to: cyaml_problem.self).prefix(tables.problem_count) {
        problems(YAMLProblem(problem))
      }
    }
    if let failure = YAMLFailure(tables, of: file.text) { throw failure }
  }

  deinit { cyaml_release(&tables) }

  var source: ByteView { file.text }

  var root: Node { Node(0) }

  /// Aliases are not expanded.
  var nodeCount: Int { records.count }

  @inline(__always)
  func target(_ node: Node) -> Node {
    let record = records[Int(node.record)]
    return record.kind == UInt32(CYAML_ALIAS) ? Node(record.value) : node
  }

  @inline(__always)
  func kind(_ node: Node) -> NodeKind {
    switch records[Int(target(node).record)].kind {
    case UInt32(CYAML_MAPPING): .mapping
    case UInt32(CYAML_SEQUENCE): .sequence
    default: .scalar
    }
  }

  @inline(__always)
  func text(_ node: Node) -> ByteView { scalarText(node) ?? ByteView.empty }

  @inline(__always)
  func scalarText(_ node: Node) -> ByteView? {
    let record = records[Int(target(node).record)]
    guard record.kind == UInt32(CYAML_SCALAR) else { return nil }
    if record.has(CYAML_OWN_TEXT) { return ownText(record.value) }
    return ByteView(start: source.baseAddress.map { $0 + record.textStart }, count: record.value)
  }

  private func ownText(_ index: Int) -> ByteView {
    let text = texts[index]
    return textBytes.part(Int(text.offset)..<(Int(text.offset) + Int(text.length)))
  }

  /// Nil if libyaml had to decode the text.
  func textStart(_ node: Node) -> Int? {
    let record = records[Int(target(node).record)]
    return record.has(CYAML_OWN_TEXT) ? nil : record.textStart
  }

  /// The text decides the type.
  @inline(__always)
  func isPlain(_ node: Node) -> Bool {
    let record = records[Int(target(node).record)]
    return record.kind == UInt32(CYAML_SCALAR) && record.has(CYAML_PLAIN)
  }

  func isFlow(_ node: Node) -> Bool {
    let record = records[Int(target(node).record)]
    return record.kind != UInt32(CYAML_SCALAR) && record.has(CYAML_FLOW)
  }

  @inline(__always)
  func place(_ node: Node) -> Place { file.place(offset(node)) }

  @inline(__always)
  func offset(_ node: Node) -> Int { Int(records[Int(node.record)].start) }

  /// Returns items, or keys and values in turn.
  @inline(__always)
  func children(_ node: Node) -> Children {
    let target = target(node)
    let record = records[Int(target.record)]
    guard record.kind != UInt32(CYAML_SCALAR) else {
      return Children(records: records, position: target, end: target)
    }
    return Children(records: records, position: Node(target.record + 1), end: Node(record.value))
  }

  /// Must not outlive the document.
  struct Children: Sequence, IteratorProtocol {
    fileprivate let records: UnsafeBufferPointer<cyaml_record>
    fileprivate(set) var position: Node
    let end: Node

    var isEmpty: Bool { position == end }

    @inline(__always)
    mutating func next() -> Node? {
      guard position.record < end.record else { return nil }
      let node = position
      let record = records[Int(node.record)]
      switch record.kind {
      case UInt32(CYAML_MAPPING), UInt32(CYAML_SEQUENCE): position = Node(record.value)
      default: position = Node(node.record + 1)
      }
      return node
    }
  }

  func isEmpty(_ node: Node) -> Bool { children(node).isEmpty }

  /// True if the rest of the line contains `matrix.`.
  func speaksOfMatrix(at offset: Int) -> Bool {
    guard offset < source.count else { return false }
    let end = source[offset...].firstIndex(of: 10) ?? source.count
    let line = source.part(offset..<end)
    let name = "matrix.".utf8
    return line.indices.contains { line.part($0..<line.count).starts(with: name) }
  }
}

/// Facts that save a search of each value.
struct SourceMarks {
  var hasDollars = true
  var hasBracePairs = true
  var isASCII = false
}

extension cyaml_record {
  fileprivate var kind: UInt32 { bits & 3 }
  fileprivate func has(_ flag: Int) -> Bool { bits & UInt32(flag) != 0 }
  fileprivate var value: Int { Int(bits >> UInt32(CYAML_VALUE_SHIFT)) }
  fileprivate var textStart: Int { Int(start) + (has(CYAML_QUOTED) ? 1 : 0) }
}

/// A `${{` of a decoded scalar. The last one is kept, because errors mostly come in order.
struct ExpressionPlace {
  var node: Node
  var inText: Int
  var inSource: Int

  static let none = ExpressionPlace(node: Node(Int32(-1)), inText: -1, inSource: -1)
}

extension YAMLDocument {
  /// Counts `${{` in text that libyaml decoded (folded lines, escapes, blocks).
  func place(_ node: Node, textOffset: Int) -> Place {
    file.place(offset(node, textOffset: textOffset))
  }

  private func offset(_ node: Node, textOffset: Int) -> Int {
    let target = target(node)
    let text = text(target)
    if let start = textStart(target) { return start + min(textOffset, text.count) }

    var pair = lastExpression
    if pair.node != target || pair.inText > textOffset {
      pair = ExpressionPlace(node: target, inText: -1, inSource: bodyStart(target) - 1)
    }
    while let next = Self.opening(in: text, from: pair.inText + 1), next <= textOffset {
      guard let place = Self.opening(in: source, from: pair.inSource + 1) else { break }
      (pair.inText, pair.inSource) = (next, place)
    }
    guard pair.inText >= 0 else { return offset(node) }
    lastExpression = pair
    let start = pair.inSource
    let opening = pair.inText
    // The bytes differ if a line was folded or a character escaped.
    let end = start + textOffset - opening
    return end <= source.count
      && source.part(start..<end).isSame(as: text.part(opening..<textOffset)) ? end : start
  }

  private static func opening(in text: ByteView, from start: Int) -> Int? {
    let rest = text.part(min(start, text.count)..<text.count)
    // SAFETY: searches within `rest`.
    let found = cyaml_find_expression(rest.start, rest.count)
    return found < rest.count ? start + found : nil
  }

  /// The text of a block scalar starts after its first line.
  private func bodyStart(_ node: Node) -> Int {
    var position = offset(node)
    guard position < source.count,
      source[position] == UInt8(ascii: "|") || source[position] == UInt8(ascii: ">")
    else { return position }
    while position < source.count, source[position] != 10 { position += 1 }
    return position
  }
}

struct YAMLFailure: Error {
  enum Reason: Equatable {
    case empty
    /// - Parameter beginning: The construct that libyaml was reading.
    case syntax(problem: String, context: String, beginning: Int?)
    case notUTF8
    case forbiddenCharacter(UInt32)
    case secondDocument
    case tooDeep, tooExpanded, tooManyRecords, tooLong, tooManyDirectives, longDirective
    case outOfMemory
  }

  let reason: Reason
  let offset: Int

  static let mostLevels = CYAML_MAX_DEPTH

  /// More input could not change the failure.
  var isFinal: Bool {
    switch reason {
    case .tooDeep, .tooExpanded, .tooLong, .tooManyDirectives, .longDirective: true
    case .empty, .syntax, .notUTF8, .forbiddenCharacter, .secondDocument, .tooManyRecords,
      .outOfMemory:
      false
    }
  }

  init?(_ document: cyaml_document, of source: ByteView) {
    offset = document.place
    switch document.status {
    case Int32(CYAML_OK): return nil
    case Int32(CYAML_EMPTY): reason = .empty
    case Int32(CYAML_SYNTAX):
      reason = .syntax(
        problem: document.problem.map { String(cString: $0) } ?? "not valid YAML",
        context: document.context.map { String(cString: $0) } ?? "",
        beginning: document.context_place < source.count ? document.context_place : nil)
    case Int32(CYAML_NOT_UTF8): reason = .notUTF8
    case Int32(CYAML_FORBIDDEN_CHARACTER): reason = .forbiddenCharacter(document.character)
    case Int32(CYAML_SECOND_DOCUMENT): reason = .secondDocument
    case Int32(CYAML_TOO_DEEP): reason = .tooDeep
    case Int32(CYAML_TOO_EXPANDED): reason = .tooExpanded
    case Int32(CYAML_TOO_MANY_RECORDS): reason = .tooManyRecords
    case Int32(CYAML_TOO_LONG): reason = .tooLong
    case Int32(CYAML_TOO_MANY_DIRECTIVES): reason = .tooManyDirectives
    case Int32(CYAML_LONG_DIRECTIVE): reason = .longDirective
    default: reason = .outOfMemory
    }
  }
}

/// An error that does not stop the reader.
struct YAMLProblem: Equatable {
  enum Kind: Equatable {
    case unknownAlias, recursiveAlias, unknownTag, nulInText
  }

  let kind: Kind
  let offset: Int

  init(_ problem: cyaml_problem) {
    offset = Int(problem.start)
    switch Int(problem.kind) {
    case CYAML_UNKNOWN_ALIAS: kind = .unknownAlias
    case CYAML_RECURSIVE_ALIAS: kind = .recursiveAlias
    case CYAML_UNKNOWN_TAG: kind = .unknownTag
    default: kind = .nulInText
    }
  }
}
