internal import OpflowCore

/// The differences from the run before.
extension PageReport {
  private static let mostNames = 20
  private static let mostChanges = 10

  mutating func writeComparison() {
    guard let before, let comparison else { return }
    html.add("<section id=\"before-now\">\n<h2>Compared with the run before</h2>\n<p>")
    html.text("Run ")
    html.code(before.run)
    html.text(
      " of \(UTCText.text(milliseconds: before.openedMilliseconds)) \(Self.sentence(before)).")
    html.add("</p>\n")
    names("Failed now, and did not before", comparison.broken)
    names("Failed before, and went well now", comparison.fixed)
    names("Failed both times", comparison.stillFailing)
    names("New in the manifest", comparison.new)
    if comparison.goneCount > 0 {
      html.add("<p>")
      html.text("The manifest no longer has \(Self.tasks(comparison.goneCount)) of that run.")
      html.add("</p>\n")
    }
    changes(
      Array(comparison.slower.prefix(Self.mostChanges) + comparison.faster.prefix(Self.mostChanges))
    )
    html.add("</section>\n")
  }

  private static func sentence(_ run: RunStatus) -> String {
    let wall = DurationText.text(milliseconds: run.drivenMilliseconds(at: run.lastMilliseconds))
    let counts = [
      (run.counts.succeeded + run.counts.upToDate, "succeeded"), (run.counts.failed, "failed"),
      (run.counts.failedAllowed, "failed (allowed)"), (run.counts.skipped, "skipped"),
      (run.counts.cancelled, "cancelled"), (run.counts.pending, "had no end"),
    ].filter { $0.0 > 0 }.map { "\(CountText.grouped($0.0)) \($0.1)" }
    let result = run.state == .running ? "goes on" : run.state.rawValue
    let words = counts.isEmpty ? "" : ": \(counts.joined(separator: ", "))"
    return "\(result) after \(wall)\(run.driveWords)\(words)"
  }

  private mutating func names(_ title: String, _ tasks: [TaskID]) {
    if tasks.isEmpty { return }
    html.add("<p><b>")
    html.text("\(title) (\(CountText.grouped(tasks.count)))")
    html.add("</b> ")
    for (place, task) in tasks.prefix(Self.mostNames).enumerated() {
      if place > 0 { html.add(", ") }
      html.code(status.plan.nameString(task))
    }
    html.add(tasks.count > Self.mostNames ? ", …</p>\n" : "</p>\n")
  }

  /// Of tasks that succeeded both times.
  private mutating func changes(_ changes: [RunComparison.Change]) {
    if changes.isEmpty { return }
    html.add("<h3>Times that changed most</h3>\n<div class=\"scroll\"><table class=\"brief\">")
    html.add("<thead><tr><th>task</th>")
    html.add("<th class=\"n\">before</th><th class=\"n\">now</th><th class=\"n\">change</th>")
    html.add("<th></th></tr></thead>\n<tbody>\n")
    for change in changes {
      row(of: change.task)
      cell(Self.time(change.before))
      cell(Self.time(change.now))
      cell("\(change.difference < 0 ? "−" : "+")\(Self.time(abs(change.difference)))")
      html.add("<td></td></tr>\n")
    }
    html.add("</tbody></table></div>\n")
  }
}
