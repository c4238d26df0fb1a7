/// Why the names that a pattern fits cannot be found.
package struct FileNameFault: Error, Equatable, Sendable {
  /// As the end of a mistake.
  package var text: String
  package init(_ text: String) { self.text = text }
}
