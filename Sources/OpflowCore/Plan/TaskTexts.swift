/// A property of a task that is one or several strings.
///
/// To add one: a case here with its key, a field in `TaskTexts`, an entry in `TaskKey.ofTexts`, and
/// the code that uses it. The rest is generic, including the search for embedded secrets.
package enum TaskText: Int, CaseIterable, Sendable {
  /// One line for the user.
  case description
  case tags
  /// The names of the secrets that the task may read.
  case secrets

  /// The key in the manifest.
  package var word: StaticString {
    switch self {
    case .description: "desc"
    case .tags: "tags"
    case .secrets: "secrets"
    }
  }

  /// The value's form in the manifest.
  package enum Value: Sendable {
    /// One string.
    case text
    /// A list; tags and names are parsed differently.
    case tags, names
  }

  package var takes: Value {
    switch self {
    case .description: .text
    case .tags: .tags
    case .secrets: .names
    }
  }

  /// Whether tasks often share the value, so that the plan stores it once.
  package var isCommon: Bool {
    switch self {
    case .description: false
    case .tags, .secrets: true
    }
  }
}

/// The string properties of a task in a plan: a list per `TaskText`.
package struct TaskTexts: Hashable, Sendable, BitwiseCopyable {
  private var description: ListIndex = 0
  private var tags: ListIndex = 0
  private var secrets: ListIndex = 0

  package init() {}

  /// The list of a property; the empty list if the task does not set it.
  package subscript(text: TaskText) -> ListIndex {
    get {
      switch text {
      case .description: description
      case .tags: tags
      case .secrets: secrets
      }
    }
    set {
      switch text {
      case .description: description = newValue
      case .tags: tags = newValue
      case .secrets: secrets = newValue
      }
    }
  }
}

extension Plan {
  package func texts(_ text: TaskText, of task: TaskID) -> Column<TextRef> {
    list(record(task).texts[text])
  }

  /// The task's description; empty if it has none.
  package func description(of task: TaskID) -> String {
    texts(.description, of: task).first.map { string($0) } ?? ""
  }
}
