internal import OpflowCore

/// Finds the tasks that tasks need, once all are declared, and checks all needs together.
struct NeedResolver {
  let mistakes: Mistakes
  let suggestions: Suggestions
  private(set) var needs = NeedList()
  /// For each task, the last one that said it needs it.
  private var stamps: [Int32]
  private var finallyTasks: [Bool]
  /// Whether all tasks are declared; where a file could not be read, an unknown one may stand in it.
  var knowsAll = true

  init(mistakes: Mistakes, suggestions: Suggestions, taskCount: Int, nodeCount: Int) {
    self.mistakes = mistakes
    self.suggestions = suggestions
    stamps = [Int32](repeating: -1, count: taskCount)
    finallyTasks = [Bool](repeating: false, count: taskCount)
    needs.reserve(taskCount: taskCount, edgeCount: min(nodeCount, taskCount * 4))
  }

  /// Adds the needs of a task, in the order of their numbers.
  /// A need then has the id of its task, whatever its file calls that.
  mutating func add(_ task: inout TaskValues, _ number: Int, of declared: TaskDeclarations) {
    if task.flags.contains(.finally) { finallyTasks[number] = true }
    if !task.needs.isEmpty {
      let document = declared.document(number)
      for index in task.needs.indices {
        guard let target = add(task.needs[index], of: number, document, declared) else { continue }
        let isOwnName = task.needs[index].name.count == declared.name(target).count
        if !isOwnName { task.needs[index].name = declared.name(target) }
      }
    }
    needs.endTask()
  }

  private mutating func add(
    _ need: TaskValues.Need, of number: Int, _ document: YAMLDocument,
    _ declared: TaskDeclarations
  ) -> Int? {
    guard let target = declared.index(of: need.name, seenFrom: number) else {
      if knowsAll {
        mistakes.error(
          document.place(need.node), "unknown task `\(need.name.string)`",
          help: severalHelp(need.name) ?? nearest(to: need.name, for: number, declared))
      }
      return nil
    }
    if target == number {
      mistakes.error(document.place(need.node), "task `\(need.name.string)` needs itself")
      return nil
    }
    if stamps[target] == Int32(truncatingIfNeeded: number) {
      mistakes.error(document.place(need.node), "`\(need.name.string)` is needed twice")
      return nil
    }
    stamps[target] = Int32(truncatingIfNeeded: number)
    needs.add(target, on: need.condition, offset: document.offset(need.node))
    return target
  }

  /// What may have been meant: a name as the file of the task would write it.
  private func nearest(to name: Text, for number: Int, _ declared: TaskDeclarations) -> String? {
    let prefix = declared.prefix(number)
    let others = (0..<declared.count).lazy.filter { $0 != number }
    let own = others.filter { declared.part($0) == declared.part(number) }
      .map { declared.name($0).part(prefix.count..<declared.name($0).count) }
    if !prefix.isEmpty, let help = suggestions.help(for: name, among: own) { return help }
    return suggestions.help(for: name, among: others.map { declared.name($0) })
  }

  /// Reports tasks that need each other.
  func reportCycles(_ declared: TaskDeclarations) {
    guard !needs.allPointBack, needs.hasCycle else { return }
    CycleReport(needs: needs, tasks: declared).report(to: mistakes)
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
  func checkFinally(_ declared: TaskDeclarations) {
    guard finallyTasks.contains(true) else { return }
    for task in 0..<needs.count where !finallyTasks[task] {
      for edge in needs.edges(of: task) where finallyTasks[Int(needs.targets[edge])] {
        mistakes.error(
          needs.place(of: edge, in: declared.document(task).file),
          "task `\(declared.name(task).string)` needs the `finally` task"
            + " `\(declared.name(Int(needs.targets[edge])).string)`, which runs after it",
          help: "make both `finally`, or neither")
      }
    }
  }
}
