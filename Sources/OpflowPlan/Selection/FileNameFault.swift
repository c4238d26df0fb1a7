/// Why the matches of a file pattern cannot be determined.
package struct FileNameFault: Error, Equatable, Sendable {
  /// Ends an error message.
  package var text: String
  package init(_ text: String) { self.text = text }
}
