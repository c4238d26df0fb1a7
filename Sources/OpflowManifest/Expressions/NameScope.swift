/// What the names in expressions stand for while a manifest is read: grows from its top-level keys,
/// then changes with each task.
final class NameScope {
  /// Where an expression stands, which decides what it may speak of.
  enum Position: Equatable {
    /// Top-level `vars`: the inherited environment only.
    case variables
    /// Top-level `env`: that, and over it what files of variables say.
    case environment
    case top
    case task
    /// `headers` of a download, which may speak of secrets.
    case headers
  }

  var position = Position.top
  private(set) var variables = TextTable()
  private var variableValues: [Text] = []
  /// Of the file whose variables this one's file sees where it has none of its own of that name.
  var outer: NameScope?
  private(set) var environment = TextTable()
  private(set) var environmentValues: [Text] = []
  /// What `matrix.NAME` stands for in the task being read.
  var matrix = MatrixScope()
  var taskID: Text?

  /// Those of all files of the manifest.
  let secrets: SecretScope
  /// `interactive` tasks that are to be run where there is no terminal.
  var tasksWithoutTerminal: Set<String> = []
  /// Whether a task's own keys are read.
  var isInTask = false
  /// What of other tasks may be spoken of here.
  var valuePlace = ValuePlace.none
  /// Values that were spoken of since this was emptied.
  var valuesRead: [(reference: Text, offset: Int)] = []
  let runID: Text
  let inherited: InheritedEnvironment
  /// Whether `run.id` gives a constant instead of the run's id: for fingerprints.
  var hidesRunID = false
  /// Set when an expression speaks of `run.id` or of `task.id`.
  var sawRunID = false
  var sawTaskID = false

  /// Set when an expression speaks of `matrix.NAME`.
  var sawMatrix = false

  /// Whether it is of a file that is included with `as`, which knows just the variables passed to it.
  var isApart = false

  let suggestions: Suggestions
  /// Texts that live as long as the scope.
  let store: TextStore
  /// Texts of literals, as long as the scope as well: there are few.
  let literals: TextStore

  init(runID: String, inheritedEnvironment: [(name: String, value: String)]) {
    store = TextStore()
    literals = TextStore()
    suggestions = Suggestions()
    inherited = InheritedEnvironment(inheritedEnvironment, store: store)
    self.runID = store.copy(runID)
    secrets = SecretScope(store)
  }

  /// Of another file of the same manifest, with no variable and no environment of its own yet.
  init(besides other: NameScope) {
    (store, literals, suggestions) = (other.store, other.literals, other.suggestions)
    (inherited, runID) = (other.inherited, other.runID)
    secrets = other.secrets
    tasksWithoutTerminal = other.tasksWithoutTerminal
  }

  func setVariable(_ name: Text, _ value: Text) {
    let (index, isNew) = variables.insert(name)
    if isNew { variableValues.append(value) } else { variableValues[index] = value }
  }

  func setEnvironment(_ name: Text, _ value: Text) {
    let (index, isNew) = environment.insert(name)
    if isNew { environmentValues.append(value) } else { environmentValues[index] = value }
  }

  func variable(_ name: Text) -> Text? {
    variables.index(of: name).map { variableValues[$0] } ?? outer?.variable(name)
  }

  /// Of all variables that expressions may read here.
  var variableNames: some Sequence<Text> {
    [variables.texts, outer?.variables.texts ?? []].joined()
  }

  /// The value of an environment variable, as the expression's place sees it; empty when unset.
  func environmentValue(_ name: Text) -> Text {
    switch position {
    case .top, .task, .environment, .headers:
      if let index = environment.index(of: name) { return environmentValues[index] }
    case .variables: break
    }
    return inherited.value(name)
  }
}

/// The names of a `matrix`, and the values that they have in one leg.
struct MatrixScope {
  /// Whose names are asked for.
  enum Owner {
    /// A task without a `matrix`, or what is no task.
    case none
    /// The `matrix` itself, whose values are made before there are legs.
    case matrix
    case leg
  }

  var owner = Owner.none
  private(set) var names = TextTable()
  /// Of a leg; none where there is none, and names stand for nothing.
  private var values: [Text] = []

  init(owner: Owner = .none) { self.owner = owner }

  /// Of a task whose legs are not known.
  init(names: TextTable) {
    owner = .leg
    self.names = names
  }

  /// Of a task whose legs have names that are not known yet.
  static var ofAnyNames: MatrixScope {
    var scope = MatrixScope(owner: .leg)
    scope.hasAnyName = true
    return scope
  }

  private var hasAnyName = false

  /// Goes on to another leg.
  mutating func setValues(_ values: some Sequence<Text>) {
    self.values.removeAll(keepingCapacity: true)
    self.values.append(contentsOf: values)
  }

  func value(_ name: Text) -> Text? {
    if let index = names.index(of: name) {
      return index < values.count ? values[index] : Text(start: nil, count: 0)
    }
    return hasAnyName ? Text(start: nil, count: 0) : nil
  }

