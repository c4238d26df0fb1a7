/// The source of a secret's value, never the value.
package struct SecretEntry: Hashable, Sendable, BitwiseCopyable {
  package enum Source: UInt32, Sendable {
    case environment
    /// Absolute.
    case file
    case command
  }

  package var name: TextRef
  package var source: UInt32
  package var text: TextRef = .empty
  package var words: ListIndex = 0

  package init(name: TextRef, source: Source) {
    self.name = name
    self.source = source.rawValue
  }
}

package enum SecretSource: Equatable, Sendable {
  case environment(String)
  case file(String)
  case command([String])
}

package struct SecretSpec: Equatable, Sendable {
  package let name: String
  package let source: SecretSource
}

extension Plan {
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

  package var secretVariables: [[UInt8]] {
    secretEntries.filter { $0.source == SecretEntry.Source.environment.rawValue }
      .map { Array(text($0.text)) }
  }

  package var hasSecrets: Bool { !secretEntries.isEmpty }

  package func secretNames(_ task: TaskID) -> [String] {
    texts(.secrets, of: task).map { string($0) }
  }
}
