internal import OpflowCore
internal import OpflowViews

/// The slowest tasks, retries, and effects of a resume.
extension PageReport {
  private static let mostRows = 20

  mutating func writeTables() {
    writeSlowest()
    writeRetried()
    writeResume()
    writeComparison()
    writeMachines()
  }

  private mutating func writeSlowest() {
    let longest = SlowestTasks.of(status, most: Self.mostRows)
    guard let first = longest.first else { return }
    begin("slowest", "Slowest")
    html.add("<div class=\"scroll\"><table class=\"brief\"><thead><tr><th>task</th>")
    html.add("<th class=\"n\">time</th>")
    html.add("<th class=\"n\">processor time</th><th></th></tr></thead>\n<tbody>\n")
    let tries = LastTries(status)
    for (task, wall) in longest {
      row(of: task)
      cell(Self.time(wall))
      cell(tries[task].map { Self.time($0.cpuMicroseconds) } ?? "")
      html.add("<td><svg class=\"bar\" viewBox=\"0 0 100 1\" preserveAspectRatio=\"none\" ")
      html.add("aria-hidden=\"true\"><rect height=\"1\" class=\"")
      html.text(Self.shade(status.state(task)))
      html.add("\" width=\"")
      html.number(max(1, Int(100 * Double(wall) / Double(max(1, first.wall)))))
      html.add("\"></rect></svg></td></tr>\n")
    }
    html.add("</tbody></table></div>\n</section>\n")
  }

  private mutating func writeRetried() {
    let tries = status.history.details.failedTries
    let tasks = tries.keys.filter { status.included.contains($0) }.sorted {
      (tries[$1]?.count ?? 0, $0.index) < (tries[$0]?.count ?? 0, $1.index)
    }
    if tasks.isEmpty { return }
    begin("retried", "Tried again")
    html.add("<div class=\"scroll\"><table class=\"brief\"><thead><tr><th>task</th>")
    html.add("<th class=\"n\">tries</th>")
    html.add("<th>the one before ended with</th><th>now</th></tr></thead>\n<tbody>\n")
    for task in tasks.prefix(Self.mostRows) {
      row(of: task)
      cell("\(status.history[task].attempts)")
      words(tries[task]?.last.map { OutcomeText.text($0.outcome, what: $0.what) } ?? "")
      words(status.state(task).word)
      html.add("</tr>\n")
    }
    html.add("</tbody></table></div>\n")
    more(tasks.count - Self.mostRows)
    html.add("</section>\n")
  }

  /// What the newest session kept, and what it ran again and why.
  private mutating func writeResume() {
    guard status.history.drives > 1 else { return }
    begin("resume", "What the resume did")
    let resume = ResumeEffects(status)
    html.add("<p>")
    html.text(
      "Drive \(status.history.drives) took over the results of"
        + " \(Self.tasks(resume.reused)): neither their definitions nor what they need had changed."
    )
    html.add("</p>\n")
    if !resume.again.isEmpty {
      html.add("<div class=\"scroll\"><table class=\"brief\"><thead><tr><th>ran again</th>")
      html.add("<th class=\"n\">tasks</th>")
      html.add("<th>among them</th></tr></thead>\n<tbody>\n")
      for group in resume.again.prefix(Self.mostRows) {
        html.add("<tr>")
        words(group.why)
        cell(CountText.grouped(group.tasks.count))
        html.add("<td>")
        for (place, task) in group.tasks.prefix(3).enumerated() {
          if place > 0 { html.add(", ") }
          html.code(status.plan.nameString(task))
        }
        html.add(group.tasks.count > 3 ? ", …</td></tr>\n" : "</td></tr>\n")
      }
      html.add("</tbody></table></div>\n")
      more(resume.again.count - Self.mostRows)
    }
    html.add("</section>\n")
  }

  /// Distinguishes shorter times than `DurationText`.
  static func time(_ microseconds: Int64) -> String {
    if microseconds >= 100_000 { return DurationText.text(microseconds: microseconds) }
    return microseconds < 1000 ? "<1ms" : "\(microseconds / 1000)ms"
  }

  // MARK: - Parts of tables

  mutating func begin(_ id: StaticString, _ title: StaticString) {
    html.add("<section id=\"")
    html.add(id)
    html.add("\">\n<h2>")
    html.add(title)
    html.add("</h2>\n")
  }

  mutating func row(of task: TaskID) {
    html.add("<tr><td>")
    html.code(status.plan.nameString(task))
    html.add("</td>")
  }

  mutating func cell(_ number: String) {
    html.add("<td class=\"n\">")
    html.text(number)
    html.add("</td>")
  }

  mutating func words(_ text: String) {
    html.add("<td>")
    html.text(text)
    html.add("</td>")
  }

  mutating func more(_ count: Int) {
    if count <= 0 { return }
    html.add("<p>… and ")
    html.text(CountText.grouped(count))
    html.add(" more</p>\n")
  }
}
