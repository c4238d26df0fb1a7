/// One line at the bottom of a terminal that shows how far the run is.
struct LiveLine {
  var columns: Int
  private var isDrawn = false
  private var drawnMilliseconds: Int64 = .min

  static let redrawMilliseconds: Int64 = 100

  init(columns: Int) { self.columns = columns }

  /// Draws the line over the last one, unless that is hardly older.
  mutating func draw(
    _ model: ProgressModel, atMilliseconds now: Int64, into text: inout TextBuffer
  ) {
    let isRecent =
      now >= drawnMilliseconds && now - Self.redrawMilliseconds < drawnMilliseconds
    if isDrawn, isRecent { return }
    if isDrawn { text.add("\r\u{1b}[K") }
    text.add(content(model, atMilliseconds: now))
    isDrawn = true
    drawnMilliseconds = now
  }

  mutating func erase(from text: inout TextBuffer) {
    if isDrawn { text.add("\r\u{1b}[K") }
    isDrawn = false
  }

  private func content(_ model: ProgressModel, atMilliseconds now: Int64) -> String {
    let elapsed = DurationText.text(milliseconds: now - model.beganMilliseconds)
    var line = "[\(model.finished)/\(model.total)] \(elapsed)"
    if model.failed > 0 { line += ", \(model.failed) failed" }
    line += ", \(model.running.count) running"
    // No more names than the widest terminal shows; the oldest tasks are the ones to wonder about.
    for (index, running) in model.running.prefix(64).enumerated() {
      line += index == 0 ? ": " : ", "
      line += model.name(running.task)
      let age = now - running.startedMilliseconds
      if age >= 1000 { line += " \(DurationText.text(milliseconds: age))" }
    }
    // One column stays free, since a full line makes some terminals wrap.
    let room = max(1, columns - 1)
    return line.count <= room ? line : String(line.prefix(room - 1)) + "…"
  }
}
