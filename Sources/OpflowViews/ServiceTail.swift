internal import OpflowCore

/// The last lines of a service, shown with a dependent's failure, because they often hold the
/// cause.
struct ServiceTail {
  let service: TaskID
  let bytes: [UInt8]

  private static let mostLines = 10
  /// The last bytes of output in which the lines are looked for.
  static let mostBytes = 8192

  /// Writes the lines; returns false if there are none.
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

  /// Writes where the log is, if an earlier failure showed the lines already.
  func writePointer(
    _ path: String, _ model: DriveModel, _ palette: Palette, into text: inout TextBuffer
  ) {
    text.addSentence(palette.dim("  log of \(model.name(service)), which it needs: \(path)"))
    text.endLine()
  }
}
