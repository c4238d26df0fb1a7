internal import OpflowCore
internal import OpflowViews

/// Failures with the end of their output.
extension PageReport {
  private static let mostFailures = 500
  /// The failures that are expanded at first.
  private static let openFailures = 10
  private static let outputBytes = 16_384
  private static let outputLines = 20

  /// False if there is none.
  mutating func writeFailure(_ number: Int) -> Bool {
    guard number < min(failures.count, Self.mostFailures) else { return false }
    if number == 0 { html.add("<section id=\"failures\">\n<h2>Failures</h2>\n") }
    write(failures[number], isOpen: number < Self.openFailures)
    if number + 1 == min(failures.count, Self.mostFailures) {
      if failures.count > Self.mostFailures {
        html.add("<p>… and ")
        html.text(CountText.moreFailures(failures.count - Self.mostFailures))
        html.add("</p>\n")
      }
      html.add("</section>\n")
    }
    return true
  }

  private mutating func write(_ task: TaskID, isOpen: Bool) {
    let record = status.history[task]
    html.add("<article id=\"failure-")
    html.number(numbers[task] ?? 0)
    html.add("\">\n<h3>")
    html.code(status.plan.nameString(task))
    html.add(" ")
    html.text(EndReasons(status).outcome(task))
    html.add("</h3>\n<p>")
    var facts: [String] = []
    if record.attempts > 0 {
      facts.append("after \(DurationText.text(microseconds: record.wallMicroseconds))")
    }
    if record.attempts > 1 { facts.append("try \(record.attempts)") }
    let cost = culprits.count(of: task)
    if cost > 0 { facts.append("\(Self.tasks(cost, "was", "were")) skipped because of it") }
    if let place = status.plan.place(of: task), place.path != "-" {
      facts.append("\(place.path):\(place.line)")
    }
    html.text(facts.joined(separator: " · "))
    let action = ActionText.text(task, plan: status.plan)
    if !action.isEmpty {
      html.add("<br>")
      html.code(action)
    }
    html.add("</p>\n")
    writeOutput(of: task, attempt: record.attempts, isOpen: isOpen)
    html.add("</article>\n")
  }

  private mutating func writeOutput(of task: TaskID, attempt: Int32, isOpen: Bool) {
    guard attempt > 0, outputRoom > 0, let output = output(task, Self.outputBytes) else { return }
    let (bytes, isWhole) = output.tail(attempt: attempt)
    let tail = LastLines.of(bytes, count: Self.outputLines)
    if tail.isEmpty {
      html.add("<p>It printed nothing.</p>\n")
      return
    }
    outputRoom -= tail.count
    html.add(isOpen ? "<details open><summary>" : "<details><summary>")
    html.add(
      isWhole && tail.count >= bytes.count ? "what it printed, " : "the end of what it printed, ")
    html.code("opflow logs --run \(status.run) \(QuotedWords.quoted(status.plan.nameString(task)))")
    html.add("</summary>\n<pre tabindex=\"0\">")
    // An HTML parser drops a leading line feed.
    if tail.first == Field.lineFeed { html.add("\n") }
    for line in LineSlices(tail) { html.line(line) }
    html.add("</pre></details>\n")
  }
}
