internal import OpflowCore

/// Reads the declared tasks of a file, one after the other.
struct TaskReader {
  let values: ValueReader
  let defaults: TaskDefaults
  /// Where `defaults` stand, and what they go over, when they speak of `task.id` and so differ from
  /// task to task.
  private let defaultsByTask: (node: Node, standard: TaskDefaults)?
  private var settings: SettingsReader
  private let flags: FlagReader
  private let actions: ActionReader
  private let needs: NeedReader
  private let secrets: SecretReader
  private let files: DeclaredFileReader
  private let services: ServiceReader
  private let processes: ProcessReader

  /// - Parameters:
  ///   - settings: keeps what it reads, as defaults must.
  ///   - standard: what `defaults` go over.
  init(_ settings: SettingsReader, defaults node: Node?, over standard: TaskDefaults) {
    var settings = settings
    let scope = settings.values.scope
    // Where a task's id is spoken of, something must stand for it while there is no task.
    scope.sawTaskID = false
    scope.taskID = scope.store.copy("task")
    defaults = settings.readDefaults(node, over: standard)
    defaultsByTask = scope.sawTaskID ? node.map { ($0, standard) } : nil
    scope.taskID = nil

    self.settings = settings.holding(TextStore())
    values = self.settings.values
    flags = FlagReader(values: values)
    actions = ActionReader(values)
    needs = NeedReader(values: values)
    secrets = SecretReader(values)
    files = DeclaredFileReader(values)
    services = ServiceReader(values)
    processes = ProcessReader(values: values)
  }

  /// Reads one task. Everything wrong is reported on the way; what is wrong is left out or gets a
  /// default, so that reading goes on.
  ///
  /// - Parameter name: its id.
  mutating func read(_ key: Node, name: Text, into task: inout TaskValues) {
    checkName(name, at: key)
    read(key, as: name, into: &task)
  }

  func checkName(_ name: Text, at key: Node) {
    let document = values.document
    if let mistake = TaskName.mistake(document.text(key)) {
      values.mistakes.error(
        document.place(key), mistake, help: TaskName.help(for: document.text(key)))
    } else if name.count > TaskName.longest {
      values.mistakes.error(
        document.place(key), "the id `\(name.string)` is longer than \(TaskName.longest) bytes",
        help: "with what its file is included as; give one of them a shorter name")
    }
  }

  /// Reads what a task declares as the task of that name: one leg of a family, of which the scope's
  /// `matrix` speaks.
  mutating func read(_ key: Node, as name: Text, into task: inout TaskValues) {
    let document = values.document
    values.scratch.removeAll()
    values.scope.taskID = name
    if !values.valueReadings.isEmpty { values.valueReadings.removeAll(keepingCapacity: true) }
    task.begin(key: key, name: name, defaults)
    guard document.kind(key.value) == .mapping else { return reportNoTask(key.value, task) }
    var keys = Fields<TaskKey>()
    values.maps.readFields(key.value, values.tables.task, owner: TaskKey.owner, into: &keys)
    read(keys, into: &task)
  }

  private mutating func read(_ keys: Fields<TaskKey>, into task: inout TaskValues) {
    readSettings(keys, into: &task)
    flags.read(keys, into: &task)
    if task.settings.failsWhenInterrupted { task.flags.insert(.failWhenInterrupted) }
    actions.read(keys, into: &task)
    if let node = keys[.needs] { needs.read(node, into: &task.needs) }
    if let names = keys.key(.secrets) { secrets.readNames(names, into: &task) }
    if task.kind == .download { secrets.addNamesOfHeaders(to: &task) }
    files.read(keys, into: &task)
    if keys.key(.service) != nil { services.read(keys, into: &task) }
    processes.read(keys, defaults.lists.demands, into: &task)
    if !values.valueReadings.isEmpty { checkValues(of: &task, condition: keys[.condition]) }
  }

  private mutating func readSettings(_ keys: Fields<TaskKey>, into task: inout TaskValues) {
    defer { values.scope.isInTask = false }
    if let (node, standard) = defaultsByTask {
      // Read and reported on before.
      values.mistakes.mute()
      let defaults = settings.readDefaults(node, over: standard)
      values.mistakes.unmute()
      (task.settings, task.lists) = (defaults.settings, defaults.lists)
      values.scope.isInTask = true
      _ = settings.read(keys, into: &task.settings, &task.lists)
      task.own = .all
      return
    }
    values.scope.isInTask = true
    if keys.key(.env) != nil { task.lists.environment.replace(with: defaults.lists.environment) }
    if keys.key(.resources) != nil { task.lists.demands = defaults.lists.demands }
    task.own = settings.read(keys, into: &task.settings, &task.lists)
  }

  /// Checks that the task needs those whose values it reads.
  ///
  /// - Parameter condition: its `if`.
  private func checkValues(of task: inout TaskValues, condition: Node?) {
    task.readsValues = true
    let needs = task.needs.map(\.name)
    for reading in values.valueReadings {
      guard
        let mistake = ValueCheck(
          task: task.name, needs: needs, suggestions: values.scope.suggestions
        )
        .mistake(reading.reference)
      else {
        if let (id, _) = ValueReference.parts(reading.reference) {
          task.valueReads.append(
            (
              id, values.document.place(reading.node, textOffset: reading.offset),
              reading.node == condition
            ))
        }
        continue
      }
      values.report(
        ExpressionMistake(offset: reading.offset, message: mistake.message, help: mistake.help),
        in: reading.node)
    }
  }

  /// For a key and its value that no `: ` stands between: `run make`, `run:make`.
  private func missingColonHelp(_ node: Node) -> String? {
    guard let text = values.document.scalarText(node), text.count <= 80, !text.contains(10),
      let end = text.firstIndex(where: { ASCII.isBlank($0) || $0 == UInt8(ascii: ":") }),
      values.tables.task.key(text.part(0..<end)) != nil
    else { return nil }
    let key = text.part(0..<end).string
    let value = text.part((end + 1)..<text.count).trimmed.string
    return "a `:` and a blank stand between a key and its value: `\(key): \(value)`"
  }

  private func reportNoTask(_ node: Node, _ task: TaskValues) {
    let name = task.name.string
    let found = values.describe(node)
    values.mistakes.error(
      values.document.place(found == "empty" ? task.key : node),
      found == "empty" ? "task `\(name)` is empty" : "task `\(name)` must be a map, not \(found)",
      help: values.quotingHelp(node) ?? missingColonHelp(node)
        ?? (found == "a string" || found == "a list"
          ? "write \(name): { run: … }" : "give it `run` or `download`"))
  }
}
