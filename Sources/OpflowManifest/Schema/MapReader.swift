/// Explicit keys win over merged ones, and earlier maps of a `<<` list over later ones
/// (https://yaml.org/type/merge.html).
struct MapReader: Reporter {
  let document: YAMLDocument
  let diagnostics: Diagnostics

  // MARK: Maps with known keys

  func fields<Key>(
    _ node: Node, _ table: KeyTable<Key>, ignoring isIgnored: (ByteView) -> Bool = { _ in false }
  ) -> Fields<Key> {
    var fields = Fields<Key>()
    readFields(node, table, ignoring: isIgnored, into: &fields)
    return fields
  }

  func readFields<Key>(
    _ node: Node, _ table: KeyTable<Key>,
    ignoring isIgnored: (ByteView) -> Bool = { _ in false }, into fields: inout Fields<Key>
  ) {
    var hasUnknown = false
    var hasMerge = false
    var children = document.children(node)
    while let keyNode = children.next(), children.next() != nil {
      guard let name = keyText(keyNode) else { continue }
      if let key = table.key(name) {
        if let first = fields.key(key) {
          duplicate(keyNode, name, first: first)
        } else {
          fields.set(key, to: keyNode)
        }
      } else if isMerge(keyNode, name) {
        hasMerge = true
      } else if !isIgnored(name) {
        hasUnknown = true
      }
    }
    if hasUnknown { reportUnknown(of: node, table, ignoring: isIgnored, &fields) }
    if hasMerge { mergeFields(of: node, table, ignoring: isIgnored, into: &fields) }
  }

  /// Notes the keys that were probably meant.
  private func reportUnknown<Key>(
    of node: Node, _ table: KeyTable<Key>, ignoring isIgnored: (ByteView) -> Bool,
    _ fields: inout Fields<Key>
  ) {
    var children = document.children(node)
    while let key = children.next(), children.next() != nil {
      guard let name = document.scalarText(key), table.key(name) == nil, !isMerge(key, name),
        !isIgnored(name), let meant = reportUnknown(key, table)
      else { continue }
      fields.noteMeant(meant)
    }
  }

  private func mergeFields<Key>(
    of node: Node, _ table: KeyTable<Key>, ignoring isIgnored: (ByteView) -> Bool,
    into fields: inout Fields<Key>
  ) {
    for map in mergedMaps(of: node) {
      let merged = self.fields(map, table, ignoring: isIgnored)
      for key in Key.allCases where fields.key(key) == nil {
        if let node = merged.key(key) { fields.set(key, to: node) }
      }
    }
  }

  // MARK: Maps with user-defined names

  /// Returns the entries in file order, merged ones last.
  func entries(_ node: Node) -> Entries {
    var entries = Entries(document: document)
    collect(node, into: &entries)
    return entries
  }

  func readEntries(_ node: Node, into entries: inout Entries) {
    entries.removeAll()
    collect(node, into: &entries)
  }

  /// Reports a name that occurs twice in the map.
  func collect(_ node: Node, into entries: inout some EntryList) {
    // Merged maps may repeat names.
    let merged = entries.count
    var hasMerge = false
    var children = document.children(node)
    while let key = children.next(), children.next() != nil {
      guard let name = keyText(key) else { continue }
      if isMerge(key, name) {
        hasMerge = true
      } else if let known = entries.insert(key, name), known >= merged {
        duplicate(key, name, first: entries.key(known))
      }
    }
    guard hasMerge else { return }
    for map in mergedMaps(of: node) { collect(map, into: &entries) }
  }

  // MARK: Keys

  @inline(__always)
  func keyText(_ key: Node) -> ByteView? {
    if let text = document.scalarText(key) { return text }
    reportNoName(key)
    return nil
  }

  @inline(never)
  private func reportNoName(_ key: Node) {
    let place = document.place(key)
    let isExpression =
      document.kind(key) == .mapping
      && place.offset > 0 && document.source[place.offset - 1] == UInt8(ascii: "{")
    diagnostics.error(
      place, "a key must be a name, not \(document.kind(key) == .mapping ? "a map" : "a list")",
      help: isExpression ? "write an expression as `${{ … }}`; quote the whole value" : nil)
    diagnostics.settle(place)
  }

  func isMerge(_ key: Node, _ name: ByteView) -> Bool {
    name == "<<" && document.isPlain(key)
  }

