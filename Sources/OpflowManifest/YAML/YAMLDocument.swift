internal import CYAML

/// A node, by the number of its record.
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

/// A YAML document as a flat table of records. An alias behaves like its target, except for its
/// place.
final class YAMLDocument {
  let file: SourceFile
  /// Whether any text contains `${{`.
  let hasExpressions: Bool
  let marks: SourceMarks
  /// Whether any scalar is `matrix`.
  let hasMatrix: Bool
  // SAFETY: these point into `tables`, which is constant and lives as long as the document.
  private let records: UnsafeBufferPointer<cyaml_record>
  private let texts: UnsafeBufferPointer<cyaml_text>
  private let textBytes: Text
  private var tables: cyaml_document
  /// The last result of `place(_:textOffset:)`, which speeds up the next call.
  var lastExpression = ExpressionPlace.none

  /// - Parameter problems: Receives problems that do not stop the reader.
  init(
    reading file: SourceFile, problems: (YAMLProblem) -> Void = { _ in }
  ) throws(YAMLFailure) {
    self.file = file
    tables = cyaml_document()
    // SAFETY: reads `count` bytes that the file holds.
    _ = cyaml_read(
      file.text.baseAddress?.assumingMemoryBound(to: UInt8.self), file.text.count, &tables)
    marks = SourceMarks(
      hasDollars: tables.has_dollars != 0, hasBracePairs: tables.has_brace_pairs != 0,
      isASCII: tables.is_ascii != 0)
    hasExpressions = tables.has_expressions != 0
    hasMatrix = tables.has_matrix != 0
    records = UnsafeBufferPointer(start: tables.records, count: tables.record_count)
    texts = UnsafeBufferPointer(start: tables.texts, count: tables.text_count)
    textBytes = Text(start: tables.text_bytes, count: tables.text_length)
    withUnsafeBytes(of: tables.problems) { bytes in
      for problem in bytes.bindMemory(to: cyaml_problem.self).prefix(tables.problem_count) {
        problems(YAMLProblem(problem))
      }
    }
    if let failure = YAMLFailure(tables, of: file.text) { throw failure }
  }

  deinit { cyaml_release(&tables) }

  var source: Text { file.text }

  var root: Node { Node(0) }

  /// The number of nodes; aliases are not expanded.
  var nodeCount: Int { records.count }

  /// Resolves an alias.
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

  /// Returns an empty text for a collection.
  @inline(__always)
  func text(_ node: Node) -> Text { scalarText(node) ?? Text(start: nil, count: 0) }

  /// Returns nil for a collection.
  @inline(__always)
  func scalarText(_ node: Node) -> Text? {
    let record = records[Int(target(node).record)]
    guard record.kind == UInt32(CYAML_SCALAR) else { return nil }
    if record.has(CYAML_OWN_TEXT) { return ownText(record.value) }
    return Text(
      start: source.baseAddress.map { $0 + record.textStart }, count: record.value)
  }

  private func ownText(_ index: Int) -> Text {
    let text = texts[index]
    return textBytes.part(Int(text.offset)..<(Int(text.offset) + Int(text.length)))
  }

  /// Returns nil if libyaml had to decode the text.
  func textStart(_ node: Node) -> Int? {
    let record = records[Int(target(node).record)]
    return record.has(CYAML_OWN_TEXT) ? nil : record.textStart
  }

  /// Whether the text of a scalar decides its type.
  @inline(__always)
  func isPlain(_ node: Node) -> Bool {
    let record = records[Int(target(node).record)]
    return record.kind == UInt32(CYAML_SCALAR) && record.has(CYAML_PLAIN)
  }

  /// Whether a collection is written in brackets or braces.
  func isFlow(_ node: Node) -> Bool {
    let record = records[Int(target(node).record)]
    return record.kind != UInt32(CYAML_SCALAR) && record.has(CYAML_FLOW)
  }

  @inline(__always)
  func place(_ node: Node) -> Place { file.place(offset(node)) }

  @inline(__always)
  func offset(_ node: Node) -> Int { Int(records[Int(node.record)].start) }

  /// Returns items, or alternately keys and values.
  @inline(__always)
  func children(_ node: Node) -> Children {
    let target = target(node)
    let record = records[Int(target.record)]
    guard record.kind != UInt32(CYAML_SCALAR) else {
      return Children(records: records, position: target, end: target)
    }
    return Children(
      records: records, position: Node(target.record + 1), end: Node(record.value))
  }

  /// The sequence must not outlive the document.
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

  /// Whether the rest of the line contains `matrix.`.
  func speaksOfMatrix(at offset: Int) -> Bool {
    guard offset < source.count else { return false }
    let end = source[offset...].firstIndex(of: 10) ?? source.count
    let line = source.part(offset..<end)
    let name = "matrix.".utf8
    return line.indices.contains { line.part($0..<line.count).starts(with: name) }
  }
}

/// Facts about a document that save searching each value.
struct SourceMarks {
  /// Whether any text contains `$`.
  var hasDollars = true
  /// Whether the source contains `{{`.
  var hasBracePairs = true
  var isASCII = false
}

extension cyaml_record {
  fileprivate var kind: UInt32 { bits & 3 }
  fileprivate func has(_ flag: Int) -> Bool { bits & UInt32(flag) != 0 }
  fileprivate var value: Int { Int(bits >> UInt32(CYAML_VALUE_SHIFT)) }
  /// The start of a text that is in the input.
  fileprivate var textStart: Int { Int(start) + (has(CYAML_QUOTED) ? 1 : 0) }
}
