internal import OpflowBase
internal import OpflowEngine
internal import OpflowJournal
internal import OpflowPlan
internal import OpflowViews

extension PageReport {
  mutating func writeSummary() {
    let state = status.state.rawValue
    html.add(
      """
      <header>
      <p class="kind">opflow run <code>\(status.run)</code></p>
      <h1>\(status.name) <span class="state \(state)">\(Self.sign(status.state)) \(state)</span></h1>
      <p>\(why)</p>

      """)
    writeFacts()
    writeCounts()
    html.add("</header>\n<main>\n")
  }

  private static func sign(_ state: RunState) -> String {
    switch state {
    case .succeeded: "✔"
    case .failed: "✘"
    case .running: "▶"
    case .cancelled, .interrupted: "■"
    }
  }

  private mutating func writeFacts() {
    let began = UTCText.text(milliseconds: status.openedMilliseconds)
    html.add("<dl class=\"facts\">\n<div><dt>started</dt>")
    html.add("<dd><time datetime=\"\(began)\">\(began)</time></dd></div>\n")
    let took = status.sessionsMilliseconds(at: status.lastMilliseconds)
    fact("duration", DurationText.text(milliseconds: took))
    if status.history.sessions > 1 {
      let wall = status.lastMilliseconds - status.openedMilliseconds
      fact("wall time, first start to last end", DurationText.text(milliseconds: wall))
      fact("sessions", "\(status.history.sessions)")
    }
    let path = data.path
    if !path.tasks.isEmpty {
      let time = DurationText.text(microseconds: path.microseconds)
      fact("critical path", "\(time) in \(CountText.tasks(path.tasks.count))")
    }
    let processor = status.history.attempts.all.reduce(Int64(0)) { $0.plus($1.cpuMicroseconds) }
    if processor > 0 { fact("CPU time", DurationText.text(microseconds: processor)) }
    if let close = status.history.close { fact("exit code", "\(close.exitCode)") }
    if let manifest = status.history.open?.manifestPath {
      let name = manifest == "-" ? "standard input" : manifest
      html.add("<div><dt>manifest</dt><dd><code>\(name)</code></dd></div>\n")
    }
    html.add("</dl>\n")
  }

  private mutating func fact(_ name: String, _ text: String) {
    html.add("<div><dt>\(name)</dt><dd>\(text)</dd></div>\n")
  }

  private mutating func writeCounts() {
    let counts = status.counts
    let parts = counts.parts
    let noun = counts.total == 1 ? "task" : "tasks"
    html.add("<ul class=\"counts\">\n<li><b>\(CountText.grouped(counts.total))</b> \(noun)</li>\n")
    for (count, word, state) in parts {
      let number = CountText.grouped(count)
      html.add("<li><i class=\"\(Self.shade(state))\"></i><b>\(number)</b> \(word)</li>\n")
    }
    html.add("</ul>\n")
    guard counts.total > 0 else { return }
    html.add("<svg class=\"shares\" viewBox=\"0 0 1000 8\" preserveAspectRatio=\"none\" ")
    html.add("aria-hidden=\"true\">")
    let widths = parts.map { max(4, $0.count * 1000 / counts.total) }
    let sum = widths.reduce(0, +)
    var left = 0
    for (width, part) in zip(widths, parts) {
      let x = left * 1000 / sum
      let shade = Self.shade(part.state)
      html.add(
        "<rect y=\"0\" height=\"8\" x=\"\(x)\" width=\"\((left + width) * 1000 / sum - x)\" ")
      html.add("class=\"\(shade)\"></rect>")
      left += width
    }
    html.add("</svg>\n")
  }

  static func shade(_ state: TaskState) -> String {
    switch state {
    case .succeeded, .upToDate: "good"
    case .failed: "bad"
    case .failedAllowed, .cancelled, .suspended: "odd"
    case .running: "live"
    case .waiting, .ready, .checking, .prefetched, .skipped: "rest"
    }
  }

  // MARK: - Why

  private var why: String {
    let close = status.history.close
    var parts: [String] = []
    switch status.state {
    case .running: parts.append("The run was live when opflow wrote this page, at \(lastTime).")
    case .interrupted where close == nil:
      parts.append(
        "The run died: its opflow process is gone and recorded no end. Its last record is of"
          + " \(lastTime).")
    case .cancelled, .interrupted: parts.append("The run was \(status.stopWords).")
    case .succeeded where status.counts.total == status.counts.upToDate + status.counts.succeeded:
      parts.append("All tasks succeeded.")
    case .succeeded where status.counts.failedAllowed > 0:
      parts.append("No task failed, apart from allowed failures.")
    case .succeeded: parts.append("No task failed.")
    case .failed: break
    }
    if !failures.isEmpty { parts.append(failed) }
    if status.counts.pending > 0, status.state != .running {
      parts.append("\(Self.tasks(status.counts.pending, "is", "are")) pending.")
    }
    if status.state != .running, status.state != .succeeded {
      parts.append("To continue: \(resumeCommand)")
    }
    return parts.joined(separator: " ")
  }

