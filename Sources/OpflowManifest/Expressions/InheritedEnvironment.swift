/// The environment of opflow. It records which variables expressions read.
final class InheritedEnvironment {
  private let entries: [(name: String, value: String)]
  /// The index of `entries`, filled on the first lookup.
  private var names = TextTable()
  private var values: [Text] = []
  private var readNames: Set<Int> = []
  private var unsetNames = TextTable()
  private let store: TextStore

  /// - Parameter store: Owns the texts.
  init(_ entries: [(name: String, value: String)], store: TextStore) {
    self.entries = entries
    self.store = store
  }

  /// Returns an empty text for a variable that is not set.
  func value(_ name: Text) -> Text { valueIfSet(name) ?? Text(start: nil, count: 0) }

  /// Returns nil for a variable that is not set.
  func valueIfSet(_ name: Text) -> Text? {
    if names.count == 0 {
      for (name, value) in entries where names.insert(store.copy(name)).isNew {
        values.append(store.copy(value))
      }
    }
    if let index = names.index(of: name) {
      readNames.insert(index)
      return values[index]
    }
    if unsetNames.index(of: name) == nil { _ = unsetNames.insert(store.copy(name)) }
    return nil
  }

  func hasRead(_ name: Text) -> Bool {
    unsetNames.index(of: name) != nil
      || names.index(of: name).map { readNames.contains($0) } ?? false
  }

  /// The variables that were read, sorted by name; nil for one that is not set.
  var read: [(name: String, value: String?)] {
    let set = readNames.map { index -> (name: String, value: String?) in
      (names.texts[index].string, values[index].string)
    }
    let unset = unsetNames.texts.map { text -> (name: String, value: String?) in (text.string, nil)
    }
    return (set + unset).sorted { $0.name < $1.name }
  }
}
