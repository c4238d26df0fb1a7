internal import OpflowCore

/// Reads what the processes of a task are given, and held to: `jobserver` and `memory_limit`.
struct ProcessReader {
  let values: ValueReader

  /// Called when it is known what the task does and what it holds.
  ///
  /// - Parameter defaults: what it asks of resources where it says nothing of its own.
  func read(_ keys: Fields<TaskKey>, _ defaults: Demands, into task: inout TaskValues) {
    if let key = keys.key(.jobserver) { readJobserver(key, defaults, into: &task) }
    if let key = keys.key(.memoryLimit) { readMemoryLimit(key, into: &task) }
  }

  private func readJobserver(_ key: Node, _ defaults: Demands, into task: inout TaskValues) {
    guard let style = readStyle(key.value) else { return }
    let place = values.document.place(key)
    switch task.kind {
    case .approve, .block: return
    case .download:
      return values.mistakes.error(
        place, "a download cannot have a `jobserver`",
        help: "it starts no program that could take jobs from it; take it away")
    case .shell, .command: break
    }
    // That is a mistake of its own.
    if task.flags.contains(.service) { return }
    let demands = task.own.contains(.demands) ? task.lists.demands : defaults
    let cpu = demands.resolved(for: task.kind).first { $0.resource == ResourceEntry.cpu }
    if cpu == nil {
      return values.mistakes.error(
        place, "a task with a `jobserver` holds at least one `cpu`",
        help: "its first job takes one; take `cpu: 0` away")
    }
    task.jobserver = style
  }

  /// Nil for `false`, and for what cannot be read.
  private func readStyle(_ node: Node) -> JobserverStyle? {
    let expected: StaticString = "true, false, fifo or pipe"
    if values.document.kind(node) == .scalar {
      let text = values.document.text(node)
      if text == "fifo" { return .fifo }
      if text == "pipe" { return .pipe }
    }
    let isGiven = values.boolean(node, Subject(TaskKey.jobserver), expected: expected)
    return isGiven == true ? .ofMake : nil
  }

  private func readMemoryLimit(_ key: Node, into task: inout TaskValues) {
    guard let bytes = values.size(key.value, Subject(TaskKey.memoryLimit)) else { return }
    let place = values.document.place(key)
    switch task.kind {
    case .approve, .block: return
    case .download:
      return values.mistakes.error(
        place, "a download cannot have a `memory_limit`",
        help: "it starts no program that could use it up; take it away")
    case .shell, .command: break
    }
    task.memoryLimitBytes = bytes
  }
}
