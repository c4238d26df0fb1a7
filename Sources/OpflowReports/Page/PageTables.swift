internal import OpflowBase
internal import OpflowJournal
internal import OpflowPlan
internal import OpflowViews

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
      words(tries[task]?.last.map { OutcomeText.text($0.outcome, detail: $0.detail) } ?? "")
      words(status.state(task).word)
      html.add("</tr>\n")
    }
    html.add("</tbody></table></div>\n")
    more(tasks.count - Self.mostRows)
    html.add("</section>\n")
  }

  private mutating func writeResume() {
    guard status.history.sessions > 1 else { return }
    begin("resume", "What the resume did")
    let resume = ResumeEffects(status)
    html.add("<p>")
    html.text(
      "Drive \(status.history.sessions) took over the results of"
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
    let wall = DurationText.text(milliseconds: run.sessionsMilliseconds(at: run.lastMilliseconds))
    let counts = [
      (run.counts.succeeded + run.counts.upToDate, "succeeded"), (run.counts.failed, "failed"),
      (run.counts.failedAllowed, "failed (allowed)"), (run.counts.skipped, "skipped"),
      (run.counts.cancelled, "cancelled"), (run.counts.pending, "had no end"),
    ].filter { $0.0 > 0 }.map { "\(CountText.grouped($0.0)) \($0.1)" }
    let result = run.state == .running ? "goes on" : run.state.rawValue
    let words = counts.isEmpty ? "" : ": \(counts.joined(separator: ", "))"
    return "\(result) after \(wall)\(run.sessionWords)\(words)"
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

extension PageReport {
  private static let mostMachines = 100

  mutating func writeMachines() {
    let nodes = status.history.nodes.all
    if nodes.isEmpty { return }
    begin("machines", "Machines")
    html.add("<div class=\"scroll\"><table class=\"brief\"><thead><tr><th>machine</th>")
    html.add("<th class=\"n\">processors</th><th class=\"n\">memory</th><th class=\"n\">GPUs</th>")
    html.add("<th class=\"n\">joined</th><th class=\"n\">tries</th>")
    html.add("<th>became</th></tr></thead>\n<tbody>\n")
    var tries: [String: Int] = [:]
    for attempt in status.history.attempts.all {
      tries[status.history.attempts.host(of: attempt), default: 0] += 1
    }
    for node in nodes.prefix(Self.mostMachines) {
      html.add("<tr><td>")
      html.code(MachineText.name(node.offer.host))
      html.add("</td>")
      cell(node.offer.cores == 0 ? "" : "\(node.offer.cores)")
      cell(node.offer.memoryBytes == 0 ? "" : SizeText.text(bytes: node.offer.memoryBytes))
      cell(node.offer.gpus == 0 ? "" : "\(node.offer.gpus)")
      cell(since(node.joinedMilliseconds))
      cell(CountText.grouped(tries[node.offer.host] ?? 0))
      words(became(node))
      html.add("</tr>\n")
    }
    html.add("</tbody></table></div>\n")
    more(nodes.count - Self.mostMachines)
    html.add("</section>\n")
  }

  private func since(_ milliseconds: Int64) -> String {
    let passed = max(0, milliseconds.minus(status.openedMilliseconds))
    return "+\(DurationText.text(milliseconds: passed))"
  }

  /// Returns `is lost at +12s: its stream ended`; empty if it stayed.
  private func became(_ node: NodeRecord) -> String {
    if node.state == .joined { return "" }
    let detail = CleanText.string(node.detail)
    return "\(StatusMachines.word(node.state)), \(since(node.stateMilliseconds))"
      + (detail.isEmpty ? "" : ": \(detail)")
  }
}

/// What the newest session did with earlier results.
struct ResumeEffects {
  private(set) var reused = 0
  /// Tasks that run again by reason, largest group first.
  let again: [(why: String, tasks: [TaskID])]

  init(_ status: RunStatus) {
    let plan = status.plan
    for task in plan.tasks.lazy.map({ TaskID($0) })
    where status.included.contains(task) && Self.isReused(task, status) { reused += 1 }
    var groups: [String: [TaskID]] = [:]
    for (task, reason) in status.history.details.reruns where status.included.contains(task) {
      let why =
        if case .afterRerun = reason { "what they need ran again" } else {
          ReasonText.text(.rerun(reason), plan: plan)
        }
      groups[why, default: []].append(task)
    }
    again =
      groups
      .map { (why: $0.key, tasks: $0.value.sorted { $0.index < $1.index }) }
      .sorted { ($1.tasks.count, $0.why) < ($0.tasks.count, $1.why) }
  }

  static func isReused(_ task: TaskID, _ status: RunStatus) -> Bool {
    let sequence = status.history.settleSequence(task)
    return status.history.sessions > 1 && sequence > 0 && sequence < status.history.sessionSequence
  }
}
