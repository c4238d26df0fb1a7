internal import OpflowCore

/// The part of `PlanView` that shows how long a run would take.
struct DurationView {
  let plan: Plan
  let forecast: PlanForecast
  let palette: Palette

  private static let maxNames = 20

  private var durations: TaskDurations { forecast.durations }
  private var path: CriticalPath { forecast.path }
  private var rows: [PlanForecast.Row] { forecast.rows }

  func write(into text: inout TextBuffer) {
    if let only = rows.first, rows.count == 1 { writeExpected(only, into: &text) }
    writePath(into: &text)
    if rows.count > 1 { writeTable(into: &text) }
    if let basis { text.add("\(basis)\n") }
  }

  private func writeExpected(_ row: PlanForecast.Row, into text: inout TextBuffer) {
    text.add("expected: \(amount(row.makespan)), at least \(amount(row.bound))\n")
  }

  private func writePath(into text: inout TextBuffer) {
    let shown = path.tasks.prefix(Self.maxNames).map { task in
      let name = CleanText.string(plan.nameString(task))
      return durations.areKnown ? "\(name) \(Self.cell(task, durations))" : name
    }.joined(separator: ", ")
    let more = path.tasks.count - Self.maxNames
    text.add("critical path, \(amount(path.length)): \(shown)")
    text.add(more > 0 ? " and \(more) more\n" : "\n")
  }

  private func writeTable(into text: inout TextBuffer) {
    var table = TextTable(["CPU", "EXPECTED", "AT LEAST"], rightAligned: [0, 1, 2])
    for row in rows {
      table.add(["\(row.maxParallel)", amount(row.makespan), amount(row.bound)])
    }
    table.write(into: &text, palette: palette)
  }

  private var basis: String? {
    guard durations.areKnown else { return "no earlier run timed these tasks: each counts as one" }
    let count = plan.taskCount - plan.gateCount
    if count == durations.knownCount { return nil }
    return "earlier runs timed \(durations.knownCount) of \(count) tasks; ~ is a guess"
  }

  private func amount(_ value: Int64) -> String {
    if durations.areKnown { return DurationText.text(microseconds: value) }
    return value == 1 ? "1 task" : "\(value) tasks"
  }

  /// Returns the expected duration of a task; empty if durations are unknown.
  static func cell(_ task: TaskID, _ durations: TaskDurations) -> String {
    guard durations.areKnown else { return "" }
    let text = DurationText.text(microseconds: durations[task])
    return durations.isGuess(task) ? "~\(text)" : text
  }
}
