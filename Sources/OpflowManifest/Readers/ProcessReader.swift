internal import OpflowCore

/// Reads the keys of `TaskKey.ofProcesses`.
struct ProcessReader {
  let values: ValueReader

  /// Requires the task's action and demands to be read already.
  ///
  /// - Parameter defaults: The demands of a task without its own.
  func read(_ keys: Fields<TaskKey>, _ defaults: Demands, into task: inout TaskValues) {
    for (name, rule, use) in TaskKey.ofProcesses {
      guard let key = keys.key(name), let number = readNumber(key.value, name, rule),
        !rule.isOfPrograms || hasPrograms(task, key, name, use)
      else { continue }
      if rule == .jobserver, !hasProcessor(task, defaults, key) { continue }
      if rule == .clean, !declaresFiles(task, key) { continue }
      task.processes[rule] = number
    }
  }

  /// Returns nil for false and on errors.
  private func readNumber(_ node: Node, _ key: TaskKey, _ rule: ProcessRule) -> UInt64? {
    switch rule.takes {
    case .flag: values.boolean(node, Subject(key)) == true ? 1 : nil
    case .bytes: values.size(node, Subject(key))
    case .number(let range): values.integer(node, Subject(key), in: range).map { UInt64($0) }
    case .style: readStyle(node, key).map { UInt64($0.rawValue) }
    }
  }

  private func readStyle(_ node: Node, _ key: TaskKey) -> JobserverStyle? {
    let expected: StaticString = "true, false, fifo or pipe"
    if values.document.kind(node) == .scalar {
      let text = values.document.text(node)
      if text == "fifo" { return .fifo }
      if text == "pipe" { return .pipe }
    }
    return values.boolean(node, Subject(key), expected: expected) == true ? .ofMake : nil
  }

  /// Whether the task starts programs. Errors for approvals and external tasks are already
  /// reported.
  private func hasPrograms(
    _ task: borrowing TaskValues, _ key: Node, _ name: TaskKey, _ use: StaticString
  ) -> Bool {
    switch task.kind {
    case .shell, .command: return true
    case .approve, .block: return false
    case .download:
      values.mistakes.error(
        values.document.place(key), "a download cannot have a `\(name.name)`",
        help: "it starts no program that could \(use); take it away")
      return false
    }
  }

  /// Whether opflow can know the task's files.
  private func declaresFiles(_ task: borrowing TaskValues, _ key: Node) -> Bool {
    // The error is already reported.
    if task.flags.contains(.service) { return false }
    if task.hasInputs, !task.written.isEmpty { return true }
    values.mistakes.error(
      values.document.place(key), "`clean` needs `inputs` and `outputs`",
      help:
        "opflow removes files under the `outputs` that it recorded when the task ended, and it "
        + "records a task with `inputs` only")
    return false
  }

  private func hasProcessor(_ task: borrowing TaskValues, _ defaults: Demands, _ key: Node) -> Bool
  {
    // The error is already reported.
    if task.flags.contains(.service) { return false }
    let demands = task.own.contains(.demands) ? task.lists.demands : defaults
    if demands.resolved(for: task.kind).contains(where: { $0.resource == ResourceEntry.cpu }) {
      return true
    }
    values.mistakes.error(
      values.document.place(key), "a task with a `jobserver` holds at least one `cpu`",
      help: "its first job takes one; take `cpu: 0` away")
    return false
  }
}
