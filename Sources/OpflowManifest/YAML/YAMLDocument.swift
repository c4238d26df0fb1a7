internal import CYAML

/// A node of a document: the number of its record.
struct Node: Equatable {
  var record: Int32

  init(_ record: Int32) { self.record = record }
  init(_ record: Int) { self.record = Int32(truncatingIfNeeded: record) }
}

enum NodeKind: Equatable {
  case scalar, mapping, sequence
}

/// One YAML document as libyaml read it, in a flat table of records.
///
/// What is read of a node is that of the node it stands for, where it is an alias; only its place
/// is its own.
///
/// One pointer, which every reader of a value has: counting references to an owner of the tables took
/// longer than reading, and so did copying a handful of pointers.
struct YAMLDocument {
  // SAFETY: never written after init; `ManifestCompiler` releases it when a compilation is over, which
  // nothing that reads a document outlives.
  private let tables: UnsafeMutablePointer<Tables>

  private struct Tables {
    let source: Text
    let records: UnsafeBufferPointer<cyaml_record>
    let recordCapacity: Int
    let texts: UnsafeBufferPointer<cyaml_text>
    let textBytes: Text
    let hasExpressions: Bool
  }

  /// Reads the document.
  ///
  /// Mistakes that leave the document readable are reported to `mistakes`; nil is returned, and the
  /// mistake reported, when it is not.
  init?(reading source: Text, mistakes: Mistakes) {
    var document = cyaml_document()
    // SAFETY: reads `source.count` bytes that the caller holds for the call.
    let status = cyaml_read(
      source.baseAddress?.assumingMemoryBound(to: UInt8.self), source.count, &document)
    SyntaxMistakes.report(document, of: source, to: mistakes)
    if status != CYAML_OK {
      cyaml_release(&document)
      return nil
    }
    tables = .allocate(capacity: 1)
    tables.initialize(
      to: Tables(
        source: source,
        records: UnsafeBufferPointer(start: document.records, count: document.record_count),
        recordCapacity: document.record_capacity,
        texts: UnsafeBufferPointer(start: document.texts, count: document.text_count),
        textBytes: Text(start: document.text_bytes, count: document.text_length),
        hasExpressions: document.has_expressions != 0))
  }

  /// Frees what `init` read. Nothing may be read afterwards.
  func release() {
    var document = cyaml_document()
    document.records = UnsafeMutablePointer(mutating: tables.pointee.records.baseAddress)
    document.record_capacity = tables.pointee.recordCapacity
    document.texts = UnsafeMutablePointer(mutating: tables.pointee.texts.baseAddress)
    document.text_bytes = UnsafeMutablePointer(
      mutating: tables.pointee.textBytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
    cyaml_release(&document)
    tables.deallocate()
  }

  /// The bytes that the document was read from.
  var source: Text { tables.pointee.source }

  /// Whether any text of it holds a `${{`.
  var hasExpressions: Bool { tables.pointee.hasExpressions }

  private var records: UnsafeBufferPointer<cyaml_record> { tables.pointee.records }

  /// Whether bytes are refused for one of the bounds within which a document is read, which more bytes
  /// behind them do not change.
  static func isRefused(beginning source: Text) -> Bool {
    var document = cyaml_document()
    defer { cyaml_release(&document) }
    // SAFETY: reads `source.count` bytes that the caller holds for the call.
    let status = cyaml_read(
      source.baseAddress?.assumingMemoryBound(to: UInt8.self), source.count, &document)
    let bounds = [
      CYAML_TOO_DEEP, CYAML_TOO_EXPANDED, CYAML_TOO_LONG, CYAML_TOO_MANY_DIRECTIVES,
      CYAML_LONG_DIRECTIVE,
    ]
    return bounds.contains { Int32($0) == status }
  }

  var root: Node { Node(0) }

  /// Nodes as they are written, aliases not expanded.
  var nodeCount: Int { records.count }

  /// The node that an alias stands for; any other node itself.
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

  /// The text of a scalar; nothing for a collection.
  @inline(__always)
  func text(_ node: Node) -> Text { scalarText(node) ?? Text(start: nil, count: 0) }

  /// The text of a scalar; nil for a collection.
  @inline(__always)
  func scalarText(_ node: Node) -> Text? {
    let record = records[Int(target(node).record)]
    guard record.kind == UInt32(CYAML_SCALAR) else { return nil }
    if record.has(CYAML_OWN_TEXT) { return ownText(record.value) }
    return Text(
      start: source.baseAddress.map { $0 + record.textStart }, count: record.value)
  }

  private func ownText(_ index: Int) -> Text {
    let text = tables.pointee.texts[index]
    return tables.pointee.textBytes.part(Int(text.offset)..<(Int(text.offset) + Int(text.length)))
  }

  /// Where a scalar's text stands in the source; nil when libyaml had to decode it.
  func textStart(_ node: Node) -> Int? {
    let record = records[Int(target(node).record)]
    return record.has(CYAML_OWN_TEXT) ? nil : record.textStart
  }

  /// Whether a scalar's type is what its text says, and not always a string.
  @inline(__always)
  func isPlain(_ node: Node) -> Bool {
    let record = records[Int(target(node).record)]
    return record.kind == UInt32(CYAML_SCALAR) && record.has(CYAML_PLAIN)
  }

  /// Whether a collection is written with brackets.
  func isFlow(_ node: Node) -> Bool {
    let record = records[Int(target(node).record)]
    return record.kind != UInt32(CYAML_SCALAR) && record.has(CYAML_FLOW)
  }

  /// Offset in the source of a node as it is written, an alias too.
  @inline(__always)
  func place(_ node: Node) -> Int { Int(records[Int(node.record)].start) }

  /// The node behind this one and all that it holds.
  @inline(__always)
  func next(_ node: Node) -> Node {
    let record = records[Int(node.record)]
    switch record.kind {
    case UInt32(CYAML_MAPPING), UInt32(CYAML_SEQUENCE): return Node(record.value)
    default: return Node(node.record + 1)
    }
  }

  /// The nodes in a collection: items, or keys and values in turn.
  @inline(__always)
  func children(_ node: Node) -> Children {
    let target = target(node)
    let record = records[Int(target.record)]
    guard record.kind != UInt32(CYAML_SCALAR) else {
      return Children(document: self, position: target, end: target)
    }
    return Children(
      document: self, position: Node(target.record + 1), end: Node(record.value))
  }

  struct Children: Sequence, IteratorProtocol {
    let document: YAMLDocument
    fileprivate(set) var position: Node
    let end: Node

    var isEmpty: Bool { position == end }

    @inline(__always)
    mutating func next() -> Node? {
      guard position.record < end.record else { return nil }
      defer { position = document.next(position) }
      return position
    }
  }

  func isEmpty(_ node: Node) -> Bool { children(node).isEmpty }
}

extension cyaml_record {
  fileprivate var kind: UInt32 { bits & 3 }
  fileprivate func has(_ flag: Int) -> Bool { bits & UInt32(flag) != 0 }
  fileprivate var value: Int { Int(bits >> UInt32(CYAML_VALUE_SHIFT)) }
  /// Of a scalar whose text stands in the input.
  fileprivate var textStart: Int { Int(start) + (has(CYAML_QUOTED) ? 1 : 0) }
}
