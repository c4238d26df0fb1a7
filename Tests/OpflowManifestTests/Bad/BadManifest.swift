import Testing

/// A manifest that must be refused, with the expected `line:column: message` of each error, in the
/// order of the file.
struct BadManifest: Sendable, CustomTestStringConvertible {
  var title: String
  var text: String
  var errors: [String]

  init(_ title: String, _ text: String, _ errors: String...) {
    self.title = title
    self.text = text
    self.errors = errors
  }

  /// A manifest with one task, `a`, that has these keys. They begin at line 3, column 5.
  init(_ title: String, task: String, _ errors: String...) {
    self.title = title
    text =
      "tasks:\n  a:\n"
      + task.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n")
    self.errors = errors
  }

  var testDescription: String { title }
}