  var helpForUnknown: String {
    switch owner {
    case .none: "only a task with a `matrix` has such names"
    case .matrix: "a `matrix` is made before its legs; say it in `exclude` or `include`"
    case .leg: "the task's `matrix` has no such name"
    }
  }
}

/// The names of one text's expressions: a scope, and where to say what is wrong.
struct ScopedNames: ExpressionNames {
  let scope: NameScope
  let report: (ExpressionMistake) -> Void

  func value(of name: Text, at offset: Int) -> Text {
    let empty = Text(start: nil, count: 0)
    if name.hasPrefix("vars.") { return variable(name, at: offset) ?? empty }
    if name.hasPrefix("env."), isSimple(name.part(4..<name.count)) {
      if scope.secrets.contains(name.part(4..<name.count)) { return secret(name, at: offset) }
      return scope.environmentValue(name.part(4..<name.count))
    }
    if scope.position == .headers, name.hasPrefix("secrets."),
      isSimple(name.part(8..<name.count))
    {
      let secret = name.part(8..<name.count)
      if scope.secrets.isUnknown(secret) {
        report(
          ExpressionMistake(
            offset: offset, message: SecretText.isUnknown(secret),
            help: SecretText.helpForUnknown(secret)))
      }
      if let missing = scope.secrets.missing(secret, scope.taskID) {
        report(
          ExpressionMistake(
            offset: offset, message: missing.message(secret.string), help: missing.help))
      }
      if let set = scope.secrets.whereSet(secret) {
        report(
          ExpressionMistake(
            offset: offset, message: SecretText.isSet(secret, as: set.variable),
            help: SecretText.helpForSet))
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
      report(
        ExpressionMistake(
          offset: offset, message: "`task.id` has no value outside of a task", help: nil))
      return empty
    }
    if name.hasPrefix("matrix.") {
      scope.sawMatrix = true
      if let value = scope.matrix.value(name.part(7..<name.count)) { return value }
    }
    report(unknown(name, at: offset))
    return empty
  }

  /// A variable that no expression may read, since what comes of it is written down.
  private func secret(_ name: Text, at offset: Int) -> Text {
    let variable = name.part(4..<name.count).string
    report(
      ExpressionMistake(
        offset: offset, message: "`\(name.string)` is a secret, which no expression may read",
        help: "a task that lists it in `secrets` finds it in its environment as `$\(variable)`"))
    return Text(start: nil, count: 0)
  }

  /// A value of another task: nothing yet.
  private func noteValue(_ name: Text, at offset: Int) {
    switch scope.valuePlace {
    case .late: scope.valuesRead.append((name, offset))
    case .script:
      report(
        ExpressionMistake(
          offset: offset, message: "`\(name.string)` cannot stand in a string `run`: use env",
          help:
            "text from a task is no shell code; write `env: { VALUE: \"${{ \(name.string) }}\" }` and"
            + " \"$VALUE\" in `run`"))
    case .none:
      report(
        ExpressionMistake(
          offset: offset, message: "`\(name.string)` cannot stand here",
          help: "a value of another task may stand in a task's `env`, `if`, items of a list `run`,"
            + " `download.url` and `download.sha256`"))
    }
  }

  private func variable(_ name: Text, at offset: Int) -> Text? {
    let variable = name.part(5..<name.count)
    if let value = scope.variable(variable) { return value }
    let help =
      scope.suggestions.nearest(to: variable, among: scope.variableNames)
      .map { "did you mean `vars.\($0.string)`?" }
    report(
      ExpressionMistake(
        offset: offset, message: "unknown name `\(name.string)`",
        help: help
          ?? (scope.position == .variables
            ? "a value in `vars` sees only the entries above it"
            : scope.isApart
              ? "declare `\(variable.string)` under `vars` of this file, or pass it where the file is"
                + " included: `vars: { \(variable.string): … }`"
              : "declare `\(variable.string)` under top-level `vars`")))
    return nil
  }

  private func unknown(_ name: Text, at offset: Int) -> ExpressionMistake {
    let help: String
    if name.hasPrefix("matrix.") {
      help =
        scope.suggestions.nearest(to: name.part(7..<name.count), among: scope.matrix.names.texts)
        .map { "did you mean `matrix.\($0.string)`?" } ?? scope.matrix.helpForUnknown
    } else if name.contains(UInt8(ascii: ".")) {
      help =
        ForeignExpression.help(for: name)
        ?? "an expression knows `vars.NAME`, `env.NAME`, `matrix.NAME`, `task.id` and `run.id`"
    } else if scope.variable(name) != nil {
      help = "did you mean `vars.\(name.string)`?"
    } else if name == "not" {
      help = "write `!`"
    } else {
      help = "a text needs quotes: '\(name.string)'; a variable is `vars.NAME` or `env.NAME`"
    }
    return ExpressionMistake(
      offset: offset, message: "unknown name `\(name.string)`", help: help)
  }

  private func isSimple(_ name: Text) -> Bool {
    !name.isEmpty && name.allSatisfy { ASCII.continuesName($0) }
  }
}
