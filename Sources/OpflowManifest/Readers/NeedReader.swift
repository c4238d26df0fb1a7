internal import OpflowPlan

/// Reads `needs`; `NeedResolver` finds the tasks.
struct NeedReader: NodeReader {
  let values: ValueReader

  func read(_ node: Node, into needs: inout [TaskValues.Need]) {
    switch document.kind(node) {
    case .scalar: readNeed(node, on: .success, into: &needs)
    case .sequence: for item in document.children(node) { readItem(item, into: &needs) }
    case .mapping:
      error(
        node, "`needs` must be a task ID or a list, not a map",
        help: values.quotingHelp(node) ?? helpForMap(node))
    }
  }

  /// One need, or IDs as keys.
  private func helpForMap(_ node: Node) -> String {
    var names: [String] = []
    var children = document.children(node)
    while let key = children.next(), let value = children.next() {
      guard let name = document.scalarText(key) else { continue }
      guard tables.need.key(name) == nil, TaskName.problem(name) == nil else {
        names = []
        break
      }
      // As in docker compose.
      let condition = document.scalarText(value).flatMap { NeedCondition(text: $0) } ?? .success
      names.append(
        condition == .success ? name.string : "{ task: \(name.string), on: \(condition) }")
    }
    guard !names.isEmpty, names.count <= 5 else {
      return "put it in a list: needs: [{ task: ID, on: finished }]"
    }
    return "write a list: needs: [\(names.joined(separator: ", "))]"
  }

  private func readItem(_ node: Node, into needs: inout [TaskValues.Need]) {
    guard document.kind(node) == .mapping, values.quotingHelp(node) == nil else {
      return readNeed(node, on: .success, into: &needs)
    }
    let keys = maps.fields(node, tables.need)
    var condition = NeedCondition.success
    if let node = keys[.on],
      let read = values.word(
        node, Subject(NeedKey.on), known: "success, failure, finished or ran",
        help: NeedCondition.help(for:), parse: NeedCondition.init(text:))
    {
      condition = read
    }
    guard let task = keys[.task] else {
      if keys.isMeant(.task) { return }
      return error(
        node, "an item of `needs` has no `task`", help: "write { task: ID, on: success }")
    }
    readNeed(task, on: condition, into: &needs)
  }

  private func readNeed(
    _ node: Node, on condition: NeedCondition, into needs: inout [TaskValues.Need]
  ) {
    guard let scalar = values.scalar(node, .item(TaskKey.needs.name), expected: "a task ID")
    else { return }
    if scalar.text.isEmpty {
      return error(
        node, "an item of `needs` \(values.emptiness(node))", help: "write a task ID")
    }
    needs.append(TaskValues.Need(name: scalar.text, node: node, condition: condition))
  }
}

/// Needs by the IDs that expressions use: each need's ID, and the matrix's ID for matrix tasks.
struct WrittenNeeds {
  let texts: [ByteView]
  private var ids = TextTable()
  private var needs: [[Int32]] = []

  /// - Parameter needs: Only `written` is used.
  init(_ needs: [TaskValues.Need]) {
    texts = needs.map(\.written)
    for (need, text) in texts.enumerated() {
      note(text, need)
      if let end = text.firstIndex(of: UInt8(ascii: "[")), end > 0 {
        note(text.part(0..<end), need)
      }
    }
  }

  private mutating func note(_ id: ByteView, _ need: Int) {
    if let known = ids.add(id) {
      needs[known].append(Int32(truncatingIfNeeded: need))
    } else {
      needs.append([Int32(truncatingIfNeeded: need)])
    }
  }

  func number(of id: ByteView) -> Int? { ids.index(of: id) }

  func needs(_ number: Int) -> [Int32] { needs[number] }

  /// True if a need is exactly that ID.
  func names(_ id: ByteView) -> Bool {
    number(of: id).map { needs[$0].contains { texts[Int($0)].count == id.count } } ?? false
  }
}

struct ValueCheck {
  let task: ByteView
  let needs: WrittenNeeds
  let suggestions: Suggestions

  func problem(_ reference: ByteView) -> (message: String, help: String)? {
    let whole = reference.string
    guard let (id, name) = ValueReference.parts(reference), !name.isEmpty else {
      return (
        "`\(whole)` does not name a value",
        "write `needs.ID.NAME`: the ID of a task, and the name of a file that it writes to "
          + "$OPFLOW_VALUES"
      )
    }
    if needs.number(of: id) == nil { return notNeeded(whole, id, name) }
    if ValueRules.isName(name) { return nil }
    return name.count > ValueRules.longestNameBytes
      ? (
        "the name of the value in `\(whole.prefix(40))…` is too long",
        "a name has at most \(ValueRules.longestNameBytes) letters, digits and `_`"
      )
      : (
        "`\(name.string)` is not a valid value name",
        "a name has letters, digits and `_`; it is the name of a file in $OPFLOW_VALUES"
      )
  }

  private func notNeeded(
    _ whole: String, _ id: ByteView, _ name: ByteView
  ) -> (message: String, help: String) {
    // GitHub has `needs.ID.outputs.NAME`.
    if id.hasSuffix(".outputs"), needs.names(id.part(0..<(id.count - 8))) {
      return (
        "`\(whole)` does not name a value",
        "write `needs.\(id.part(0..<(id.count - 8)).string).\(name.string)`"
      )
    }
    let help =
      suggestions.nearest(to: id, among: needs.texts).map {
        "did you mean `needs.\($0.string).\(name.string)`?"
      } ?? "a task can read the values of its dependencies only; add `\(id.string)` to its `needs`"
    return (
      "task `\(task.string)` reads the value `\(name.string)` of `\(id.string)`, but does not need "
        + "`\(id.string)`",
      help
    )
  }
}
