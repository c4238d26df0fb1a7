internal import OpflowBase
package import OpflowJournal
internal import OpflowPlan
internal import OpflowViews

/// The summary that GitHub shows for a step, in Markdown: failures with the end of their output,
/// allowed failures, flaky and retried tasks, and the slowest tasks.
package struct StepSummary {
  private let status: RunStatus
  private let resumeCommand: String
  private let output: OutputSource

  private static let mostRows = 20
  private static let mostTailBytes = 16_384

  package init(_ status: RunStatus, resumeCommand: String, output: @escaping OutputSource) {
    self.status = status
    self.resumeCommand = resumeCommand
    self.output = output
  }

  package func text(atMost room: Int) -> [UInt8] {
    var text = Array(head.utf8)
    let tables = Array((allowed + retried + slowest).utf8)
    if text.count > room { return [] }
    let failed = RunFailures.of(status)
    // Failures get the room that the tables leave.
    let left = max(room - tables.count - 200, text.count)
    var told = 0
    for task in failed {
      var block: [UInt8] = []
      write(task, into: &block)
      if text.count + block.count > left { break }
      text += block
      told += 1
    }
    if told < failed.count {
      let rest =
        told > 0
        ? "… and \(CountText.moreFailures(failed.count - told))"
        : "\(CountText.failures(failed.count)), too long for this summary"
      text += Array("\n\(rest)\n".utf8)
    }
    if text.count + tables.count <= room { text += tables }
    return text.count <= room ? text : []
  }

  private var head: String {
    let state = status.history.close?.state ?? .interrupted
    let counts = [
      (status.counts.succeeded, "succeeded"), (status.counts.upToDate, "up to date"),
      (status.counts.failed, "failed"), (status.counts.failedAllowed, "failed (allowed)"),
      (status.counts.skipped, "skipped"), (status.counts.cancelled, "cancelled"),
      (status.counts.pending, "pending"),
    ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    let wall = DurationText.text(
      milliseconds: status.sessionsMilliseconds(at: status.lastMilliseconds))
    return """
      ### \(Self.code(status.name)) \(state.rawValue)

      \(counts.isEmpty ? "nothing to do" : counts) in \(wall)\(status.sessionWords), \
      run \(Self.code(status.run))
      \(rest)
      """
  }

  /// Empty after success.
  private var rest: String {
    let state = status.history.close?.state ?? .interrupted
    if state == .succeeded { return "" }
    var lines: [String] = []
    if state != .failed { lines.append("The run was \(Self.escaped(status.stopWords)).") }
    var (cut, unstarted): ([TaskID], [TaskID]) = ([], [])
    for task in status.plan.tasks.lazy.map({ TaskID($0) }) where status.included.contains(task) {
      switch status.state(task) {
      case .waiting, .ready, .checking, .cancelled:
        let hasBegun = status.isCut(task) || status.state(task) == .cancelled
        if hasBegun, status.history[task].attempts > 0 {
          cut.append(task)
        } else {
          unstarted.append(task)
        }
      case .prefetched, .running, .suspended, .succeeded, .upToDate, .failedAllowed, .failed,
        .skipped:
        break
      }
    }
    if !cut.isEmpty { lines.append("Interrupted: \(names(cut)).") }
    if !unstarted.isEmpty { lines.append("Not started: \(names(unstarted)).") }
    lines.append("To continue: \(Self.code(resumeCommand))")
    return "\n" + lines.joined(separator: "\n\n") + "\n"
  }

  private func names(_ tasks: [TaskID]) -> String {
    let shown = tasks.prefix(Self.mostRows).map { Self.code(status.plan.nameString($0)) }
    let more = tasks.count - shown.count
    let rest = more > 0 ? " … and \(CountText.grouped(more)) more" : ""
    return shown.joined(separator: ", ") + rest
  }

  private func write(_ task: TaskID, into text: inout [UInt8]) {
    let record = status.history[task]
    let time = DurationText.text(microseconds: record.wallMicroseconds)
    let number = record.attempts > 1 ? " (attempt \(record.attempts))" : ""
    let detail = Self.escaped(status.outcome(of: task))
    let title = "\(Self.code(status.plan.nameString(task))): \(detail) after \(time)\(number)"
    guard record.attempts > 0, let output = output(task, Self.mostTailBytes) else {
      text += Array("\n- \(title)\n".utf8)
      return
    }
    let (bytes, _) = output.tail(attempt: record.attempts)
    var tail: [UInt8] = []
    for line in LineSlices(LastLines.of(bytes, count: ProgressView.failureLines)) {
      line.withUnsafeBytes { CleanText.append($0, to: &tail) }
      tail.append(Field.lineFeed)
    }
    let fence = Self.fence(around: tail)
    text += Array("\n<details open><summary>\(title)</summary>\n\n\(fence)text\n".utf8)
    text += tail
    text += Array("\(fence)\n\n\(Self.code(output.path))\n\n</details>\n".utf8)
  }

  private var allowed: String {
    table("Failed (allowed)", "| task | outcome |\n| --- | --- |", RunFailures.allowed(status)) {
      Self.escaped(status.outcome(of: $0))
    }
  }

  private var retried: String {
    let tasks = status.history.details.failedTries.keys
      .filter { status.included.contains($0) }.sorted { $0.index < $1.index }
    return retried("Flaky", tasks.filter { status.state($0) == .succeeded })
      + retried("Retried", tasks.filter { status.state($0) != .succeeded })
  }

  private func retried(_ title: String, _ tasks: [TaskID]) -> String {
    table(title, "| task | attempts | last failed attempt |\n| --- | ---: | --- |", tasks) { task in
      let before = status.history.details.failedTries[task]?.last?.text ?? ""
      return "\(status.history[task].attempts) | \(Self.escaped(before))"
    }
  }

  private var slowest: String {
    let longest = SlowestTasks.of(status, most: Self.mostRows).map(\.task)
    return table("Slowest", "| task | time |\n| --- | ---: |", longest) {
      DurationText.text(microseconds: status.history[$0].wallMicroseconds)
    }
  }

  private func table(
    _ title: String, _ header: String, _ tasks: [TaskID], _ cells: (TaskID) -> String
  ) -> String {
    if tasks.isEmpty { return "" }
    var text = "\n#### \(title)\n\n\(header)\n"
    for task in tasks.prefix(Self.mostRows) {
      text += "| \(Self.code(status.plan.nameString(task))) | \(cells(task)) |\n"
    }
    let more = tasks.count - Self.mostRows
    return text + (more > 0 ? "\n… and \(more) more\n" : "")
  }

  private static func fence(around text: [UInt8]) -> String {
    var longest = 2
    var count = 0
    for byte in text {
      count = byte == UInt8(ascii: "`") ? count + 1 : 0
      longest = max(longest, count)
    }
    return String(repeating: "`", count: longest + 1)
  }

  private static func code(_ text: String) -> String { "<code>\(escaped(text))</code>" }

  /// Escapes characters that Markdown or HTML may interpret.
  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in CleanText.string(text).unicodeScalars {
      switch scalar {
      case "a"..."z", "A"..."Z", "0"..."9", " ", ".", "/", "-", "=":
        escaped.unicodeScalars.append(scalar)
      case _ where scalar.isASCII: escaped += "&#\(scalar.value);"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
