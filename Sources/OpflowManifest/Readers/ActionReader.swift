internal import OpflowCore

/// Reads what a task does: `run` or `download`.
struct ActionReader {
  let values: ValueReader
  private let commands: CommandReader
  private let downloads: DownloadReader

  init(_ values: ValueReader) {
    self.values = values
    commands = CommandReader(values: values)
    downloads = DownloadReader(values: values)
  }

  /// Reads the one action of a task.
  func read(_ keys: Fields<TaskKey>, into task: inout TaskValues) {
    if let run = keys.key(.run), let download = keys.key(.download) {
      let places = [run, download].map { values.document.place($0) }
      values.mistakes.error(
        max(places[0], places[1]), "a task has either `run` or `download`, and this one has both",
        help: "make two tasks, one of which needs the other")
    }
    if let node = keys[.run] { readRun(node, into: &task) }
    if let node = keys[.download] {
      task.kind = .download
      downloads.read(node, into: &task)
    }
    if keys.key(.run) == nil, keys.key(.download) == nil, !keys.isMeant(.run),
      !keys.isMeant(.download)
    {
      values.mistakes.error(
        values.document.place(task.key), "task `\(task.name.string)` has nothing to do",
        help: "give it `run` or `download`")
    }
  }

  private func readRun(_ node: Node, into task: inout TaskValues) {
    let subject = Subject(TaskKey.run)
    switch values.document.kind(node) {
    case .scalar:
      values.scope.valuePlace = .script
      defer { values.scope.valuePlace = .none }
      guard let script = commands.readScript(node, subject) else { return }
      task.kind = .shell
      task.script = script
    case .sequence:
      values.scope.valuePlace = .late
      defer { values.scope.valuePlace = .none }
      guard let words = commands.readWords(node, subject) else { return }
      task.kind = .command
      task.words = words
    case .mapping: values.wrongType(node, subject, expected: "a string or a list of strings")
    }
  }
}