  private var lastTime: String { UTCText.text(milliseconds: status.lastMilliseconds) }

  private var failed: String {
    let first = status.plan.nameString(failures[0])
    let outcome = status.outcome(of: failures[0])
    var text =
      failures.count == 1
      ? "\(first) failed: \(outcome)"
      : "\(CountText.grouped(failures.count)) tasks failed, \(first) first: \(outcome)"
    if culprits.total > 0 {
      let cause = failures.count == 1 ? "it" : "them"
      text += "; \(Self.tasks(culprits.total, "was", "were")) skipped because of \(cause)"
    }
    let limit = status.history.limits.maxFailures ?? 0
    if limit > 0, status.failuresOfSession.count >= limit, status.counts.pending > 0 {
      text += "; opflow then started no more tasks (--max-failures \(limit))"
    }
    return "\(text)."
  }

  /// Includes a verb: `1 task was`, `3 tasks were`.
  static func tasks(_ count: Int, _ one: String, _ many: String) -> String {
    "\(CountText.tasks(count)) \(count == 1 ? one : many)"
  }
}

extension PageReport {
  private static let mostFailures = 500
  private static let openFailures = 10
  private static let outputBytes = 16_384
  private static let outputLines = 20

  mutating func writeFailure(_ number: Int) -> Bool {
    guard number < min(failures.count, Self.mostFailures) else { return false }
    if number == 0 { html.add("<section id=\"failures\">\n<h2>Failures</h2>\n") }
    write(failures[number], isOpen: number < Self.openFailures)
    if number + 1 == min(failures.count, Self.mostFailures) {
      let hidden = failures.count - Self.mostFailures
      if hidden > 0 { html.add("<p>… and \(CountText.moreFailures(hidden))</p>\n") }
      html.add("</section>\n")
    }
    return true
  }

  private mutating func write(_ task: TaskID, isOpen: Bool) {
    let record = status.history[task]
    html.add("<article id=\"failure-\(numbers[task] ?? 0)\">\n<h3>")
    html.add("<code>\(status.plan.nameString(task))</code> \(status.outcome(of: task))</h3>\n")
    var facts: [String] = []
    if record.attempts > 0 {
      facts.append("after \(DurationText.text(microseconds: record.wallMicroseconds))")
    }
    if record.attempts > 1 { facts.append("attempt \(record.attempts)") }
    let cost = culprits.count(of: task)
    if cost > 0 { facts.append("\(Self.tasks(cost, "was", "were")) skipped because of it") }
    if let place = status.plan.place(of: task), place.path != "-" {
      facts.append("\(place.path):\(place.line)")
    }
    html.add("<p>\(facts.joined(separator: " · "))")
    let action = ActionText.text(task, plan: status.plan)
    if !action.isEmpty { html.add("<br><code>\(action)</code>") }
    html.add("</p>\n")
    writeOutput(of: task, attempt: record.attempts, isOpen: isOpen)
    html.add("</article>\n")
  }

  private mutating func writeOutput(of task: TaskID, attempt: Int32, isOpen: Bool) {
    guard attempt > 0, outputRoom > 0, let output = output(task, Self.outputBytes) else { return }
    let (bytes, isWhole) = output.tail(attempt: attempt)
    let tail = LastLines.of(bytes, count: Self.outputLines)
    if tail.isEmpty { return html.add("<p>The task printed nothing.</p>\n") }
    outputRoom -= tail.count
    let title = isWhole && tail.count >= bytes.count ? "output" : "end of the output"
    let name = QuotedWords.quoted(status.plan.nameString(task))
    html.add(isOpen ? "<details open><summary>" : "<details><summary>")
    html.add("\(title); to see all of it: ")
    html.add("<code>opflow logs --run \(status.run) \(name)</code></summary>\n")
    html.add("<pre tabindex=\"0\">")
    // An HTML parser drops a leading line feed.
    if tail.first == Field.lineFeed { html.add("\n") }
    for line in LineSlices(tail) { html.line(line) }
    html.add("</pre></details>\n")
  }
}

/// The number of tasks skipped because of each failure, also indirectly.
struct SkipCulprits {
  private var counts: [TaskID: Int] = [:]
  /// Skips with a known cause.
  private(set) var total = 0

  init(_ status: RunStatus) {
    let plan = status.plan
    guard status.counts.skipped > 0 else { return }
    var roots = [TaskID](repeating: .none, count: plan.taskCount)
    for index in plan.topologicalOrder {
      let task = TaskID(index)
      guard status.included.contains(task), status.state(task) == .skipped,
        case .skipped(.upstream(let need)) = status.history[task].why, !need.isNone
      else { continue }
      let root = roots[need.index].isNone ? need : roots[need.index]
      roots[task.index] = root
      counts[root, default: 0] += 1
      total += 1
    }
  }

  func count(of task: TaskID) -> Int { counts[task] ?? 0 }
}
