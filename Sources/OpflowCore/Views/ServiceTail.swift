/// The last lines of a service, as they are told with the failure of a task that needs it: what was the matter
/// often stands there.
struct ServiceTail {
  let service: TaskID
  let bytes: [UInt8]

  /// Of each service.
  private static let mostLines = 10
  /// They are looked for in so many bytes of its output.
  static let mostBytes = 8192

  /// Writes the lines. Returns false when there are none.
  func write(_ model: DriveModel, _ palette: Palette, into text: inout TextBuffer) -> Bool {
    let lines = LastLines.of(bytes, count: Self.mostLines)
    if lines.isEmpty { return false }
    text.addSentence(palette.dim("  the last of \(model.name(service)), which it needs:"))
    text.endLine()
    for line in LineSlices(lines) {
      text.addSentence(palette.dim("  \(model.name(service)) | "))
      text.addOutput(line, palette)
      text.endLine()
    }
    return true
  }

  /// Says where the output of the service is, of which lines were shown with an earlier failure.
  func writePointer(
    _ path: String, _ model: DriveModel, _ palette: Palette, into text: inout TextBuffer
  ) {
    text.addSentence(palette.dim("  log of \(model.name(service)), which it needs: \(path)"))
    text.endLine()
  }
}
