/// A property of a task that is one or several strings.
///
/// To add one: a case here with its key, a field in `TaskTexts`, an entry in `TaskKey.ofTexts`, and
/// the code that uses it.
package enum TaskText: Int, CaseIterable, Sendable {
  case description
  case tags
  case secrets

  /// In the manifest.
  package var word: StaticString {
    switch self {
    case .description: "desc"
    case .tags: "tags"
    case .secrets: "secrets"
    }
  }

  /// In the manifest.
  package enum Value: Sendable {
    case text
    /// Lists that are parsed differently.
    case tags, names
  }

  package var takes: Value {
    switch self {
    case .description: .text
    case .tags: .tags
    case .secrets: .names
    }
  }

  /// Tasks often share the value, so the plan stores it once.
  package var isCommon: Bool {
    switch self {
    case .description: false
    case .tags, .secrets: true
    }
  }
}

package struct TaskTexts: Hashable, Sendable, BitwiseCopyable {
  private var description: ListIndex = 0
  private var tags: ListIndex = 0
  private var secrets: ListIndex = 0

  package init() {}

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

  package func description(of task: TaskID) -> String {
    texts(.description, of: task).first.map { string($0) } ?? ""
  }
}
