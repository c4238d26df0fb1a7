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
    begin("slowest", "Slowest tasks")
    beginTable("<th>task</th><th class=\"n\">time</th><th class=\"n\">CPU time</th><th></th>")
    let tries = LastTries(status)
    for (task, wall) in longest {
      row(of: task)
      cell(Self.time(wall))
      cell(tries[task].map { Self.time($0.cpuMicroseconds) } ?? "")
      let width = max(1, Int(100 * Double(wall) / Double(max(1, first.wall))))
      html.add("<td><svg class=\"bar\" viewBox=\"0 0 100 1\" preserveAspectRatio=\"none\" ")
      html.add(
        "aria-hidden=\"true\"><rect height=\"1\" class=\"\(Self.shade(status.state(task)))\" ")
      html.add("width=\"\(width)\"></rect></svg></td></tr>\n")
    }
    endTable()
    html.add("</section>\n")
  }

  private mutating func writeRetried() {
    let tries = status.history.details.failedTries
    let tasks = tries.keys.filter { status.included.contains($0) }.sorted {
      (tries[$1]?.count ?? 0, $0.index) < (tries[$0]?.count ?? 0, $1.index)
    }
    if tasks.isEmpty { return }
    begin("retried", "Retried tasks")
    beginTable(
      "<th>task</th><th class=\"n\">attempts</th><th>last failed attempt</th><th>state</th>")
    for task in tasks.prefix(Self.mostRows) {
      row(of: task)
      cell("\(status.history[task].attempts)")
      words(tries[task]?.last?.text ?? "")
      words(status.state(task).word)
      html.add("</tr>\n")
    }
    endTable(more: tasks.count - Self.mostRows)
    html.add("</section>\n")
  }

  private mutating func writeResume() {
    guard status.history.sessions > 1 else { return }
    begin("resume", "The last resume")
    let resume = ResumeEffects(status)
    html.add("<p>Session \(status.history.sessions) kept the results of ")
    html.add("\(CountText.tasks(resume.reused)): their definitions and dependencies did not ")
    html.add("change.</p>\n")
    if !resume.again.isEmpty {
      beginTable(
        "<th>reason for the re-run</th><th class=\"n\">tasks</th><th>examples</th>")
      for group in resume.again.prefix(Self.mostRows) {
        html.add("<tr>")
        words(group.why)
        cell(CountText.grouped(group.tasks.count))
        html.add("<td>")
        names(group.tasks, most: 3)
        html.add("</td></tr>\n")
      }
      endTable(more: resume.again.count - Self.mostRows)
    }
    html.add("</section>\n")
  }

  /// Distinguishes shorter times than `DurationText`.
  static func time(_ microseconds: Int64) -> String {
    if microseconds >= 100_000 { return DurationText.text(microseconds: microseconds) }
    return microseconds < 1000 ? "<1ms" : "\(microseconds / 1000)ms"
  }

  // MARK: - Parts of tables

  mutating func begin(_ id: String, _ title: String) {
    html.add("<section id=\"\(id)\">\n<h2>\(title)</h2>\n")
  }

  mutating func beginTable(_ titles: Markup) {
    html.add("<div class=\"scroll\"><table class=\"brief\"><thead><tr>")
    html.add(titles)
    html.add("</tr></thead>\n<tbody>\n")
  }

  mutating func endTable(more: Int = 0) {
    html.add("</tbody></table></div>\n")
    if more > 0 { html.add("<p>… and \(CountText.grouped(more)) more</p>\n") }
  }

  mutating func row(of task: TaskID) {
    html.add("<tr><td><code>\(status.plan.nameString(task))</code></td>")
  }

  mutating func cell(_ number: String) { html.add("<td class=\"n\">\(number)</td>") }

  mutating func words(_ text: String) { html.add("<td>\(text)</td>") }

  mutating func names(_ tasks: [TaskID], most: Int) {
    for (place, task) in tasks.prefix(most).enumerated() {
      if place > 0 { html.add(", ") }
      html.add("<code>\(status.plan.nameString(task))</code>")
    }
    if tasks.count > most { html.add(", …") }
  }
}

