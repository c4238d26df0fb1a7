/// The meaning of names in expressions, which changes with each task.
final class NameScope {
  enum Position: Equatable {
    /// In `vars`: only the inherited environment.
    case variables
    /// In the top-level `env`: also variable files.
    case environment
    case top
    case task
    /// In `headers` of a download: also secrets.
    case headers
  }

  var position = Position.top
  private(set) var variables = TextMap<ByteView>()
  /// The including file, if its variables are visible here.
  var outer: NameScope?
  private(set) var environment = TextMap<ByteView>()
  var matrix = MatrixScope()
  var taskID: ByteView?

  let secrets: SecretScope
  /// The selected `interactive` tasks if there is no terminal.
  var tasksWithoutTerminal: Set<String> = []
  var isInTask = false
  var valuePlace = ValuePlace.none
  /// References to values, until the reader takes them.
  var valuesRead: [(reference: ByteView, offset: Int)] = []
  let runID: ByteView
  let inherited: InheritedEnvironment
  /// `run.id` is then a constant, for fingerprints.
  var hidesRunID = false
  /// Set when an expression uses `run.id`; the next two for `task.id` and `matrix`.
  var sawRunID = false
  var sawTaskID = false

  var sawMatrix = false

  /// Included with `as`: sees only passed variables.
  var isApart = false

  let suggestions: Suggestions
  let store: TextStore
  let literals: TextStore

  init(runID: String, inheritedEnvironment: [(name: String, value: String)]) {
    store = TextStore()
    literals = TextStore()
    suggestions = Suggestions()
    inherited = InheritedEnvironment(inheritedEnvironment, store: store)
    self.runID = store.copy(runID)
    secrets = SecretScope(store)
  }

  init(besides other: NameScope) {
    (store, literals, suggestions) = (other.store, other.literals, other.suggestions)
    (inherited, runID) = (other.inherited, other.runID)
    secrets = other.secrets
    tasksWithoutTerminal = other.tasksWithoutTerminal
  }

  func setVariable(_ name: ByteView, _ value: ByteView) { variables.set(name, value) }

  func setEnvironment(_ name: ByteView, _ value: ByteView) { environment.set(name, value) }

  func variable(_ name: ByteView) -> ByteView? { variables[name] ?? outer?.variable(name) }

  var variableNames: some Sequence<ByteView> {
    [variables.keys.texts, outer?.variables.keys.texts ?? []].joined()
  }

  /// Returns a variable as visible at `position`; empty if unset.
  func environmentValue(_ name: ByteView) -> ByteView {
    switch position {
    case .top, .task, .environment, .headers:
      if let value = environment[name] { return value }
    case .variables: break
    }
    return inherited.value(name) ?? .empty
  }
}

/// The names of a `matrix`, with the values of one matrix task.
struct MatrixScope {
  enum Owner {
    /// In a task without `matrix`, or outside tasks.
    case none
    /// In the `matrix` itself, before its tasks exist.
    case matrix
    case instance
  }

  var owner = Owner.none
  private(set) var names = TextTable()
  /// Without values, names are empty.
  private var values: [ByteView] = []

  init(owner: Owner = .none) { self.owner = owner }

  init(names: TextTable) {
    owner = .instance
    self.names = names
  }

  /// Accepts all names, for a matrix whose names are unknown.
  static var ofAnyNames: MatrixScope {
    var scope = MatrixScope(owner: .instance)
    scope.hasAnyName = true
    return scope
  }

  private var hasAnyName = false

  mutating func setValues(_ values: some Sequence<ByteView>) {
    self.values.removeAll(keepingCapacity: true)
    self.values.append(contentsOf: values)
  }

  func value(_ name: ByteView) -> ByteView? {
    if let index = names.index(of: name) {
      return index < values.count ? values[index] : ByteView.empty
    }
    return hasAnyName ? ByteView.empty : nil
  }

  var helpForUnknown: String {
    switch owner {
    case .none: "only a task with a `matrix` can use `matrix.NAME`"
    case .matrix: "a `matrix` cannot use its own values; use `exclude` or `include`"
    case .instance: "the task's `matrix` has no such name"
    }
  }
}

struct ScopedNames: ExpressionNames {
  let scope: NameScope
  let report: (ExpressionError) -> Void

