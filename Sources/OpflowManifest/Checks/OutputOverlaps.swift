internal import OpflowCore

/// Finds outputs inside another task's output, and outputs that include a file of the manifest.
/// `WrittenPathCheck` finds equal outputs.
struct OutputOverlaps {
  let mistakes: Mistakes
  let outputs: FileTable
  let tasks: TaskList

  /// The work limit, in bytes compared.
  private static let mostCompared = 20_000_000

  /// - Parameter manifestFiles: Absolute paths.
  func check(manifestFiles: [String]) {
    if outputs.entries.isEmpty { return }
    var covers = CoverTable(outputs)
    var left = Self.mostCompared
    for file in manifestFiles {
      var file = file
      file.withUTF8 { bytes in
        let path = Text(bytes)
        covers.forEach(over: path, isPattern: false, left: &left) { number in
          guard let output = outputs.newest(of: number).first(where: { $0.place != nil }) else {
            return
          }
          reportManifest(output, path)
        }
      }
    }
    for (number, path) in outputs.paths.texts.enumerated() {
      var first: (FileTable.Entry, FileTable.Entry)?
      covers.forEach(over: path, isPattern: outputs.isPattern[number], left: &left) { outer in
        if first == nil { first = pair(number, outer) }
      }
      if let (inner, outer) = first { report(inner, outer) }
    }
  }

  /// Returns entries of two tasks. Pairs of downloads, and pairs of tasks of the run, are checked
  /// elsewhere.
  private func pair(_ inner: Int, _ outer: Int) -> (FileTable.Entry, FileTable.Entry)? {
    for a in outputs.newest(of: inner) {
      for b in outputs.newest(of: outer)
      where a.task != b.task && (a.place != nil || b.place != nil) {
        if !(a.traits.contains(.download) && b.traits.contains(.download)) { return (a, b) }
      }
    }
    return nil
  }

  private func report(_ inner: FileTable.Entry, _ outer: FileTable.Entry) {
    if mistakes.isFull { return mistakes.count() }
    let (path, around) = (outputs.text(inner).string, outputs.text(outer).string)
    let other = tasks.name(Int(outer.task)).string
    let inRun = inner.place != nil && outer.place != nil ? "" : " of the run"
    let message =
      inner.place == nil
      ? "`\(around)` takes in `\(path)`, which task "
        + "`\(tasks.name(Int(inner.task)).string)`\(inRun) leaves"
      : "`\(path)` is written twice: it is among `\(around)`, which task `\(other)`\(inRun) leaves"
    let notes = inner.place == nil ? nil : outer.place
    mistakes.add(
      Mistakes.Mistake(
        severity: .error, place: inner.place ?? outer.place, message: message,
        help: "two writers of one file destroy each other's work; let one task write it",
        notes: notes.map { [.init(place: $0, message: "`\(around)` is declared here")] } ?? []))
  }

  private func reportManifest(_ output: FileTable.Entry, _ file: Text) {
    let text = outputs.text(output).string
    let name = file.part(((file.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)..<file.count).string
    let loss = output.traits.loss
    mistakes.add(
      Mistakes.Mistake(
        severity: loss == nil ? .warning : .error, place: output.place,
        message: "`\(text)` takes in `\(name)`, a file of this manifest: "
          + (loss?.effect ?? "an edit of it counts as one of what the task leaves"),
        help: "name what the task leaves more narrowly"))
  }
}
