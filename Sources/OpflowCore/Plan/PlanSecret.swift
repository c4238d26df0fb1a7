/// A secret of the manifest, as a plan holds it: where its value comes from, and never the value.
package struct SecretEntry: Hashable, Sendable, BitwiseCopyable {
  package enum Source: UInt32, Sendable {
    /// A variable of the environment that opflow is given.
    case environment
    /// An absolute path.
    case file
    /// The words of a command.
    case command
  }

  /// Of the variable in which tasks find it.
  package var name: TextRef
  /// `Source`.
  package var source: UInt32
  /// The variable's name, or the path.
  package var text: TextRef = .empty
  /// Of a command.
  package var words: ListIndex = 0

  package init(name: TextRef, source: Source) {
    self.name = name
    self.source = source.rawValue
  }
}

/// Where a secret's value comes from.
package enum SecretSource: Equatable, Sendable {
  case environment(String)
  case file(String)
  case command([String])
}

/// A secret that the manifest speaks of.
package struct SecretSpec: Equatable, Sendable {
  package let name: String
  package let source: SecretSource
}

extension Plan {
  /// In the order in which the manifest speaks of them.
  package var secrets: [SecretSpec] {
    secretEntries.map { entry in
      let source: SecretSource =
        switch SecretEntry.Source(rawValue: entry.source) {
        case .file: .file(string(entry.text))
        case .command: .command(list(entry.words).map { string($0) })
        case .environment, nil: .environment(string(entry.text))
        }
      return SecretSpec(name: string(entry.name), source: source)
    }
  }

  /// The names of the variables that values come from.
  package var secretVariables: [[UInt8]] {
    secretEntries.filter { $0.source == SecretEntry.Source.environment.rawValue }
      .map { Array(text($0.text)) }
  }

  package var hasSecrets: Bool { !secretEntries.isEmpty }

  /// The names of those that a task may know.
  package func secretNames(_ task: TaskID) -> [String] {
    texts(.secrets, of: task).map { string($0) }
  }
}
