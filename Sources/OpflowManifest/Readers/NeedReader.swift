internal import OpflowCore

/// Reads `needs` as they are written; `NeedResolver` finds the tasks.
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
        help: values.quotingHelp(node) ?? "put it in a list: needs: [{ task: ID, on: finished }]")
    }
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
