internal import OpflowCore

/// Reads `needs`; `NeedResolver` finds the tasks.
struct NeedReader {
  let values: ValueReader

  func read(_ node: Node, into needs: inout [TaskValues.Need]) {
    switch values.document.kind(node) {
    case .scalar: readNeed(node, on: .success, into: &needs)
    case .sequence:
      for item in values.document.children(node) { readItem(item, into: &needs) }
    case .mapping:
      values.mistakes.error(
        values.document.place(node), "`needs` must be an id or a list, not a map",
        help: values.quotingHelp(node) ?? helpForMap(node))
    }
  }

  /// Advice for a map: one need, or IDs as keys.
  private func helpForMap(_ node: Node) -> String {
    var names: [String] = []
    var children = values.document.children(node)
    while let key = children.next(), let value = children.next() {
      guard let name = values.document.scalarText(key) else { continue }
      guard values.tables.need.key(name) == nil, TaskName.mistake(name) == nil else {
        names = []
        break
      }
      // As in docker compose.
      let condition =
        values.document.scalarText(value).flatMap { NeedCondition(text: $0) } ?? .success
      names.append(
        condition == .success ? name.string : "{ task: \(name.string), on: \(condition) }")
    }
    guard !names.isEmpty, names.count <= 5 else {
      return "put it in a list: needs: [{ task: ID, on: finished }]"
    }
    return "write a list: needs: [\(names.joined(separator: ", "))]"
  }

  private func readItem(_ node: Node, into needs: inout [TaskValues.Need]) {
    guard values.document.kind(node) == .mapping, values.quotingHelp(node) == nil else {
      return readNeed(node, on: .success, into: &needs)
    }
    let keys = values.maps.fields(node, values.tables.need, owner: "an item of `needs`")
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
      values.mistakes.error(
        values.document.place(node), "an item of `needs` has no `task`",
        help: "write { task: ID, on: success }")
      return
    }
    readNeed(task, on: condition, into: &needs)
  }

  private func readNeed(
    _ node: Node, on condition: NeedCondition, into needs: inout [TaskValues.Need]
  ) {
    guard
      let scalar = values.scalar(node, .item(TaskKey.needs.name), expected: "the id of a task")
    else { return }
    if scalar.text.isEmpty {
      values.mistakes.error(
        values.document.place(node), "an item of `needs` \(values.emptiness(node))")
      return
    }
    needs.append(TaskValues.Need(name: scalar.text, node: node, condition: condition))
  }
}