  func duplicate(_ key: Node, _ name: ByteView, first: Node) {
    diagnostics.add(
      .error, document.place(key), "the key `\(name.string)` occurs twice in this map",
      help: "remove or rename one of them",
      notes: [.init(place: document.place(first), message: "the first `\(name.string)`")])
  }

  /// Returns the key that was probably meant, unless errors are only counted.
  private func reportUnknown<Key>(_ key: Node, _ table: KeyTable<Key>) -> Key? {
    if diagnostics.isFull {
      diagnostics.count()
      return nil
    }
    let name = document.text(key)
    if let help = LaterKeys.help(name, in: table.map) {
      return error(key, "`\(name.string)` in \(table.owner) is not supported yet", help: help)
    }
    let names = table.names
    let foreign = ForeignKeys.key(for: name, among: table.names)
    let advice = ForeignAdvice.advice(
      for: name, value: document.scalarText(key.value), in: table.map)
    let blank: String? =
      name.hasPrefix("\u{A0}")
      ? "it begins with a no-break space (U+00A0); indent with normal spaces" : nil
    let nearest = foreign ?? (advice == nil ? Suggestion.nearest(to: name, among: names) : nil)
    error(
      key, "unknown key `\(name.string)` in \(table.owner)",
      help: blank ?? advice ?? foreign.map {
        ForeignKeys.help(for: name, key: $0, isList: document.kind(key.value) == .sequence)
      }
        ?? nearest.map { Suggestion.text($0) }
        ?? (table.map == .manifest ? misplacedAnchor(key, name) ?? misplacedTask(key, name) : nil)
        ?? "known keys: \(names.map(\.string).joined(separator: ", "))")
    return nearest.flatMap { table.key($0) }
  }

  /// Advice for a key with an anchor, such as `.name` in GitLab CI.
  private func misplacedAnchor(_ key: Node, _ name: ByteView) -> String? {
    guard name.count < 100 else { return nil }
    let start = document.place(key).offset + name.count
    let end = min(document.place(key.value).offset + 1, document.source.count)
    let hasAnchor = start < end && document.source.part(start..<end).contains(UInt8(ascii: "&"))
    guard hasAnchor || name.first == UInt8(ascii: ".") else { return nil }
    let letters = name.part((name.first == UInt8(ascii: ".") ? 1 : 0)..<name.count).string
    return "if the key only holds an anchor, begin it with `x-`: `x-\(letters)`"
  }

  /// Advice for a top-level task, as in GitLab CI.
  private func misplacedTask(_ key: Node, _ name: ByteView) -> String? {
    guard TaskName.problem(name) == nil, document.kind(key.value) == .mapping else { return nil }
    return "write a task under `tasks`: `tasks: { \(name.string): { run: … } }`"
  }

  /// Returns the merged maps, nearest first.
  private func mergedMaps(of node: Node) -> [Node] {
    var maps: [Node] = []
    var children = document.children(node)
    while let key = children.next(), let value = children.next() {
      guard document.kind(key) == .scalar, isMerge(key, document.text(key)) else { continue }
      switch document.kind(value) {
      case .mapping: maps.append(value)
      case .sequence:
        for item in document.children(value) {
          if document.kind(item) == .mapping { maps.append(item) } else { reportNoMap(item) }
        }
      case .scalar: reportNoMap(value)
      }
    }
    return maps
  }

  private func reportNoMap(_ node: Node) {
    error(
      node, "`<<` must be a map, or a list of maps", help: "name the map by its alias: `<<: *name`")
  }
}

protocol EntryList {
  var count: Int { get }
  func key(_ index: Int) -> Node
  /// Returns the number of an earlier key with that name, if any.
  mutating func insert(_ key: Node, _ name: ByteView) -> Int?
}

struct Entries: EntryList {
  let document: YAMLDocument
  private(set) var keys: [Node] = []
  private var names = TextTable()

  init(document: YAMLDocument) { self.document = document }

  var count: Int { keys.count }

  func key(_ index: Int) -> Node { keys[index] }
  func name(_ index: Int) -> ByteView { document.text(keys[index]) }
  func value(_ index: Int) -> Node { keys[index].value }

  mutating func removeAll() {
    keys.removeEach()
    names.removeAll()
  }

  mutating func insert(_ key: Node, _ name: ByteView) -> Int? {
    if let known = names.add(name) { return known }
    keys.append(key)
    return nil
  }
}
