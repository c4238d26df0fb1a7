/// Commands that later versions have: known, and refused with what serves instead today.
enum LaterCommands {
  /// What to say of a word that is one of them; nil for another.
  static func refusal(of word: String) -> String? {
    guard let command = all.first(where: { $0.name == word }) else { return nil }
    return "\(command.name): not supported yet" + (command.instead.map { "; \($0)" } ?? "")
  }

  static let all: [(name: String, instead: String?)] = [
    ("serve", nil),
    ("close", nil),
  ]
}
