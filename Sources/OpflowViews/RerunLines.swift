internal import OpflowCore

/// The tasks that a resume runs again, and why: the first ones by name, then the number of others.
struct RerunLines {
  private let line: TransitionLine
  /// The tasks so far, printed or not.
  private var count = 0

  private static let maxLines = 20

  init(_ line: TransitionLine) { self.line = line }

  mutating func add(_ transition: Transition, _ model: DriveModel, into text: inout TextBuffer) {
    count += 1
    if count <= Self.maxLines { line.write(transition, model, into: &text) }
  }

  mutating func end(into text: inout TextBuffer) {
    if count > Self.maxLines {
      text.add("… and \(count - Self.maxLines) more run again")
      text.endLine()
    }
    count = 0
  }
}
