/// The last lines of a service, as they are told with the failure of a task that needs it: what was the matter
/// often stands there.
struct ServiceTail {
  let service: TaskID
  let bytes: [UInt8]

  /// Of each service.
  private static let mostLines = 10
  /// They are looked for in so many bytes of its output.
  static let mostBytes = 8192

  func write(_ model: DriveModel, _ palette: Palette, into text: inout TextBuffer) {
    let lines = LastLines.of(bytes, count: Self.mostLines)
    if lines.isEmpty { return }
    text.addSentence(palette.dim("  the last of \(model.name(service)), which it needs:"))
    text.endLine()
    for line in LineSlices(lines) {
      text.addSentence(palette.dim("  \(model.name(service)) | "))
      text.addOutput(line, palette)
      text.endLine()
    }
  }
}
