/// What a task says in a text or in several, for people or for whoever heeds it.
///
/// A new one is a case here, with its word and where its number stands in a plan (`TaskTexts`); a key of a task
/// (`TaskKey.ofTexts`); and whoever heeds it. What lies between the two, reading, comparing, checking and carrying,
/// and the look for secrets that are written there, is made of these.
package enum TaskText: Int, CaseIterable, Sendable {
  /// A line for people.
  case description
  case tags
  /// Names of those that it may know.
  case secrets

  /// The word of its key.
  package var word: StaticString {
    switch self {
    case .description: "desc"
    case .tags: "tags"
    case .secrets: "secrets"
    }
  }

  /// How a task says it.
  package enum Value: Sendable {
    /// One text, as it stands.
    case text
    /// One or several, with a reader of their own.
    case tags, names
  }

  package var takes: Value {
    switch self {
    case .description: .text
    case .tags: .tags
    case .secrets: .names
    }
  }

  /// Whether many tasks say the same, so that a plan has it once.
  package var isCommon: Bool {
    switch self {
    case .description: false
    case .tags, .secrets: true
    }
  }
}

/// What a task says in texts, as a plan has it: a list for each `TaskText`.
package struct TaskTexts: Hashable, Sendable, BitwiseCopyable {
  private var description: ListIndex = 0
  private var tags: ListIndex = 0
  private var secrets: ListIndex = 0

  package init() {}

  /// The list of one; the empty one where nothing was said.
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
  /// What a task says in those texts.
  package func texts(_ text: TaskText, of task: TaskID) -> Column<TextRef> {
    list(record(task).texts[text])
  }

  /// A task's line for people; empty for none.
  package func description(of task: TaskID) -> String {
    texts(.description, of: task).first.map { string($0) } ?? ""
  }
}
