internal import OpflowPlan

/// A class, because a value this large would be copied for each task.
final class TaskReader: NodeReader {
  let values: ValueReader
  let defaults: TaskDefaults
  /// Set if `defaults` use `task.id` and so differ by task.
  private let defaultsByTask: (node: Node, standard: TaskDefaults)?
  private let settings: SettingsReader
  private let actions: ActionReader

  /// - Parameter settings: Must keep texts as long as the defaults live.
  init(_ settings: SettingsReader, defaults node: Node?, over standard: TaskDefaults) {
    let scope = settings.values.scope
    // A placeholder for `task.id` while there is no task.
    scope.sawTaskID = false
    scope.taskID = scope.store.copy("task")
    defaults = settings.readDefaults(node, over: standard)
    defaultsByTask = scope.sawTaskID ? node.map { ($0, standard) } : nil
    scope.taskID = nil

    self.settings = settings.holding(TextStore())
    values = self.settings.values
    actions = ActionReader(values)
  }

  func read(_ key: Node, name: ByteView, into task: inout TaskValues) {
    checkName(name, at: key)
    read(key, as: name, into: &task)
  }

  func checkName(_ name: ByteView, at key: Node) {
    if let problem = TaskName.problem(document.text(key)) {
      error(key, problem, help: TaskName.help(for: document.text(key)))
    } else if name.count > TaskName.longest {
      error(
        key, "the task ID `\(name.string)` is longer than \(TaskName.longest) bytes",
        help: "it begins with the `as` of its `include`; shorten one of the two")
    }
  }

  /// `name` may be a matrix task with values in the scope's `matrix`.
  func read(_ key: Node, as name: ByteView, into task: inout TaskValues) {
    scratch.removeAll()
    scope.taskID = name
    values.forgetValueReadings()
    task.begin(key: key, name: name, defaults)
    guard document.kind(key.value) == .mapping else { return reportNoTask(key.value, task) }
    var keys = Fields<TaskKey>()
    maps.readFields(key.value, tables.task, into: &keys)
    read(keys, into: &task)
  }

  private func read(_ keys: Fields<TaskKey>, into task: inout TaskValues) {
    readSettings(keys, into: &task)
    FlagReader(values: values).read(keys, into: &task)
    if task.settings.failsWhenInterrupted { task.flags.insert(.failWhenInterrupted) }
    actions.read(keys, into: &task)
    if let node = keys[.needs] { NeedReader(values: values).read(node, into: &task.needs) }
    SecretReader(values: values).readNames(keys.key(.secrets), into: &task)
    DeclaredFileReader(values: values).read(keys, into: &task)
    if keys.key(.service) != nil { ServiceReader(values: values).read(keys, into: &task) }
    ProcessReader(values: values).read(keys, defaults.lists.demands, into: &task)
    if values.readsValues { checkValues(of: &task, condition: keys[.condition]) }
  }

  private func readSettings(_ keys: Fields<TaskKey>, into task: inout TaskValues) {
    defer { scope.isInTask = false }
    if let (node, standard) = defaultsByTask {
      // Errors in `defaults` are already reported.
      diagnostics.mute()
      let defaults = settings.readDefaults(node, over: standard)
      diagnostics.unmute()
      (task.settings, task.lists) = (defaults.settings, defaults.lists)
      scope.isInTask = true
      _ = settings.read(keys, into: &task.settings, &task.lists)
      task.own = .all
      return
    }
    scope.isInTask = true
    if keys.key(.env) != nil { task.lists.environment.removeAll() }
    if keys.key(.resources) != nil { task.lists.demands = defaults.lists.demands }
    task.own = settings.read(keys, into: &task.settings, &task.lists)
  }

  private func checkValues(of task: inout TaskValues, condition: Node?) {
    task.readsValues = true
    let check = ValueCheck(
      task: task.name, needs: WrittenNeeds(task.needs), suggestions: scope.suggestions)
    for reading in values.valueReadings {
      guard let problem = check.problem(reading.reference) else {
        if let (id, _) = ValueReference.parts(reading.reference) {
          task.valueReads.append(
            (
              id, document.place(reading.node, textOffset: reading.offset),
              reading.node == condition
            ))
        }
        continue
      }
      values.report(
        ExpressionError(offset: reading.offset, message: problem.message, help: problem.help),
        in: reading.node)
    }
  }

  /// Advice for a missing `: ` as in `run make` or `run:make`.
  private func missingColonHelp(_ node: Node) -> String? {
    guard let text = document.scalarText(node), text.count <= 80, !text.contains(10),
      let end = text.firstIndex(where: { ASCII.isBlank($0) || $0 == UInt8(ascii: ":") }),
      tables.task.key(text.part(0..<end)) != nil
    else { return nil }
    let key = text.part(0..<end).string
    let value = text.part((end + 1)..<text.count).trimmed.string
    return "write a `:` and a space between a key and its value: `\(key): \(value)`"
  }

  private func reportNoTask(_ node: Node, _ task: borrowing TaskValues) {
    let name = task.name.string
    let found = values.describe(node)
    error(
      found == "empty" ? task.key : node,
      found == "empty" ? "task `\(name)` is empty" : "task `\(name)` must be a map, not \(found)",
      help: values.quotingHelp(node) ?? missingColonHelp(node)
        ?? (found == "a string" || found == "a list"
          ? "write \(name): { run: … }" : "add `run` or `download`"))
  }
}
