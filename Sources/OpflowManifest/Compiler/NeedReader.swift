internal import OpflowCore

// `needs`, and what is checked of all needs together.

extension ManifestReader {
  /// Reads the needs of task `index` into the list. Returns their hash for the fingerprint, which
  /// does not depend on their order.
  mutating func readNeeds(_ node: Node?, of index: Int) -> UInt64 {
    defer { needs.endTask() }
    guard let node else { return 0 }
    switch document.kind(node) {
    case .scalar: return readNeed(node, on: .success, of: index)
    case .sequence:
      var digest: UInt64 = 0
      for item in document.children(node) { digest &+= readNeedItem(item, of: index) }
      return digest
    case .mapping:
      mistakes.error(
        document.place(node), "`needs` must be an id or a list, not a map",
        help: values.quotingHelp(node) ?? "put it in a list: needs: [{ task: ID, on: finished }]")
      return 0
    }
  }

  private mutating func readNeedItem(_ node: Node, of index: Int) -> UInt64 {
    guard document.kind(node) == .mapping, values.quotingHelp(node) == nil else {
      return readNeed(node, on: .success, of: index)
    }
    let fields = maps.fields(node, tables.need, owner: "an item of `needs`")
    var condition = NeedCondition.success
    if let node = fields[.on],
      let read = values.word(
        node, Subject(NeedKey.on), known: "success, failure or finished",
        help: NeedCondition.help(for:), parse: NeedCondition.init(text:))
    {
      condition = read
    }
    guard let task = fields[.task] else {
      if fields.isMeant(.task) { return 0 }
      mistakes.error(
        document.place(node), "an item of `needs` has no `task`",
        help: "write { task: ID, on: success }")
      return 0
    }
    return readNeed(task, on: condition, of: index)
  }

  private mutating func readNeed(
    _ node: Node, on condition: NeedCondition, of index: Int
  ) -> UInt64 {
    guard
      let scalar = values.scalar(node, .item(TaskKey.needs.name), expected: "the id of a task")
    else { return 0 }
    if scalar.text.isEmpty {
      mistakes.error(document.place(node), "an item of `needs` \(values.emptiness(node))")
      return 0
    }
    guard let target = tasks.index(of: scalar.text) else {
      mistakes.error(
        document.place(node), "unknown task `\(scalar.text.string)`",
        help: severalHelp(scalar.text)
          ?? scope.suggestions.help(
            for: scalar.text,
            among: tasks.names.lazy.enumerated().filter { $0.offset != index }.map(\.element)))
      return 0
    }
    if target == index {
      mistakes.error(document.place(node), "task `\(scalar.text.string)` needs itself")
      return 0
    }
    if needStamps[target] == Int32(truncatingIfNeeded: index) {
      mistakes.error(document.place(node), "`\(scalar.text.string)` is needed twice")
      return 0
    }
    needStamps[target] = Int32(truncatingIfNeeded: index)
    needs.add(target, on: condition, offset: document.offset(node))
    guard options.wantsPlan else { return 0 }
    return Digest.combine(Hash.xxh3(scalar.text), UInt64(condition.rawValue))
  }

  /// Several ids in one text, as make has them.
  private func severalHelp(_ text: Text) -> String? {
    guard text.count <= 200,
      text.contains(where: { ASCII.isBlank($0) || $0 == UInt8(ascii: ",") })
    else { return nil }
    let ids = text.split { ASCII.isBlank($0) || $0 == UInt8(ascii: ",") }
      .map { Text(rebasing: $0).string }
    return ids.isEmpty ? nil : "several ids are a list: [\(ids.joined(separator: ", "))]"
  }

  /// A task of the main part cannot wait for one that runs after all others.
  func checkFinally() {
    guard finallyTasks.contains(true) else { return }
    for task in 0..<needs.count where !finallyTasks[task] {
      for edge in needs.edges(of: task) where finallyTasks[Int(needs.targets[edge])] {
        mistakes.error(
          document.file.place(Int(needs.offsetsInFile[edge])),
          "task `\(tasks.name(task).string)` needs the `finally` task"
            + " `\(tasks.name(Int(needs.targets[edge])).string)`, which runs after it",
          help: "make both `finally`, or neither")
      }
    }
  }
}