  func value(of name: ByteView, at offset: Int) -> ByteView {
    let empty = ByteView.empty
    if name.hasPrefix("vars.") { return variable(name, at: offset) ?? empty }
    if name.hasPrefix("env."), isSimple(name.part(4..<name.count)) {
      if scope.secrets.contains(name.part(4..<name.count)) { return secret(name, at: offset) }
      return scope.environmentValue(name.part(4..<name.count))
    }
    if scope.position == .headers, name.hasPrefix("secrets."), isSimple(name.part(8..<name.count)) {
      let secret = name.part(8..<name.count)
      if scope.secrets.isUnknown(secret) {
        refuse(offset, SecretText.isUnknown(secret), help: SecretText.helpForUnknown(secret))
      }
      if let missing = scope.secrets.missing(secret, scope.taskID) {
        refuse(offset, missing.message(secret.string), help: missing.help)
      }
      if let set = scope.secrets.whereSet(secret) {
        refuse(offset, SecretText.isSet(secret, as: set.variable), help: SecretText.helpForSet)
      }
      return scope.secrets.read(secret, scope.literals)
    }
    if ValueReference.hasPrefix(name) {
      noteValue(name, at: offset)
      return empty
    }
    if name == "run.id" {
      scope.sawRunID = true
      return scope.hidesRunID ? name : scope.runID
    }
    if name == "task.id" {
      scope.sawTaskID = true
      if let id = scope.taskID { return id }
      refuse(offset, "`task.id` has no value outside a task")
      return empty
    }
    if name.hasPrefix("matrix.") {
      scope.sawMatrix = true
      if let value = scope.matrix.value(name.part(7..<name.count)) { return value }
    }
    reportUnknown(name, at: offset)
    return empty
  }

  /// The secret would end up in the plan.
  private func secret(_ name: ByteView, at offset: Int) -> ByteView {
    let variable = name.part(4..<name.count).string
    refuse(
      offset, "`\(name.string)` is a secret, which expressions cannot read",
      help: "list the secret in `secrets` of the task, and read `$\(variable)` in `run`")
    return ByteView.empty
  }

  /// The value is not known yet.
  private func noteValue(_ name: ByteView, at offset: Int) {
    switch scope.valuePlace {
    case .late: scope.valuesRead.append((name, offset))
    case .script:
      refuse(
        offset, "`\(name.string)` cannot be part of a script in `run`",
        help:
          "a value could contain shell code; write `env: { VALUE: \"${{ \(name.string) }}\" }` "
          + "and \"$VALUE\" in `run`")
    case .none:
      refuse(
        offset, "`\(name.string)` cannot be used here",
        help: "a task can use values of other tasks in `env`, `if`, items of a list `run`,"
          + " `download.url` and `download.sha256`")
    }
  }

  private func variable(_ name: ByteView, at offset: Int) -> ByteView? {
    let variable = name.part(5..<name.count)
    if let value = scope.variable(variable) { return value }
    let help =
      scope.suggestions.nearest(to: variable, among: scope.variableNames)
      .map { "did you mean `vars.\($0.string)`?" }
    refuse(
      offset, "unknown name `\(name.string)`",
      help: help
        ?? (scope.position == .variables
          ? "an entry of `vars` can use only the entries above it"
          : scope.isApart
            ? "declare `\(variable.string)` under `vars` of this file, or pass it with the "
              + "`include`: `vars: { \(variable.string): … }`"
            : "declare `\(variable.string)` under top-level `vars`"))
    return nil
  }

  private func refuse(_ offset: Int, _ message: String, help: String? = nil) {
    report(ExpressionError(offset: offset, message: message, help: help))
  }

  private func reportUnknown(_ name: ByteView, at offset: Int) {
    let help: String
    if name.hasPrefix("matrix.") {
      help =
        scope.suggestions.nearest(to: name.part(7..<name.count), among: scope.matrix.names.texts)
        .map { "did you mean `matrix.\($0.string)`?" } ?? scope.matrix.helpForUnknown
    } else if name.contains(UInt8(ascii: ".")) {
      help =
        ForeignExpression.help(for: name)
        ?? "an expression can use `vars.NAME`, `env.NAME`, `matrix.NAME`, `needs.ID.NAME`, "
        + "`task.id` and `run.id`"
    } else if scope.variable(name) != nil {
      help = "did you mean `vars.\(name.string)`?"
    } else if name == "not" {
      help = "write `!`"
    } else if name == "yes" || name == "on" {
      help = "write `true`"
    } else if name == "no" || name == "off" {
      help = "write `false`"
    } else {
      help = "put a string in quotes: '\(name.string)'; a variable is `vars.NAME` or `env.NAME`"
    }
    let isSecret = name.hasPrefix("secrets.") && scope.position != .headers
    refuse(
      offset,
      isSecret
        ? "`\(name.string)`: expressions cannot read secrets" : "unknown name `\(name.string)`",
      help: help)
  }

  private func isSimple(_ name: ByteView) -> Bool {
    !name.isEmpty && name.allSatisfy { ASCII.continuesName($0) }
  }
}

/// Records the variables that expressions read.
final class InheritedEnvironment {
  private lazy var values = Dictionary(
    entries.map { ($0.name, store.copy($0.value)) }, uniquingKeysWith: { first, _ in first })
  private var readNames: Set<String> = []
  private let entries: [(name: String, value: String)]
  private let store: TextStore

  init(_ entries: [(name: String, value: String)], store: TextStore) {
    (self.entries, self.store) = (entries, store)
  }

  func value(_ name: ByteView) -> ByteView? {
    readNames.insert(name.string)
    return values[name.string]
  }

  func hasRead(_ name: ByteView) -> Bool { readNames.contains(name.string) }

  /// Sorted; nil if not set.
  var read: [(name: String, value: String?)] {
    readNames.sorted().map { ($0, values[$0]?.string) }
  }
}
