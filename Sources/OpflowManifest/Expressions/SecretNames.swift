internal import OpflowCore

/// The secrets of all files of a manifest.
final class SecretScope {
  /// Those that cannot be had, by name.
  var missing: [String: MissingSecret] = [:]
  /// Names that tasks list, in the order of the first use.
  private(set) var listed = TextTable()
  /// For each of these, the last task that was found to have it.
  private var lastTasks: [Int] = []
  private var taskCount = 0
  /// Variables that any file sets for its own tasks, and where.
  private var variables = TextTable()
  private var places: [Place] = []
  /// The variables of the environment that values come from, by the secret's name.
  private var sources = TextTable()
  private var sourceVariables: [Text] = []
  /// Those that expressions have read since somebody asked.
  private var read: [Text] = []
  /// Files that nobody has looked through for names.
  private var documents: [YAMLDocument] = []
  private var names = TextTable()
  /// All that there are, where the manifest is added to a run, or legs of a run's own are made.
  private(set) var ofRun: TextTable?
  /// The manifest is added to a run, and may set none of its secrets, whoever lists them.
  private var isAddition = false
  private let store: TextStore

  /// - Parameter store: holds texts as long as this lives.
  init(_ store: TextStore) { self.store = store }

  /// The manifest is added to a run, which knows these.
  ///
  /// - Parameters:
  ///   - plan: the run's; lives as long as this.
  ///   - isAddition: the run has nothing of the manifest yet.
  func setRun(_ plan: Plan, isAddition: Bool) {
    self.isAddition = isAddition
    var known = TextTable()
    for secret in plan.secrets {
      let name = store.copy(secret.name)
      _ = known.insert(name)
      _ = names.insert(name)
      guard case .environment(let variable) = secret.source else { continue }
      let text = store.copy(variable)
      _ = names.insert(text)
      noteSource(name, text)
    }
    ofRun = known
  }

  /// Whether the run that the manifest is added to has no secret of that name.
  func isUnknown(_ name: Text) -> Bool {
    guard let ofRun else { return false }
    return ofRun.index(of: name) == nil
  }

  /// A file of the manifest.
  func add(_ document: YAMLDocument) { documents.append(document) }

  /// Whether the name stands in any `secrets` of the files so far. They are looked through when the first
  /// variable is read.
  func contains(_ name: Text) -> Bool {
    for document in documents { SecretNames.collect(from: document, into: &names) }
    documents.removeAll()
    return names.index(of: name) != nil
  }

  /// A file's `env` or `env_file` sets the variable.
  ///
  /// - Returns: the secret of the run that may not be set so, the first time; else nil.
  func noteSet(_ variable: Text, at place: Place) -> Text? {
    guard variables.insert(variable).isNew else { return nil }
    places.append(place)
    guard isAddition, let ofRun else { return nil }
    if let index = ofRun.index(of: variable) { return ofRun.texts[index] }
    return sourceVariables.firstIndex { $0.isSame(as: variable) }.map { sources.texts[$0] }
  }

  /// The secret's value is that of the variable.
  func noteSource(_ name: Text, _ variable: Text) {
    if sources.insert(name).isNew { sourceVariables.append(variable) }
  }

  /// The variable of that secret, or the one that its value comes from, that some file sets: the plan
  /// would hold it.
  func whereSet(_ name: Text) -> (variable: Text, place: Place)? {
    if variables.count == 0 || isAddition { return nil }
    if let index = variables.index(of: name) { return (name, places[index]) }
    guard let source = sources.index(of: name),
      let index = variables.index(of: sourceVariables[source])
    else { return nil }
    return (sourceVariables[source], places[index])
  }

  /// Names are those of another task from now on.
  func beginTask() { taskCount += 1 }

  /// The name of a secret of a task, to be kept; nil where the task has it already.
  func listedFirst(_ name: Text) -> Text? {
    let number = number(of: name)
    while lastTasks.count <= number { lastTasks.append(0) }
    if lastTasks[number] == taskCount { return nil }
    lastTasks[number] = taskCount
    return listed.texts[number]
  }

  private func number(of name: Text) -> Int { listed.insert(name, keptIn: store) }

  /// What is to be said of a secret that the task wants.
  func missing(_ name: Text, _ task: Text?) -> MissingSecret? {
    guard !missing.isEmpty, let missing = missing[name.string], let task,
      missing.tasks.contains(task.string)
    else { return nil }
    return missing
  }

  /// What stands for a secret's value.
  func read(_ name: Text, _ literals: TextStore) -> Text {
    let number = number(of: name)
    read.append(listed.texts[number])
    return SecretMark.text(name, literals)
  }

  /// The secrets that expressions have read since the last call.
  func takeRead() -> [Text] {
    defer { read.removeAll() }
    return read
  }
}

/// The names that stand in any `secrets` of a file, as they are written: so that no expression reads
/// their values, wherever it stands.
private enum SecretNames {
  /// Looks through the whole file: what is merged into a task may stand anywhere.
  static func collect(from document: YAMLDocument, into names: inout TextTable) {
    for record in 0..<Int32(max(0, document.nodeCount - 1)) {
      let key = Node(record)
      guard let text = document.scalarText(key), text == "secrets" else { continue }
      switch document.kind(key.value) {
      case .scalar: break
      case .sequence:
        for item in document.children(key.value) {
          if let name = document.scalarText(item) { _ = names.insert(name) }
        }
      case .mapping: addSources(key.value, document, &names)
      }
    }
  }

  /// A variable that a value comes from is as secret as the value.
  private static func addSources(
    _ node: Node, _ document: YAMLDocument, _ names: inout TextTable
  ) {
    var children = document.children(node)
    while let key = children.next(), let source = children.next() {
      if let name = document.scalarText(key) { _ = names.insert(name) }
      var fields = document.children(source)
      while let field = fields.next(), let value = fields.next() {
        guard let word = document.scalarText(field), word == "env",
          let name = document.scalarText(value)
        else { continue }
        _ = names.insert(name)
      }
    }
  }
}

/// A secret that cannot be had, to be told where tasks list it.
package struct MissingSecret: Sendable {
  /// Follows its name.
  package var what: String
  package var help: String?
  /// Those that are to be run.
  package var tasks: Set<String>

  package init(what: String, help: String?, tasks: Set<String>) {
    self.what = what
    self.help = help
    self.tasks = tasks
  }

  func message(_ name: String) -> String { "the secret `\(name)` \(what)" }
}

/// What is said of a secret that a file of the manifest sets.
enum SecretText {
  static func isUnknown(_ name: Text) -> String { "the run has no secret `\(name.string)`" }

  static func helpForUnknown(_ name: Text) -> String {
    "declare it in the run's first manifest: `secrets: { \(name.string): { env: \(name.string) } }`"
  }

  static let helpForSet = "take it out there, where its value would be written down"

  static func isSet(_ name: Text, as variable: Text) -> String {
    let what = variable.isSame(as: name) ? "it" : "`\(variable.string)`, where it comes from"
    return "`\(name.string)` is a secret, and `env` or `env_file` sets \(what)"
  }
}

/// What stands for a secret's value where only the one who sends it is to fill it in.
enum SecretMark {
  /// No text of a manifest holds a NUL.
  static func text(_ name: Text, _ store: TextStore) -> Text {
    var zero: UInt8 = 0
    withUnsafeBytes(of: &zero) { store.append($0) }
    store.append(name)
    withUnsafeBytes(of: &zero) { store.append($0) }
    return store.finish()
  }

  /// Whether a value of an expression is one.
  static func isSecret(_ value: Text) -> Bool { value.first == 0 }
}
