internal import OpflowPlan

final class SecretScope {
  var missing: [String: MissingSecret] = [:]
  private(set) var listed = TextTable()
  private var lastTasks: [Int: Int] = [:]
  private var taskCount = 0
  /// Variables that any `env` or `env_file` sets.
  private var variables = TextMap<Place>()
  private var sources = TextMap<ByteView>()
  private var read: [ByteView] = []
  private var documents: [YAMLDocument] = []
  private var names = TextTable()
  /// The secrets of the run that the manifest is for.
  private(set) var ofRun: TextTable?
  /// An addition must not set the run's secrets.
  private var isAddition = false
  private let store: TextStore

  init(_ store: TextStore) { self.store = store }

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

  func isUnknown(_ name: ByteView) -> Bool {
    guard let ofRun else { return false }
    return ofRun.index(of: name) == nil
  }

  func add(_ document: YAMLDocument) { documents.append(document) }

  /// True if a file uses the name as a secret, or as the source of one.
  func contains(_ name: ByteView) -> Bool {
    for document in documents { SecretNames.collect(from: document, into: &names) }
    documents.removeAll()
    return names.index(of: name) != nil
  }

  /// On the first call for a variable, returns the run's secret that it must not set.
  func noteSet(_ variable: ByteView, at place: Place) -> ByteView? {
    guard variables[variable] == nil else { return nil }
    variables.set(variable, place)
    guard isAddition, let ofRun else { return nil }
    if let index = ofRun.index(of: variable) { return ofRun.texts[index] }
    return sources.values.firstIndex { $0.isSame(as: variable) }.map { sources.keys.texts[$0] }
  }

  func noteSource(_ name: ByteView, _ variable: ByteView) {
    if sources[name] == nil { sources.set(name, variable) }
  }

  /// If a file sets the variable of a secret or its source, the plan would contain the value.
  func whereSet(_ name: ByteView) -> (variable: ByteView, place: Place)? {
    if isAddition { return nil }
    if let place = variables[name] { return (name, place) }
    guard let source = sources[name], let place = variables[source] else { return nil }
    return (source, place)
  }

  func beginTask() { taskCount += 1 }

  /// Nil if the task lists the name twice.
  func listedFirst(_ name: ByteView) -> ByteView? {
    let number = listed.insert(name, keptIn: store)
    return lastTasks.updateValue(taskCount, forKey: number) == taskCount
      ? nil : listed.texts[number]
  }

  func missing(_ name: ByteView, _ task: ByteView?) -> MissingSecret? {
    guard !missing.isEmpty, let missing = missing[name.string], let task,
      missing.tasks.contains(task.string)
    else { return nil }
    return missing
  }

  func read(_ name: ByteView, _ literals: TextStore) -> ByteView {
    let number = listed.insert(name, keptIn: store)
    read.append(listed.texts[number])
    return SecretMark.text(name, literals)
  }

  func takeRead() -> [ByteView] {
    defer { read.removeAll() }
    return read
  }
}

/// Expressions must not read these names.
private enum SecretNames {
  /// A task may be merged from anywhere in the file.
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

  /// Sources are as secret.
  private static func addSources(_ node: Node, _ document: YAMLDocument, _ names: inout TextTable) {
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

/// An error where tasks list it.
package struct MissingSecret: Sendable {
  /// Follows the name.
  package var detail: String
  package var help: String?
  /// Selected tasks that list it.
  package var tasks: Set<String>

  package init(detail: String, help: String?, tasks: Set<String>) {
    self.detail = detail
    self.help = help
    self.tasks = tasks
  }

  func message(_ name: String) -> String { "the secret `\(name)` \(detail)" }
}

enum SecretText {
  static func isUnknown(_ name: ByteView) -> String { "the run has no secret `\(name.string)`" }

  static func helpForUnknown(_ name: ByteView) -> String {
    "declare it in the run's first manifest: `secrets: { \(name.string): { env: \(name.string) } }`"
  }

  static let helpForSet = "remove it there: opflow would store its value in the plan"

  static func isSet(_ name: ByteView, as variable: ByteView) -> String {
    let detail = variable.isSame(as: name) ? "it" : "its source `\(variable.string)`"
    return "`\(name.string)` is a secret, but `env` or `env_file` sets \(detail)"
  }
}

/// The placeholder for a secret until the request is sent.
enum SecretMark {
  /// Encloses the name in NULs, which no manifest contains.
  static func text(_ name: ByteView, _ store: TextStore) -> ByteView {
    store.append(0)
    store.append(name)
    store.append(0)
    return store.finish()
  }

  static func isSecret(_ value: ByteView) -> Bool { value.first == 0 }
}