extension PageReport {
  private static let mostNames = 20
  private static let mostChanges = 10

  mutating func writeComparison() {
    guard let before, let comparison else { return }
    begin("before-now", "Comparison with the previous run")
    let time = UTCText.text(milliseconds: before.openedMilliseconds)
    html.add("<p>Run <code>\(before.run)</code> of \(time) \(Self.sentence(before)).</p>\n")
    names("New failures", comparison.broken)
    names("Fixed", comparison.fixed)
    names("Failed in both runs", comparison.stillFailing)
    names("New in the manifest", comparison.new)
    if comparison.goneCount > 0 {
      let gone = CountText.tasks(comparison.goneCount)
      let isOne = comparison.goneCount == 1
      html.add("<p>\(gone) of that run \(isOne ? "is" : "are") no longer in the manifest.</p>\n")
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
      (run.counts.cancelled, "cancelled"), (run.counts.pending, "pending"),
    ].filter { $0.0 > 0 }.map { "\(CountText.grouped($0.0)) \($0.1)" }
    let result = run.state == .running ? "is live" : run.state.rawValue
    let words = counts.isEmpty ? "" : ": \(counts.joined(separator: ", "))"
    return "\(result) after \(wall)\(run.sessionWords)\(words)"
  }

  private mutating func names(_ title: String, _ tasks: [TaskID]) {
    if tasks.isEmpty { return }
    html.add("<p><b>\(title) (\(CountText.grouped(tasks.count)))</b> ")
    names(tasks, most: Self.mostNames)
    html.add("</p>\n")
  }

  private mutating func changes(_ changes: [RunComparison.Change]) {
    if changes.isEmpty { return }
    html.add("<h3>Largest changes of duration</h3>\n")
    beginTable(
      """
      <th>task</th><th class="n">before</th><th class="n">now</th><th class="n">change</th><th></th>
      """)
    for change in changes {
      row(of: change.task)
      cell(Self.time(change.before))
      cell(Self.time(change.now))
      cell("\(change.difference < 0 ? "−" : "+")\(Self.time(abs(change.difference)))")
      html.add("<td></td></tr>\n")
    }
    endTable()
  }
}

extension PageReport {
  private static let mostMachines = 100

  mutating func writeMachines() {
    let nodes = status.history.nodes.all
    if nodes.isEmpty { return }
    begin("machines", "Nodes")
    beginTable(
      """
      <th>node</th><th class="n">CPUs</th><th class="n">memory</th><th class="n">GPUs</th>\
      <th class="n">joined</th><th class="n">attempts</th><th>last change</th>
      """)
    var attempts: [String: Int] = [:]
    for attempt in status.history.attempts.all {
      attempts[status.history.attempts.host(of: attempt), default: 0] += 1
    }
    for node in nodes.prefix(Self.mostMachines) {
      html.add("<tr><td><code>\(MachineText.name(node.host))</code></td>")
      cell(node.offer.cores == 0 ? "" : "\(node.offer.cores)")
      cell(node.offer.memoryBytes == 0 ? "" : SizeText.text(bytes: node.offer.memoryBytes))
      cell(node.offer.gpus == 0 ? "" : "\(node.offer.gpus)")
      cell(since(node.joinedMilliseconds))
      cell(CountText.grouped(attempts[node.host] ?? 0))
      words(change(of: node))
      html.add("</tr>\n")
    }
    endTable(more: nodes.count - Self.mostMachines)
    html.add("</section>\n")
  }

  private func since(_ milliseconds: Int64) -> String {
    let passed = max(0, milliseconds.minus(status.openedMilliseconds))
    return "+\(DurationText.text(milliseconds: passed))"
  }

  /// `is lost, +12s: its stream ended`; empty if the node stayed.
  private func change(of node: NodeRecord) -> String {
    if node.state == .joined { return "" }
    let detail = CleanText.string(node.detail)
    return "\(StatusMachines.word(node.state)), \(since(node.stateMilliseconds))"
      + (detail.isEmpty ? "" : ": \(detail)")
  }
}

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
        if case .afterRerun = reason { "a dependency is re-run" } else {
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
